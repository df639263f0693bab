// Refuses work for a thread that takes none: one that is gone or was terminated, however long ago its state was made.
import type { NewThread } from "../../backend/thread-store.ts";
import type { Write } from "../../backend/write.ts";
import type { Host } from "../host.ts";
import { threadNotFound, threadTerminated } from "../thread-errors.ts";
import type { StateScope } from "./state-scope.ts";

/** Throws `thread_terminated` or `thread_not_found`. */
export async function requireLive({ stores }: Host, { thread: { id }, buffer }: StateScope): Promise<void> {
  if (endsIn(buffer.writes, id)) throw threadTerminated(id, "and takes no more work");
  if (createdIn(buffer.writes, id)) return;
  const stored = await stores.threads.get(id);
  if (!stored) throw threadNotFound(id);
  if (stored.terminated_at !== null) throw threadTerminated(id, "and takes no more work");
}

/** True when the thread is to be terminated with what is not stored yet. */
export function endsIn(writes: readonly Write[], threadId: string): boolean {
  return writes.some((write) => write.write === "terminate" && write.thread_id === threadId);
}

/** The thread, when it is to be created with what is not stored yet. */
export function createdIn(writes: readonly Write[], threadId: string): NewThread | undefined {
  return newThreadsIn(writes).find(({ id }) => id === threadId);
}

export function newThreadsIn(writes: readonly Write[]): readonly NewThread[] {
  return writes.flatMap((write) => (write.write === "thread" ? [write.thread] : []));
}
