// When a thread rests: what its readers follow it to.
import type { Host } from "../host.ts";
import { threadStuck } from "../thread-errors.ts";
import type { StreamEvent } from "./stream.ts";

/** Whether the thread rests after an event; what is only told about it changes nothing. */
export function restAfter(event: StreamEvent, isAtRest: boolean): boolean {
  const { type } = event;
  if (type === "run.ended") return true;
  // A thread that waits for its own child is at work.
  if (event.type === "request.created") return event.kind !== "child";
  return isAtRest && (type === "note" || type === "message.superseded");
}

/**
 * True when the thread goes on by itself, because it runs or because something waits that it will run for. Throws
 * `thread_stuck` for one that will not.
 */
export async function isBusy(host: Host, threadId: string): Promise<boolean> {
  const { threads, inbox } = host.stores;
  const waiting = await inbox.waiting(threadId);
  // Read after the inbox: what was taken in between shows in the status.
  const status = (await threads.get(threadId))?.status;
  if (status === "stuck") throw threadStuck(threadId);
  const isAnswered = waiting.some(({ kind }) => kind === "answer" || kind === "stop");
  return status === "running" || isAnswered || (status === "idle" && waiting.length > 0);
}
