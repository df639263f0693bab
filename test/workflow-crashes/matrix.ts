// Where the voyage is killed: before and after each of its commits, inside each effect, and of those of the two long parts at some.
import type { Random } from "../../src/testing/random.ts";
import type { Case, CaseResult } from "../survives-a-crash/case.ts";
import { killedAtEveryPoint } from "../survives-a-crash/matrix.ts";
import type { Voyage } from "./run-cases.ts";

export function killed(
  undisturbed: readonly CaseResult<Voyage>[],
  random: Random,
  within: number,
): readonly Case<Voyage>[] {
  const all = killedAtEveryPoint(undisturbed);
  const long = undisturbed.flatMap(({ of }) => {
    const own = all.filter((each) => each.scenario === of.scenario && isOfLongPart(each));
    return random.some(own, within);
  });
  return [...all.filter((each) => !isOfLongPart(each)), ...long];
}

function isOfLongPart({ kills }: Case<Voyage>): boolean {
  return kills.some((point) => point.startsWith("packing:") || point.startsWith("unpacking:"));
}
