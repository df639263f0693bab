// What the parent of a thread waits on: kept from the moment that the message which carries it is taken in until the run that
// took it in has ended. A run that is about something else answers nothing.
import type { Write } from "../../backend/write.ts";
import type { Host } from "../host.ts";

const AWAITED = "holdfast:awaited_request";

export function keptRequest(threadId: string, requestId: string | null): Write {
  const value = requestId === null ? null : JSON.stringify(requestId);
  return { write: "value", thread_id: threadId, key: AWAITED, value };
}

/** `writes`: what is about to be stored. */
export async function awaitedRequest(
  { stores }: Host,
  threadId: string,
  writes: readonly Write[],
): Promise<string | undefined> {
  const isOwn = (write: Write) => write.write === "value" && write.thread_id === threadId && write.key === AWAITED;
  const unstored = writes.findLast(isOwn);
  const text = unstored?.write === "value" ? unstored.value : await stores.state.value(threadId, AWAITED);
  return text == null ? undefined : (JSON.parse(text) as string);
}
