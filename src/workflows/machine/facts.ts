// What happened in a run, in the order in which it happened. A fact names paths and outcomes; what was said or returned
// stands beside it, so that it can be erased.

/** The lists of steps that a run works off: its own, what undoes them, and what runs once it has failed. */
export type Stage = "steps" | "rollback" | "on_failure";

/** How a step ended. `skipped`: nothing here can run it. `cut_off`: it was stopped because its result is not needed any more. */
export type StepEnd = "succeeded" | "failed" | "skipped" | "cut_off";

export type RunEnd = "succeeded" | "failed" | "cancelled";

export type Fact =
  /** `at`: the first step that is carried out, where what comes before it was taken from another run. */
  | { readonly type: "run.started"; readonly at?: number }
  /** A step that does something outside begins, for the first time or again. */
  | { readonly type: "step.begun"; readonly path: string; readonly attempt: number }
  /** The step opens `count` parts: the items of a foreach or the branches of a parallel step, so many at the same time. */
  | {
      readonly type: "parts.opened";
      readonly path: string;
      readonly count: number;
      /** The first part that is opened: a case that was chosen is the only one, and parts that have succeeded before are kept. */
      readonly first: number;
      readonly limit: number;
      /** The branch that runs after all others, with their outputs. */
      readonly aggregator: number | null;
    }
  | { readonly type: "part.begun"; readonly path: string }
  /** `tolerated`: the other parts go on, and the step succeeds all the same. */
  | {
      readonly type: "part.ended";
      readonly path: string;
      readonly as: "succeeded" | "failed" | "cut_off";
      readonly tolerated: boolean;
    }
  /** The step waits for something outside, or until a time. */
  | { readonly type: "step.waiting"; readonly path: string; readonly until: number | null }
  /** The step failed and is tried again at a time. */
  | { readonly type: "step.retrying"; readonly path: string; readonly until: number }
  /** `tolerated`: the steps behind it run all the same. */
  | { readonly type: "step.ended"; readonly path: string; readonly as: StepEnd; readonly tolerated: boolean }
  /** The step has succeeded before the run was reopened, and is not carried out again. */
  | { readonly type: "step.kept"; readonly path: string }
  | { readonly type: "cancel.requested" }
  /** Nothing of its own steps is open any more, and it is known how the run will end. */
  | { readonly type: "steps.ended"; readonly as: RunEnd }
  /** `count`: how many steps there are to undo, or to run after a failure. */
  | { readonly type: "stage.begun"; readonly stage: Exclude<Stage, "steps"> }
  | { readonly type: "stage.ended"; readonly stage: Exclude<Stage, "steps"> }
  | { readonly type: "run.ended" }
  /** The run cannot be carried on, and has failed whatever is open. */
  | { readonly type: "run.broken" }
  /** A run that has failed goes on. `at`: the first of its steps that has not succeeded. */
  | { readonly type: "run.reopened"; readonly at: number };
