// An answer from a place in a thread to where its run ends or waits for somebody.
import type { AnswerEvent } from "./answer-event.ts";
import type { From, Sent } from "./chat-desk.ts";
import { createAnswerReader } from "./read-answer.ts";
import type { StreamEvent } from "./stream-event.ts";

/** Asked about one event after another until it says true: the answer is what comes after that one. */
export type Place = (event: AnswerEvent) => boolean;

/** `run` is the run that gives the answer, and `seq` the number of the message that it has taken in last, if any. */
export type Begun = { readonly type: "begun"; readonly run: number; readonly seq: number | null };

/** After the message of a user with that id, or that number. */
export function afterMessage(which: string | number): Place {
  return (event) => event.type === "user" && (event.id === which || event.seq === which);
}

export function afterRunStart(run: number): Place {
  return (event) => event.type === "run" && event.run === run;
}

/** Where the answer that comes of a message is followed from: what was sent before may have been taken in long ago. */
export function fromSent({ run, position }: Sent): From {
  return run === null ? fromPosition(position) : { run };
}

/** From a place that a thread was at on: null is its beginning. */
export function fromPosition(position: string | null): From {
  return position === null ? {} : { after: position };
}

/** After the first message of a user that is taken in by this run, or by a later one. */
export function afterNextMessage(run: number): Place {
  let isRun = false;
  return (event) => {
    if (event.type === "run") isRun = event.run >= run;
    return isRun && event.type === "user";
  };
}

export function afterRequest(requestId: string): Place {
  return (event) => event.type === "asked" && event.asked.request_id === requestId;
}

/** Where the answer that begins at a place has asked for that call, the so many-th time: providers use ids again. */
export function afterAsked(begins: Place, callId: string, times: number): Place {
  let isInside = false;
  let left = times;
  return (event) => {
    if (!isInside) {
      isInside = begins(event);
      return false;
    }
    if (event.type === "call" && event.call.call_id === callId) left--;
    return left <= 0 && event.type === "asked" && event.asked.call_id === callId;
  };
}

/** Begins with `begun`, unless the thread comes to rest without having reached the place. */
export async function* followAnswer(
  events: AsyncIterable<StreamEvent>,
  isPlace: Place,
): AsyncGenerator<AnswerEvent | Begun> {
  const read = createAnswerReader();
  let run = 0;
  let seq: number | null = null;
  let isBegun = false;
  for await (const event of events) {
    if ("run" in event) run = event.run;
    for (const told of read(event)) {
      if (isBegun) yield told;
      if (isBegun && told.type === "ended") return;
      if (told.type === "user") seq = told.seq;
      // What was said before a run is known to whoever reads the run alone by nothing but its being before.
      if (told.type === "run") seq = null;
      if (isBegun || !isPlace(told)) continue;
      isBegun = true;
      yield { type: "begun", run, seq };
    }
  }
}
