// The bounded value that follows from the facts: what is open. It never holds what has ended, so that its size depends on how
// much runs at the same time and not on how long the run is.
import type { RunEnd, Stage } from "./facts.ts";

/** A list of steps that run one after another: those of the run, of an item or of a branch. */
export type Sequence = {
  readonly kind: "sequence";
  /** The step that is open, or comes next. */
  readonly at: number;
};

/** A step whose parts run beside each other. */
export type FanOut = {
  readonly kind: "fan_out";
  readonly count: number;
  /** How many parts may be open at the same time. */
  readonly limit: number;
  readonly aggregator: number | null;
  /** The position of the part that is opened next. */
  readonly next: number;
  readonly open: number;
  /** The part whose failure makes the step fail: of several the first in the order in which they are declared. */
  readonly failed: number | null;
  /** A part was given up because the run is cancelled. */
  readonly isCutOff: boolean;
};

/** A step that does something outside. */
export type OpenStep = {
  readonly attempt: number;
  readonly phase: "running" | "waiting" | "retrying";
  /** When it goes on by itself; null when something outside has to happen. */
  readonly until: number | null;
};

export type RunStatus = "running" | RunEnd;

export type State = {
  readonly version: 1;
  readonly status: RunStatus;
  /** How many facts led here. */
  readonly seq: number;
  /** Steps and parts that are open, by path. */
  readonly scopes: Readonly<Record<string, Sequence | FanOut>>;
  readonly steps: Readonly<Record<string, OpenStep>>;
  /** The last step of the run itself that failed. */
  readonly failed: string | null;
  /** Steps that ended so far: their order is that in which they are undone, from behind. */
  readonly ended: number;
  readonly stage: Stage;
  /** How the run will end, once it has been rolled back. */
  readonly ending: RunEnd | null;
  /** True when the run ends as soon as nothing of its own steps is open. */
  readonly isCancelling: boolean;
  /** True once the run has begun to undo its steps: it cannot go on behind them any more. */
  readonly isRolledBack: boolean;
};

export const initialState: State = {
  version: 1,
  status: "running",
  seq: 0,
  scopes: {},
  steps: {},
  failed: null,
  ended: 0,
  stage: "steps",
  ending: null,
  isCancelling: false,
  isRolledBack: false,
};
