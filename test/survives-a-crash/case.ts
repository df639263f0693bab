// One case of a matrix: a scenario, and where its process meets its fate. The scenarios are those of threads unless said
// otherwise; the gateway has a matrix of its own.
import type { Scenario } from "./scenario.ts";

/** Whatever a matrix is made of. */
export type Named = { readonly name: string };

export type Case<Played extends Named = Scenario> = {
  readonly scenario: Played;
  /** The points at which one process after another is killed. */
  readonly kills: readonly string[];
  /** The point at which its process sleeps until another one has done its work. Only where processes share a database. */
  readonly pause?: string;
  /** Has a process play to the end that nobody kills, to see what it passes. Without kills there always is one. */
  readonly lists?: boolean;
};

export type CaseResult<Played extends Named = Scenario> = {
  readonly of: Case<Played>;
  /** Nothing when every promise was kept. */
  readonly problems: readonly string[];
  /** False when the scenario came to its end another way, so that nobody was killed. */
  readonly wasReached: boolean;
  /** What the process passed that was started last. */
  readonly points: readonly string[];
};

export function titleOf({ scenario, kills, pause }: Case<Named>): string {
  if (pause !== undefined) return `${scenario.name}, asleep ${pause}`;
  return kills.length === 0 ? `${scenario.name}, undisturbed` : `${scenario.name}, killed ${kills.join(", then ")}`;
}
