// What the scripts print of a matrix: a line for each part, and everything that was broken.
import type { CaseResult, Named } from "./case.ts";
import { count, newTally, type Tally } from "./matrix.ts";

export type Report = {
  line(where: string, what: string, tally: Tally): void;
  /** True once a promise was found broken. */
  readonly isRed: boolean;
};

export function startReport(): Report {
  let isRed = false;
  return {
    line(where, what, { cases, notReached, red }) {
      isRed ||= red.length > 0;
      const missed = notReached > 0 ? `, ${notReached} ended before their point` : "";
      console.log(`${red.length > 0 ? "RED  " : "green"} ${where}: ${what}: ${cases} cases${missed}`);
      for (const problem of red) console.log(`  ${problem}`);
    },
    get isRed() {
      return isRed;
    },
  };
}

export function tallied(results: readonly CaseResult<Named>[]): Tally {
  const tally = newTally();
  count(tally, results);
  return tally;
}
