// The operations on what the person behind a thread has agreed to. Only they can agree; whoever manages threads may take it
// back.
import { z } from "zod";
import { holdfastError } from "../contracts/error.ts";
import { operations } from "../contracts/trust/consent.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { threadId } from "./shapes.ts";

const consentShape = z.partialRecord(z.enum(operations), z.boolean());

export function threadConsentOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  /** True for whose thread it is, and for whoever manages threads, of those that are nobody's or that his token opened. */
  async function speaksForThem(id: string, principal: Principal): Promise<boolean> {
    if (await reach.owns(id, principal)) return true;
    const { owner, principal: acting } = await runtime.threads.subject(id);
    const isTheirs = owner === null || (owner.type === "user" && acting.acting_user_id === principal.acting_user_id);
    return isTheirs && (await reach.managesThreads(principal));
  }

  return [
    define({
      name: "holdfast/get-consent",
      title: "Tell what was agreed to",
      description: "What the person behind a thread has agreed to, operation by operation; what is not there is a no.",
      input: z.object({ thread_id: threadId }),
      output: z.object({ consent: consentShape }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/threads/{thread_id}/consent" },
      async execute({ thread_id }, { principal }) {
        return { consent: { ...(await (await reach.thread(thread_id, principal, "read")).consent()) } };
      },
    }),

    define({
      name: "holdfast/change-consent",
      title: "Agree, or take it back",
      description:
        "Changes the operations that are given. To agree is for whose thread it is; whoever manages threads may take it back.",
      input: z.object({ thread_id: threadId, consent: consentShape }),
      output: z.object({ consent: consentShape }),
      effect: "write",
      idempotent: true,
      capability: "threads.write",
      route: { method: "patch", path: "/threads/{thread_id}/consent" },
      async execute({ thread_id, consent: changes }, { principal }) {
        const agrees = Object.values(changes).includes(true);
        // To take it back takes no leave to use the agent still.
        const thread = await reach.thread(thread_id, principal, agrees ? "act" : "talk");
        if (agrees && !(await speaksForThem(thread_id, principal))) {
          throw holdfastError("ability_forbidden", "Nobody agrees for somebody else; it can only be taken back.");
        }
        return { consent: { ...(await thread.consent(defined(changes))) } };
      },
    }),
  ];
}
