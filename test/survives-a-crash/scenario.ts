// What a scenario is: a small program that can be begun again from its first line after a crash, and what must hold
// once it has come to its end, wherever it was cut off in between.
import type { Holdfast } from "../../src/holdfast.ts";
import type { LedgerClient } from "../../src/testing/ledger-client.ts";
import type { World } from "../../src/testing/scenario.ts";
import type { Agent } from "../../src/threads/agent.ts";

/** What the program of a scenario works with. */
export type Stage = {
  readonly holdfast: Holdfast;
  readonly ledger: LedgerClient;
  /** The key of one of its threads: another one for every time the scenario is played. */
  key(thread: string): string;
};

/** A line of a transcript as it must be, or what may stand there and may be missing, after a crash in its neighbourhood. */
export type Line = string | RegExp | { readonly maybe: string | RegExp };

export type Ending = {
  readonly agent: string;
  readonly status: "idle" | "stopped" | "terminated";
  /** In order, one line a message: see `transcriptLines`. A function tells what is wrong with them. */
  readonly transcript: readonly Line[] | ((lines: readonly string[]) => readonly string[]);
  /** How many calls of each tool there must be. */
  readonly calls?: Readonly<Record<string, number>>;
};

export type Scenario = {
  readonly name: string;
  agents(world: World): readonly Agent[];
  play(stage: Stage): Promise<void>;
  /** By the name of the thread. */
  readonly endings: Readonly<Record<string, Ending>>;
};

export function maybe(line: string | RegExp): Line {
  return { maybe: line };
}
