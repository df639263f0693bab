// The operations on the runs of chats: see how far one is, ask it to stop, leave a message behind it.
import { z } from "zod";
import * as chatRuns from "../contracts/chat/chat-runs.ts";
import { identifier } from "../contracts/coerce.ts";
import type { UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError } from "../contracts/operation-error.ts";
import { attachmentRefusal } from "./attachments.ts";
import { entryKey } from "./caller-identity.ts";
import type { ChatExtensions } from "./chat-host.ts";
import { chatInput, runInput, runShape } from "./chat-shapes.ts";
import { threadRuns } from "./chat-thread-runs.ts";
import { claimRefusal } from "./claim-refusal.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Caller, Door, Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Need, Workbench } from "./reach.ts";
import { anyId, jsonMap } from "./shapes.ts";

const readingDoors: readonly Door[] = ["http", "cli", "mcp"];

const page = { cursor: anyId.optional(), limit: z.coerce.number().int().min(1).max(500).optional() };
const eventShape = z.object({ id: z.string(), type: z.string(), created_at: z.string(), metadata: jsonMap });

const eventsShape = runShape.extend({ events: z.array(eventShape), cursor: z.string(), has_more: z.boolean() });
const cancelledShape = runShape.extend({ cancelled: z.boolean() });
const queuedShape = runShape.extend({ queued_message_id: z.string(), position: z.int() });

type Operate = (input: unknown, host: chatRuns.ChatRunsHost) => Promise<unknown>;

export function chatRunOperations(workbench: Workbench, { hooks }: ChatExtensions = {}): readonly Operation[] {
  const { define, reach } = workbench;

  /** The chat that is named, for whom it is there. */
  async function chatOf({ session_id }: UnknownMap, need: Need, { principal }: Caller) {
    const id = identifier(session_id) ?? "";
    return (await reach.has(id, principal, "read")) ? await reach.thread(id, principal, need) : undefined;
  }

  /** Does it with the runs of the chat that is named. */
  function withRuns<Answer>(operate: Operate, need: Need = "read") {
    return async (input: UnknownMap, caller: Caller): Promise<Answer | OperationError> => {
      const { principal, key } = caller;
      const refusal =
        claimRefusal(input, principal) ?? (await attachmentRefusal(workbench, input.attachments, principal));
      if (refusal) return refusal;
      const thread = await chatOf(input, need, caller);
      const answer = await operate(input, {
        runs: threadRuns(thread, { key: entryKey(principal, key) }),
        hooks,
        resolvePrincipal: () => principal,
        // Who may only look on is shown less than who may talk with the agent.
        mayReadUnredacted: async () =>
          thread !== undefined && (await reach.agent((await thread.status()).agent, principal)),
      });
      return isOperationError(answer) ? answer : plain<Answer>(answer);
    };
  }

  return [
    define({
      name: "agents/get-chat-run",
      title: "Look at a run of a chat",
      description: "Tells how far a turn of a chat is.",
      input: lenientInput(runInput),
      output: runShape,
      effect: "read",
      capability: "chat",
      doors: readingDoors,
      route: { method: "get", path: "/chats/{session_id}/runs/{run_id}" },
      execute: withRuns<z.input<typeof runShape>>(chatRuns.getRun),
    }),

    define({
      name: "agents/list-chat-run-events",
      title: "List what happened in a run of a chat",
      description: "The events of a run, oldest first, and how far it is.",
      input: lenientInput(runInput.extend(page)),
      output: eventsShape,
      effect: "read",
      capability: "chat",
      doors: readingDoors,
      route: { method: "get", path: "/chats/{session_id}/runs/{run_id}/events" },
      execute: withRuns<z.input<typeof eventsShape>>(chatRuns.listRunEvents),
    }),

    define({
      name: "agents/cancel-chat-run",
      title: "Stop a run of a chat",
      description: "Asks a run to stop and says whether it still could.",
      input: lenientInput(runInput),
      output: cancelledShape,
      effect: "destroy",
      idempotent: true,
      capability: "chat",
      route: { method: "post", path: "/chats/{session_id}/runs/{run_id}/cancel" },
      execute: withRuns<z.input<typeof cancelledShape>>(chatRuns.cancelRun),
    }),

    define({
      name: "agents/queue-chat-message",
      title: "Leave a message behind a run of a chat",
      description: "Leaves a message for a chat that is at work: it is taken in when its turn comes.",
      input: lenientInput(chatInput.extend({ session_id: anyId })),
      output: queuedShape,
      effect: "write",
      capability: "chat",
      route: { method: "post", path: "/chats/{session_id}/messages", status: 202 },
      execute: withRuns<z.input<typeof queuedShape>>(chatRuns.queueMessage, "act"),
    }),
  ];
}
