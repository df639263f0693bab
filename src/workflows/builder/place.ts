// Where the step stands that is being described. A reference asks here whether it means anything at that place.
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";

export type Place = {
  /** The ids that lead here, as in `refund/each/pack`; functions of the step are called by it. */
  readonly name: string;
  /** Whose the references to the inputs of the workflow are: they can be used everywhere. */
  readonly inputs: object;
  /** The lists of steps whose references can be used here. */
  readonly owners: ReadonlySet<object>;
  /** Whether a step in the lists around has that id. */
  readonly isTaken: (id: string) => boolean;
  /** Names that the items of `foreach` steps around have taken. */
  readonly variables: ReadonlySet<string>;
  /** False in what undoes a step or follows a failure: nothing of that is undone. */
  readonly mayUndo: boolean;
};

// A template literal turns a reference into text without saying where, so that the place cannot be passed to it. Steps are
// described synchronously: no two places are open at once, except one inside the other.
let open: Place | undefined;

export function describing<Result>(place: Place, describe: () => Result): Result {
  const around = open;
  open = place;
  try {
    return describe();
  } finally {
    open = around;
  }
}

/** Undefined when no step is being described. */
export function openPlace(): Place | undefined {
  return open;
}

export function invalid(detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_workflow", open ? `${open.name}: ${detail}` : detail, cause);
}

/** The text that a step cannot do without. */
export function required(given: unknown, what: string): string {
  if (typeof given === "string" && given.trim() !== "") return given;
  throw invalid(`it needs text for its ${what}`);
}
