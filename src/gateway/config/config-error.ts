// How a configuration that cannot be used is told of.
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { type LocatedProblem, showPlace } from "../../yaml/place.ts";
import { firstByPlace, MOST_PROBLEMS } from "../../yaml/report.ts";

/** One error for all problems: a line each, sorted by place, 50 at most. */
export function configError(problems: readonly LocatedProblem[]): HoldfastError {
  const lines = firstByPlace(problems).map((problem) => `${showPlace(problem)}: ${problem.message}`);
  if (lines.length === 1) return holdfastError("gateway_config_invalid", lines.join(""));
  const count = problems.length < MOST_PROBLEMS ? `${problems.length}` : `at least ${MOST_PROBLEMS}`;
  return holdfastError(
    "gateway_config_invalid",
    `The gateway's configuration has ${count} problems:\n${lines.join("\n")}`,
  );
}
