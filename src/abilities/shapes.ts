// The shapes that several operations take or answer with.
import { z } from "zod";
import type { StoredCall, Thread } from "../backend/thread-rows.ts";
import { PLACE_LENGTH } from "../contracts/list-place.ts";
import type { Standing } from "../threads/stream/rest.ts";

/** No id, slug or name that is given is longer: what is, is none. */
export const LONGEST_ID = 256;

/** Of whatever has one: an id, or a slug. */
export const id = z.string().min(1).max(LONGEST_ID);

/** The same where none at all is said with an empty text. */
export const anyId = z.string().max(LONGEST_ID);

/** Where a list goes on: what the page before told of as next, or the id of the last one that was seen. */
export const listPlace = z.string().max(LONGEST_ID + PLACE_LENGTH);

/** A key that somebody made up. */
export const ownKey = z.string().min(1).max(1_024);

/** Words of somebody about what he does. */
export const note = z.string().max(4_000);

/** The id of a thread. */
export const threadId = id.meta({ description: "The id of the thread." });

/** The number of a run: as much as the column holds. */
export const runNumber = z.coerce.number().int().min(1).max(2_147_483_647);

/** A map of plain JSON. */
export const jsonMap = z.record(z.string(), z.json());

export const threadShape = z.object({
  id: z.string(),
  key: z.string(),
  agent: z.string(),
  status: z.enum(["idle", "running", "waiting", "stopped", "terminated", "stuck"]),
  parent_id: z.string().nullable(),
  user_id: z.string().nullable(),
  tags: z.array(z.string()),
  budget: z.string().nullable(),
  run: z.int(),
  steps: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  terminated_at: z.iso.datetime().nullable(),
  position: z
    .string()
    .nullable()
    .meta({ description: "Where it is: followed after this it tells only what is yet to come." }),
});

/** How a thread stands, and whether it rests there. */
export const standingShape = threadShape.extend({
  at_rest: z.boolean().meta({ description: "Nothing happens before somebody says, answers or changes something." }),
});

/** What was left for a thread, and not waited for. */
export const queuedShape = z.object({
  status: z.literal("queued"),
  id: z.string(),
  thread_id: z.string(),
  position: z
    .string()
    .nullable()
    .meta({ description: "Where the thread was before: followed after this it tells what comes of it." }),
});

/** Behind everything that a commit tells. */
const LAST_PLACE = 999_999_999;

/** A thread as doors show it: times as people write them. */
export function shownThread(thread: Thread): z.input<typeof threadShape> {
  const { id, key, agent, status, parent_id, user_id, tags, budget, run, steps } = thread;
  return {
    ...{ id, key, agent, status, parent_id, user_id, tags: [...tags], budget, run, steps },
    created_at: timeOf(thread.created_at),
    updated_at: timeOf(thread.updated_at),
    terminated_at: thread.terminated_at === null ? null : timeOf(thread.terminated_at),
    position: positionOf(thread),
  };
}

export function shownStanding({ thread, isAtRest }: Standing): z.input<typeof standingShape> {
  return { ...shownThread(thread), at_rest: isAtRest };
}

/** Where a thread is: whoever follows it after this sees only what is yet to come. Null before anything was. */
export function positionOf({ next_seq }: Pick<Thread, "next_seq">): string | null {
  return next_seq === 0 ? null : `${next_seq - 1}.${LAST_PLACE}`;
}

/** From microseconds since 1970. */
export function timeOf(microseconds: number): string {
  return new Date(microseconds / 1_000).toISOString();
}

/** What a run came to, or waits for. Its fields are those of the conversation result, and more may come. */
export const outcomeShape = z.looseObject({
  thread_id: z.string(),
  run: z.int(),
  status: z.string(),
});

/** A call of a tool as doors show it. */
export const callShape = z.object({
  run: z.int(),
  number: z.int(),
  tool_call_id: z.string(),
  tool_name: z.string(),
  phase: z.enum(["begun", "waiting", "settled", "unknown"]),
  outcome: z.string().nullable().meta({ description: "success, or the kind of the error." }),
  idempotency_key: z.string().meta({ description: "What the tool has told others to know the call by." }),
  message_seq: z.int().nullable().meta({ description: "The number of the message with its result." }),
  begun_at: z.iso.datetime(),
  settled_at: z.iso.datetime().nullable(),
});

export function shownCall(call: StoredCall): z.input<typeof callShape> {
  const { run, number, tool_call_id, tool_name, phase, outcome, idempotency_key, message_seq, settled_at } = call;
  return {
    ...{ run, number, tool_call_id, tool_name, phase, outcome, idempotency_key, message_seq },
    begun_at: timeOf(call.begun_at),
    settled_at: settled_at === null ? null : timeOf(settled_at),
  };
}
