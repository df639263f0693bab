// The operations that have a tool run on a thread. There is no way to a tool past a thread: the call passes the same gate as
// one of the model, and call and result are part of the thread.
import { z } from "zod";
import { queuedCallId } from "../threads/new-entry.ts";
import type { ThreadHandle, ThreadMessage } from "../threads/thread.ts";
import { entryKey } from "./caller-identity.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { callShape, id, jsonMap, outcomeShape, shownCall, threadId } from "./shapes.ts";

const called = {
  thread_id: threadId,
  name: id.meta({ description: "The name of a tool of the thread's agent." }),
  // Which of them are secret only the tool knows.
  parameters: jsonMap.default({}).meta({ writeOnly: true }),
};

const queuedShape = z.object({ status: z.literal("queued"), id: z.string(), thread_id: z.string() });

export function queuedToolOperations({ define, reach }: Workbench): readonly Operation[] {
  return [
    define({
      name: "holdfast/queue-tool",
      title: "Queue a tool",
      description: "Has a tool run before the model is asked again. Answers as soon as that is stored.",
      input: z.object(called),
      output: queuedShape,
      effect: "write",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/tools", status: 202 },
      async execute({ thread_id, name, parameters }, { principal, key }) {
        const thread = await reach.thread(thread_id, principal);
        const { id } = await thread.queueTool(name, parameters, defined({ key: entryKey(principal, key) }));
        return { status: "queued" as const, id, thread_id };
      },
    }),

    define({
      name: "holdfast/call-tool",
      title: "Call a tool on a thread",
      description:
        "Queues a tool and answers once the run that takes it in has ended or waits for somebody, such as an approval: " +
        "how the call stands and its result, if there is one by then. A stopped thread keeps it queued.",
      input: z.object(called),
      output: z.union([
        queuedShape,
        outcomeShape.extend({
          call: callShape.nullable().meta({ description: "Null for one that was not let to begin." }),
          result: jsonMap.nullable(),
        }),
      ]),
      effect: "write",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/tools/call" },
      async execute({ thread_id, name, parameters }, { principal, key, signal }) {
        const thread = await reach.thread(thread_id, principal);
        const { id } = await thread.queueTool(name, parameters, defined({ key: entryKey(principal, key) }));
        await thread.wait(defined({ signal }));
        // Of the run that took it in: there may have been another one since.
        const taken = await thread.left.takenIn(id);
        const { run, outcome } = (taken !== null && (await thread.run(taken))) || {};
        if (run === undefined || !outcome) return { status: "queued" as const, id, thread_id };
        const result = await resultOf(thread, run, queuedCallId(id));
        const call = (await thread.calls({ run })).find(({ tool_call_id }) => tool_call_id === queuedCallId(id));
        return {
          ...{ thread_id, run, ...outcome },
          call: call ? shownCall(call) : null,
          result: result ? plain<z.input<typeof jsonMap>>(result.message.payload) : null,
        };
      },
    }),

    define({
      name: "holdfast/cancel-queued",
      title: "Take back what is queued",
      description: "Takes back a message or tool that is still queued; false when a run has taken it in already.",
      input: z.object({
        thread_id: threadId,
        entry_id: id.meta({ description: "What queueing told." }),
      }),
      output: z.object({ cancelled: z.boolean() }),
      effect: "destroy",
      idempotent: true,
      capability: "threads.write",
      route: { method: "delete", path: "/threads/{thread_id}/queue/{entry_id}" },
      async execute({ thread_id, entry_id }, { principal }) {
        const thread = await reach.thread(thread_id, principal);
        return { cancelled: await thread.cancelQueued(entry_id) };
      },
    }),
  ];
}

/** How many messages are looked through at once. */
const PAGE = 100;

/** The message with the result of a call, if there is one: from the newest on, since it is mostly among those. */
async function resultOf(thread: ThreadHandle, run: number, callId: string): Promise<ThreadMessage | undefined> {
  for (let last: number | undefined; ; ) {
    const page = await thread.messages({ order: "desc", limit: PAGE, ...defined({ after: last }) });
    const said = page.filter(({ message }) => message.metadata.tool_call_id === callId);
    const result = said.find(({ message: { type } }) => type === "tool_result");
    // Before its call, or its run, there is none.
    if (said.length > 0 || page.length < PAGE || (page.at(-1)?.run ?? 0) < run) return result;
    last = page.at(-1)?.seq;
  }
}
