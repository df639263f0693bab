// When a thread is over for good: terminated, and everything that came of that committed, or deleted.
import type { Thread } from "../../backend/thread-rows.ts";
import type { Host } from "../host.ts";
import type { LastEvent } from "./stream.ts";

/** False for a thread that goes on for all that is known: it costs one look. */
export async function mayBeOver({ stores: { threads } }: Host, threadId: string): Promise<boolean> {
  return (await threads.get(threadId))?.terminated_at !== null;
}

/**
 * The last event of a thread's stream; undefined while more may come. `thread`: the row, read when its inbox was empty;
 * undefined when it is deleted. `read`: the last commit that the reader has seen.
 */
export async function lastEventOf(
  { stores: { threads } }: Host,
  thread: Thread | undefined,
  read: number,
): Promise<LastEvent | undefined> {
  if (!thread) return { type: "thread.deleted" };
  const { id, run, terminated_at } = thread;
  if (terminated_at === null) return undefined;
  // The stop may leave the inbox before the run that it ends has ended.
  if (run > 0 && (await threads.run(id, run))?.ended_at === null) return undefined;
  // The run may have ended after `thread` was read: the reader has to see that commit first.
  const { next_seq = 0 } = (await threads.get(id)) ?? {};
  return next_seq > read + 1 ? undefined : { type: "thread.terminated", at: terminated_at };
}
