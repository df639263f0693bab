// Following a thread: what happened after a place, and what happens. Reading it starts nothing, and leaving stops nothing.
import { z } from "zod";
import { operationError } from "../contracts/operation-error.ts";
import type { StreamEvent } from "../threads/stream/stream.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { anyId, runNumber, threadId } from "./shapes.ts";
import { whileReached } from "./while-reached.ts";

export type { StreamEvent };

/** The name under which doors call it; its answer is an `AsyncIterable<StreamEvent>`. */
export const FOLLOW_THREAD = "holdfast/follow-thread";

export function followOperations(
  { define, reach }: Workbench,
  { lookMs }: { readonly lookMs?: number } = {},
): readonly Operation[] {
  return [
    define({
      name: FOLLOW_THREAD,
      title: "Follow a thread",
      description:
        "The events of a thread from the beginning, from that of a run or after one, as they are committed, and words as they are said.",
      input: z.object({
        thread_id: threadId,
        after: anyId.optional().meta({ description: "The id of the last event that was seen, or now." }),
        run: runNumber.optional().meta({ description: "In its place: the run to begin with." }),
        live: z
          .object({ step: z.int().min(0), attempt: z.int().min(0), offset: z.int().min(0) })
          .optional()
          .meta({ description: "Where the reader was in what the model is saying." }),
        until_rest: z.boolean().default(false).meta({
          description: "Ends where a run ends or waits for somebody, and at once for whoever has seen that already.",
        }),
      }),
      output: z.custom<AsyncIterable<StreamEvent>>(),
      effect: "read",
      capability: "threads.read",
      doors: ["http", "cli"],
      async execute({ thread_id, after, run, live, until_rest }, { principal, signal }) {
        if (after !== undefined && run !== undefined) {
          return operationError("invalid_input", "A thread is followed after an event or from a run, not both.");
        }
        const thread = await reach.thread(thread_id, principal, "read");
        const place = { untilRest: until_rest && ("at-once" as const), ...defined({ after, run, live }) };
        // Nobody takes a thread away from whose it is.
        if (await reach.owns(thread_id, principal)) return thread.stream({ ...place, ...defined({ signal }) });
        const isReached = () => reach.has(thread_id, principal, "read");
        return whileReached((leaving) => thread.stream({ ...place, signal: leaving }), { isReached, signal, lookMs });
      },
    }),
  ];
}
