// The matrix: every scenario, killed once at every point it passes; and killed again while it recovers.
import { type Case, type CaseResult, titleOf } from "./case.ts";
import type { Scenario } from "./scenario.ts";

/** Runs cases on one of the databases. */
export type Run = (cases: readonly Case[]) => Promise<readonly CaseResult[]>;

export type Tally = { cases: number; notReached: number; readonly red: string[] };

export function newTally(): Tally {
  return { cases: 0, notReached: 0, red: [] };
}

export function count(tally: Tally, results: readonly CaseResult[]): void {
  for (const { of, problems, wasReached } of results) {
    tally.cases++;
    if (!wasReached) tally.notReached++;
    if (problems.length > 0) tally.red.push(`${titleOf(of)}\n${problems.map((each) => `    ${each}`).join("\n")}`);
  }
}

/** A case for every point that the scenario passes when nobody disturbs it. */
export async function casesOf(scenarios: readonly Scenario[], run: Run): Promise<readonly CaseResult[]> {
  return await run(scenarios.map((scenario) => ({ scenario, kills: [] })));
}

export function killedAtEveryPoint(undisturbed: readonly CaseResult[]): readonly Case[] {
  return undisturbed.flatMap(({ of: { scenario }, points }) => points.map((point) => ({ scenario, kills: [point] })));
}

/** Killed at a point, and again at every point that the next process passes while it finds out what became of it. */
export async function killedAgain(scenario: Scenario, first: readonly string[], run: Run): Promise<readonly Case[]> {
  const recovered = await run(first.map((point) => ({ scenario, kills: [point], lists: true })));
  return recovered.flatMap(({ of: { kills }, points }) =>
    points.map((point) => ({ scenario, kills: [...kills, point] })),
  );
}
