// What code that runs within a step may ask of the run itself. It is recorded with what the code came to.
import type { Side } from "./side.ts";

export type Control = {
  /** The calls behind this one are not begun, and the run ends after the step. */
  readonly stop?: true;
  /** That side acts next. */
  readonly force?: Side;
  /** The thread is handed over to that agent after the step. */
  readonly handoff?: string;
  /** The session ends after the step. */
  readonly session?: {
    readonly status: "success" | "failure";
    readonly result?: string;
    /** False: the parent is not told. */
    readonly notifies: boolean;
  };
};
