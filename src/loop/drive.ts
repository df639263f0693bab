// Steps the machine to its end in memory, doing between the steps what it asks for. No record log is kept.
import * as message from "../contracts/conversation/message.ts";
import { advance } from "./advance.ts";
import { attempts } from "./attempt.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Arrived, Next } from "./next.ts";
import type { Tell } from "./observe.ts";
import { initialState, type State } from "./state.ts";
import type { Working } from "./working.ts";

/** Where a run ended, or why its answer was refused there. */
export type Driven = { readonly state: State; readonly refused?: Extract<Next, { kind: "refuse" }> };

export async function drive(
  working: Working,
  callbacks: Callbacks,
  tell: Tell,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal | undefined },
): Promise<Driven> {
  const outside = attempts(signal);
  const state: State = { ...initialState };
  let arrived: Arrived | undefined;
  try {
    for (let steps = 1; ; steps++) {
      if (steps % STEPS_AT_A_STRETCH === 0) await new Promise(setImmediate);
      const step = advance(state, working, now(), arrived, storingNothing);
      for (const { event, payload } of step.notices) tell(event, payload);
      const { next } = step;
      if (next.kind === "end") return { state };
      if (next.kind === "refuse") return { state, refused: next };
      if (next.kind === "park" || next.kind === "wait") {
        throw new Error("A conversation in memory ends where it would wait.");
      }
      arrived = stopOf(signal, false);
      if (arrived) continue;
      const attempted = outside.attempt(() => carryOut(callbacks, next));
      // Waiting for what is already there would cost more than most callbacks do.
      const outcome = attempted instanceof Promise ? await attempted : attempted;
      arrived = outcome ?? stopOf(signal, next.kind === "effect");
    }
  } finally {
    outside.end();
  }
}

/** Callbacks that answer at once would keep timers, signals and other runs waiting: after so many steps these get a chance. */
const STEPS_AT_A_STRETCH = 256;

const storingNothing = { inPlace: true };

function carryOut({ perform, answer }: Callbacks, next: Extract<Next, { kind: "effect" | "consult" }>): unknown {
  return next.kind === "effect" ? perform(next.order) : answer(next.question);
}

function stopOf(signal: AbortSignal | undefined, performed: boolean): Arrived | undefined {
  if (!signal?.aborted) return undefined;
  const metadata = { type: "run_stopped", interrupt_action: "cancel", source: "abort_signal" };
  return { stop: message.text("user", "The run was stopped by its caller.", metadata), performed };
}
