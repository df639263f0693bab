// Steps the machine to its end in memory, doing between the steps what it asks for. No record log is kept.
import * as message from "../contracts/conversation/message.ts";
import type { HoldfastError } from "../contracts/error.ts";
import { advance } from "./advance.ts";
import { attempt } from "./attempt.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Arrived } from "./next.ts";
import type { Tell } from "./observe.ts";
import { initialState, type State } from "./state.ts";
import type { Working } from "./working.ts";

/** Where a run ended, or the answer that broke the contract; `failed` says whether that counts as a failed run. */
export type Driven = {
  readonly state: State;
  readonly refused?: { readonly error: HoldfastError; readonly failed: boolean };
};

export async function drive(
  working: Working,
  { perform, answer }: Callbacks,
  tell: Tell,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal | undefined },
): Promise<Driven> {
  let state: State = initialState;
  let arrived: Arrived | undefined;
  for (;;) {
    const step = advance(state, working, now(), arrived);
    state = step.state;
    for (const { event, payload } of step.notices) tell(event, payload);
    const { next } = step;
    switch (next.kind) {
      case "end":
        return { state };
      case "refuse":
        return { state, refused: next };
      case "effect":
        arrived = stopOf(signal, false) ?? (await attempt(() => perform(next.order), signal)) ?? stopOf(signal, true);
        break;
      case "consult":
        arrived =
          stopOf(signal, false) ?? (await attempt(() => answer(next.question), signal)) ?? stopOf(signal, false);
        break;
      case "park":
        throw new Error("A conversation in memory ends where it would wait.");
      default:
        next satisfies never;
    }
  }
}

function stopOf(signal: AbortSignal | undefined, performed: boolean): Arrived | undefined {
  if (!signal?.aborted) return undefined;
  const metadata = { type: "run_stopped", interrupt_action: "cancel", source: "abort_signal" };
  return { stop: message.text("user", "The run was stopped by its caller.", metadata), performed };
}
