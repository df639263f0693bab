// What code leaves behind that ran within a step: it goes into the commit that takes down what the code came to.
import type { NewEntry } from "../../backend/inbox.ts";
import type { Write } from "../../backend/write.ts";
import type { Json } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { Control } from "../../contracts/standard/control.ts";

export type LeftBehind = {
  /** For the thread's own inbox. */
  readonly entries: readonly NewEntry[];
  readonly writes: readonly Write[];
  /** For those who follow the thread. */
  readonly events: readonly { readonly event: string; readonly data: Json }[];
  /** What is asked of the run. */
  readonly control: Control;
};

/** How the code came back, with what it asks of the run. */
export function withControl(outcome: Outcome, { control }: LeftBehind): Outcome {
  return Object.keys(control).length > 0 ? { ...outcome, control } : outcome;
}

/** A thread that is over starts nothing any more, and what would start something is refused. */
export function withoutStarts(left: LeftBehind): LeftBehind {
  return { ...left, writes: left.writes.filter(({ write }) => write !== "thread" && write !== "effect") };
}

export const nothingLeft: LeftBehind = { entries: [], writes: [], events: [], control: {} };
