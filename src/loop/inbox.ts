// What waits for a run when a turn begins: messages join the transcript, and queued calls are made before the model is
// asked again.
import * as message from "../contracts/conversation/message.ts";
import { isMap, type JsonMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { Side } from "../contracts/standard/side.ts";
import { acceptQueue } from "./accept-queue.ts";
import { announceTurn } from "./announce.ts";
import type { Next } from "./next.ts";
import { added, type Step } from "./step.ts";
import { beginTurn } from "./turn.ts";
import type { Body } from "./working.ts";

type Drained = {
  readonly messages: readonly message.Message[];
  readonly calls: readonly JsonMap[];
  readonly side?: Side;
};

/** Asks for what waits and takes it in. The record says how much that was; of nothing there is none. */
export function drainInbox(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "inbox" } };
  const { messages, calls, side } = readInbox(arrived);
  // Who is spoken to is no model: the messages are taken in, and there is nothing to do.
  const isForOthers = side !== undefined && step.config.sides?.otherSides.includes(side) === true;
  if (messages.length + calls.length === 0) return beginTurn(step, side);
  const bodies: Body[] = messages.map(added);
  if (calls.length > 0) bodies.push({ to: "queued", calls });
  const to = isForOthers ? "flow.end" : "turn.begin";
  step.record({ type: "inbox.drained", messages: messages.length, calls: calls.length }, to, bodies);
  return isForOthers ? undefined : beginTurn(step, side);
}

const nothing: Drained = { messages: [], calls: [] };

/** All of it or nothing: half an inbox would leave its owner in doubt about the other half. */
function readInbox(arrived: Outcome): Drained {
  if ("threw" in arrived || !isMap(arrived.returned)) return nothing;
  const { messages = [], calls = [], side } = arrived.returned;
  try {
    return {
      messages: message.normalizeMany(messages),
      calls: Array.isArray(calls) ? calls : [],
      ...((side === "a" || side === "b") && { side }),
    };
  } catch {
    return nothing;
  }
}

/** The queued calls are what this turn does; what came of them the model sees in the next. */
export function takeQueued(step: Step): undefined {
  announceTurn(step);
  acceptQueue(step);
}
