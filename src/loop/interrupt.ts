// Somebody wants to say something to a running conversation, or to stop it.
import { trim } from "../contracts/coerce.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { seal } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { closeFrames } from "./frame.ts";
import { spentInVain } from "./funds.ts";
import type { Next } from "./next.ts";
import { settleRest } from "./settle-rest.ts";
import { speakerOf } from "./speaker.ts";
import { added, type Step } from "./step.ts";

const actions = ["cancel", "redirect", "message"] as const;
type Action = (typeof actions)[number];

/** Takes an interrupt into the transcript and tells observers. Only `cancel` stops the run. */
export function receiveInterrupt(step: Step, received: Message): undefined {
  const { action: named, interrupt_action } = received.metadata;
  const action = actionOf(interrupt_action ?? named);
  if (action === "cancel") return stopRun(step, received);
  // Somebody has just spoken for the run to go on: whether it was cancelled is asked when there was nothing to say.
  step.record({ type: "consulted", hook: "interrupt" }, "turn.budget", take(step, received, action).bodies);
}

/** Stops the run with the message that asked for it, which comes after everything that was said and done before. */
export function stopRun(
  step: Step,
  received: Message,
  { said, performed = false }: { said?: Message | undefined; performed?: boolean } = {},
): undefined {
  const spent = spentInVain(step.state, performed);
  settleRest(step);
  const isWithin = step.state.frames.length > 0;
  const words = said && [added(asSaid(step, said))];
  // What a prompt says that speaks for a call stays with the call.
  if (words && isWithin) step.record({ type: "consulted", hook: "interrupt" }, step.state.position, words);
  closeFrames(step);
  const { bodies, metadata } = take(step, received, "cancel");
  if (words && !isWithin) bodies.unshift(...words);
  step.record({ type: "interrupted", ...(spent && { spent }) }, "flow.end", [
    ...bodies,
    { to: "stop", value: { interrupted: metadata } },
  ]);
}

function asSaid(step: Step, said: Message): Message {
  const { role, metadata } = speakerOf(step);
  return message.normalize({ ...said, role, metadata: { ...said.metadata, ...metadata } });
}

function take(step: Step, received: Message, action: Action) {
  const { action: _named, interrupt_action: _asked, ...own } = received.metadata;
  const metadata = seal({ ...own, turn: step.state.turn, action, message: received });
  return { metadata, bodies: [added(received), step.notifyAndKeep("interrupt_received", metadata)] };
}

function actionOf(value: unknown): Action {
  const named = typeof value === "string" ? trim(value).toLowerCase() : "";
  return actions.find((action) => action === named) ?? "message";
}

/** Asks whether the run was cancelled, then goes where it was going. */
export function checkCancellation(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "cancellation" } };
  const cancelled = "returned" in arrived ? arrived.returned : undefined;
  if (cancelled) return stopRun(step, message.normalize(cancelled));
  const { position } = step.state;
  step.record({ type: "consulted", hook: "cancellation" }, position.slice("check ".length) as typeof position);
}
