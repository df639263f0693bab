// The runtime in this very process, for when no server runs: the same abilities, called as the owner of the machine.

import type { Desk } from "../abilities/desk.ts";
import { FOLLOW_THREAD, type StreamEvent } from "../abilities/follow.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import * as principals from "../contracts/trust/principal.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../holdfast.ts";
import type { GatewaySetup } from "../index.ts";
import { FOLLOW_WORKFLOW_RUN, type ShownRunEvent } from "../workflows/operations/events.ts";
import type { Client } from "./client.ts";
import { setupOf } from "./gateway/gateway-setup.ts";
import { type OpenedProject, OWNER } from "./project.ts";
import { Refusal } from "./refusal.ts";

export const ownerPrincipal = principals.userSession(OWNER, "holdfast", { request_context: "cli" });

export type LocalOptions = {
  /** Whether threads and jobs are run here too, and not only looked at and written to. */
  readonly runs: boolean;
  /** In the place of the project's. */
  readonly gateway?: GatewaySetup;
};

export async function openLocalClient(project: OpenedProject, { runs, gateway }: LocalOptions): Promise<Client> {
  const options = { ...project.options(), ...(gateway && { gateway }) };
  const holdfast = await createHoldfast({
    ...(runs ? options : withoutPrinting(options)),
    runs,
    drainsOnSignal: false,
  });
  return localClient(holdfast, project.data.path);
}

/** What a gateway warns of while it runs nothing is not about the command; what it refuses is printed as a refusal. */
function withoutPrinting({ gateway, ...options }: HoldfastOptions): HoldfastOptions {
  if (gateway === undefined) return options;
  return { ...options, gateway: { onLog: () => undefined, ...setupOf(gateway) } };
}

function localClient(holdfast: Pick<Holdfast, "abilities" | "close">, place: string): Client {
  const caller = { principal: ownerPrincipal, door: "cli" } as const;
  const { abilities } = holdfast;
  return {
    place,
    call: (ability, input = {}, options = {}) => answered(abilities, ability, input, { ...caller, ...options }),
    async abilities() {
      return abilities.list("cli").map(({ name, title, effect, capability }) => ({ name, title, effect, capability }));
    },
    async *follow(threadId, { after, untilRest = false, signal }) {
      const input = { thread_id: threadId, until_rest: untilRest, ...(after !== undefined && { after }) };
      yield* await answered<AsyncIterable<StreamEvent>>(abilities, FOLLOW_THREAD, input, {
        ...caller,
        ...(signal && { signal }),
      });
    },
    async *followRun(run_id, { after, signal }) {
      const input = { run_id, ...(after !== undefined && { after }) };
      yield* await answered<AsyncIterable<ShownRunEvent>>(abilities, FOLLOW_WORKFLOW_RUN, input, {
        ...caller,
        ...(signal && { signal }),
      });
    },
    close: () => holdfast.close(),
  };
}

async function answered<Answer>(
  abilities: Desk,
  ability: string,
  input: object,
  caller: Parameters<Desk["call"]>[2],
): Promise<Answer> {
  const answer = await abilities.call(ability, input, caller);
  if (isOperationError(answer)) throw new Refusal(answer);
  return answer as Answer;
}
