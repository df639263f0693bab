// Server-sent events: how a payload travels down an open response, and what the response says about itself.
import * as canonicalJson from "./canonical-json.ts";
import { snapshot } from "./json.ts";

/** The headers of a stream of events: nothing on the way may keep, change or hold back what is sent. */
export const headers = Object.freeze({
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-store, must-revalidate",
  Connection: "keep-alive",
  "X-Accel-Buffering": "no",
});

/** One event. Its JSON is a single line, so no payload can end the event early or begin another. */
export function frame(payload: unknown): string {
  return `data: ${canonicalJson.text(snapshot(payload))}\n\n`;
}
