// The matrix: every scenario, killed once at every point it passes; and killed again while it recovers.
import { type Case, type CaseResult, type Named, titleOf } from "./case.ts";
import type { Scenario } from "./scenario.ts";

/** Runs cases on one of the databases. */
export type Run<Played extends Named = Scenario> = (
  cases: readonly Case<Played>[],
) => Promise<readonly CaseResult<Played>[]>;

export type Tally = { cases: number; notReached: number; readonly red: string[] };

export function newTally(): Tally {
  return { cases: 0, notReached: 0, red: [] };
}

export function count(tally: Tally, results: readonly CaseResult<Named>[]): void {
  for (const { of, problems, wasReached } of results) {
    tally.cases++;
    if (!wasReached) tally.notReached++;
    if (problems.length > 0) tally.red.push(`${titleOf(of)}\n${problems.map((each) => `    ${each}`).join("\n")}`);
  }
}

/** A case for every point that the scenario passes when nobody disturbs it. */
export async function casesOf<Played extends Named>(
  scenarios: readonly Played[],
  run: Run<Played>,
): Promise<readonly CaseResult<Played>[]> {
  return await run(scenarios.map((scenario) => ({ scenario, kills: [] })));
}

export function killedAtEveryPoint<Played extends Named>(
  undisturbed: readonly CaseResult<Played>[],
): readonly Case<Played>[] {
  return undisturbed.flatMap(({ of: { scenario }, points }) => points.map((point) => ({ scenario, kills: [point] })));
}

/** Killed at a point, and again at every point that the next process passes while it finds out what became of it. */
export async function killedAgain<Played extends Named>(
  scenario: Played,
  first: readonly string[],
  run: Run<Played>,
): Promise<readonly Case<Played>[]> {
  const recovered = await run(first.map((point) => ({ scenario, kills: [point], lists: true })));
  return recovered.flatMap(({ of: { kills }, points }) =>
    points.map((point) => ({ scenario, kills: [...kills, point] })),
  );
}

/** Asleep at every point that the scenarios come to. */
export function asleepAtEveryPoint<Played extends Named>(
  undisturbed: readonly CaseResult<Played>[],
): readonly Case<Played>[] {
  return undisturbed.flatMap(({ of: { scenario }, points }) => points.map((pause) => ({ scenario, kills: [], pause })));
}
