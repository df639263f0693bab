// What a scenario is: a small program that can be begun again from its first line after a crash, and what must hold
// once it has come to its end, wherever it was cut off in between.
import type { Holdfast } from "../../src/holdfast.ts";
import type { RecordedEffect } from "../../src/testing/effect-ledger.ts";
import type { LedgerClient } from "../../src/testing/ledger-client.ts";
import type { World } from "../../src/testing/scenario.ts";
import type { Agent } from "../../src/threads/agent.ts";
import type { EffectDefinition } from "../../src/threads/definitions/effect.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import type { Database } from "./database.ts";

/** What the program of a scenario works with. */
export type Stage = {
  readonly holdfast: Holdfast;
  readonly ledger: LedgerClient;
  /** The key of one of its threads: another one for every time the scenario is played. */
  key(thread: string): string;
};

/** What is looked at from outside: by a runtime that runs nothing, and past every runtime. */
export type Site = { readonly holdfast: Holdfast; readonly database: Database };

/** A line of a transcript as it must be, or what may stand there and may be missing, after a crash in its neighbourhood. */
export type Line = string | RegExp | { readonly maybe: string | RegExp };

export type Ending = {
  readonly agent: string;
  readonly status: "idle" | "stopped" | "terminated";
  /** In order, one line a message: see `transcriptLines`. A function tells what is wrong with them. */
  readonly transcript: readonly Line[] | ((lines: readonly string[]) => readonly string[]);
  /** How many calls of each tool there must be. */
  readonly calls?: Readonly<Record<string, number>>;
  /** Each one that it must have, and nobody else. */
  readonly children?: readonly ChildEnding[];
  /** Name and content of every file that it must have, such as `plan.txt: One line.`, in the order of the alphabet. */
  readonly files?: readonly string[];
};

export type ChildEnding = Omit<Ending, "status"> & {
  /** The name that it was created with. */
  readonly name: string;
  /** How the registry of its parent shows it. One that is terminated there is terminated, any other one is idle. */
  readonly shown: "idle" | "failed" | "terminated";
};

export type Scenario = {
  readonly name: string;
  agents(world: World): readonly Agent[];
  /** Those that they schedule. */
  effects?(world: World): readonly EffectDefinition[];
  play(stage: Stage): Promise<void>;
  /** Where processes share a database, another one wants the same at the same time, and lives. */
  readonly isPlayedTwice?: boolean;
  /** By the name of the thread. */
  readonly endings: Readonly<Record<string, Ending>>;
  /** A sentence for everything else that is not as it must be. */
  check?(thread: ThreadHandle, effects: readonly RecordedEffect[], site: Site): Promise<readonly string[]>;
  /** A sentence for everything that is not as it must be at any moment: nobody has yet seen to what a dead process left. */
  always?(thread: ThreadHandle, site: Site): Promise<readonly string[]>;
};

export function maybe(line: string | RegExp): Line {
  return { maybe: line };
}
