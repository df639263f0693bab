// What a request goes on to send although it is answered already.
import type { IncomingMessage } from "node:http";

/** A request that sends more than this is cut off, and its sender may not see the answer. */
export const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Reads the rest of a request that was answered, and drops it, so that its sender gets to read the answer: a connection that is
 * closed while data is unread is reset, and what was written to it is lost. The server's time limit for requests holds for it too.
 */
export function discardUnread(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return;
  let left = MOST_BYTES;
  incoming.on("data", (piece: Uint8Array) => {
    left -= piece.byteLength;
    if (left < 0) incoming.destroy();
  });
  incoming.on("error", () => {}); // it was cut off
  incoming.resume();
}
