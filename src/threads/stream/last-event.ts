// When a thread is over for good: terminated, and everything that came of that committed, or deleted.
import type { Thread } from "../../backend/thread-rows.ts";
import type { Host } from "../host.ts";
import type { LastEvent } from "./stream.ts";

/** False for a thread that goes on for all that is known: it costs one look. */
export async function mayBeOver({ stores: { threads } }: Host, threadId: string): Promise<boolean> {
  return (await threads.get(threadId))?.terminated_at !== null;
}

/**
 * What the readers of a thread are told last; undefined while more may come. `thread`: as it is now that nothing waits for it
 * any more; undefined when it is gone.
 */
export async function lastEventOf(
  { stores: { threads } }: Host,
  thread: Thread | undefined,
): Promise<LastEvent | undefined> {
  if (!thread) return { type: "thread.deleted" };
  const { id, run, terminated_at } = thread;
  if (terminated_at === null) return undefined;
  // The wish to stop may be taken in before what it ends has come to its end.
  const isAtWork = run > 0 && (await threads.run(id, run))?.ended_at === null;
  return isAtWork ? undefined : { type: "thread.terminated", at: terminated_at };
}
