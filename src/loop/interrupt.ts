// Somebody wants to say something to a running conversation, or to stop it.
import { trim } from "../contracts/coerce.ts";
import type * as message from "../contracts/conversation/message.ts";
import { type JsonMap, seal } from "../contracts/json.ts";
import { added, type Step } from "./step.ts";
import type { Body } from "./working.ts";

const actions = ["cancel", "redirect", "message"] as const;
type Action = (typeof actions)[number];

export type Interrupt = { readonly action: Action; readonly metadata: JsonMap; readonly bodies: Body[] };

/** Takes an interrupt message into the transcript and tells observers. Only `cancel` stops the run. */
export function interrupt(step: Step, received: message.Message): Interrupt {
  const { action: named, interrupt_action, ...own } = received.metadata;
  const action = actionOf(interrupt_action ?? named);
  const metadata = seal({ ...own, turn: step.state.turn, action, message: received });
  return { action, metadata, bodies: [added(received), step.notifyAndKeep("interrupt_received", metadata)] };
}

/** Stops the run as interrupted. */
export function stopInterrupted(step: Step, received: message.Message): undefined {
  const { bodies, metadata } = interrupt(step, received);
  step.record({ type: "interrupted" }, "flow.end", [...bodies, { to: "stop", value: { interrupted: metadata } }]);
}

function actionOf(value: unknown): Action {
  const named = typeof value === "string" ? trim(value).toLowerCase() : "";
  return actions.find((action) => action === named) ?? "message";
}
