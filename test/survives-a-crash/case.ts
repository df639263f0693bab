// One case of the matrix: a scenario, and where its process meets its fate.
import type { Scenario } from "./scenario.ts";

export type Case = {
  readonly scenario: Scenario;
  /** The points at which one process after another is killed. */
  readonly kills: readonly string[];
  /** The point at which its process sleeps until another one has done its work. Only where processes share a database. */
  readonly pause?: string;
  /** Has a process play to the end that nobody kills, to see what it passes. Without kills there always is one. */
  readonly lists?: boolean;
};

export type CaseResult = {
  readonly of: Case;
  /** Nothing when every promise was kept. */
  readonly problems: readonly string[];
  /** False when the scenario came to its end another way, so that nobody was killed. */
  readonly wasReached: boolean;
  /** What the process passed that was started last. */
  readonly points: readonly string[];
};

export function titleOf({ scenario, kills, pause }: Case): string {
  if (pause !== undefined) return `${scenario.name}, asleep ${pause}`;
  return kills.length === 0 ? `${scenario.name}, undisturbed` : `${scenario.name}, killed ${kills.join(", then ")}`;
}
