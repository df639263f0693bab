// How steps with parts end, and what comes once a list of steps has.
import { fanOutAt } from "./apply.ts";
import type { Stage, StepEnd } from "./facts.ts";
import { isGivenUp } from "./failure-rules.ts";
import { outputOfParts } from "./outputs.ts";
import { below, ON_FAILURE, parentOf, ROOT } from "./path.ts";
import type { State } from "./state.ts";
import { cancelled } from "./step-errors.ts";
import { type Body, bodyOf, type StepError, type Working } from "./working.ts";

/** The end of a step none of whose parts is open. `isMore`: not all of them were carried out. */
export function endOfParts(
  state: State,
  working: Working,
  path: string,
  isMore: boolean,
): { readonly as: StepEnd } & Pick<Body, "output" | "error"> {
  const { failed, isCutOff } = fanOutAt(state, path);
  if (failed !== null) return { as: "failed", error: errorAt(working, below(path, failed)) };
  if (!isMore && !isCutOff) return { as: "succeeded", output: outputOfParts(working, path) };
  return isGivenUp(state, parentOf(path)) ? { as: "cut_off" } : { as: "failed", error: cancelled };
}

/** Why a step or a part failed. */
export function errorAt(working: Working, path: string): StepError {
  return bodyOf(working, path).error ?? cancelled;
}

/** After the run's own steps come those that undo them, and after these those that a failure asks for. */
export function stageAfter(state: State, working: Working, ended: string): Exclude<Stage, "steps"> | undefined {
  const { ending } = state;
  const { undoable, onFailure, continueOnError } = working;
  const isUndone = ending === "cancelled" || (ending === "failed" && !continueOnError);
  if (ended === ROOT && isUndone && undoable.length > 0) return "rollback";
  return ended !== ON_FAILURE && ending === "failed" && onFailure.length > 0 ? "on_failure" : undefined;
}
