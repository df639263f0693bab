// One case of a crash test: the scenario is run, its process is killed at a point, and another one runs it again.
import { newDatabase } from "./case-database.ts";
import type { ReadEnding } from "./compare-endings.ts";
import type { CrashOrder } from "./crash-child.ts";
import { startEffectLedger } from "./effect-ledger.ts";
import { readThreads } from "./read-threads.ts";
import { startChild } from "./start-child.ts";

export type CaseSetting = Pick<CrashOrder, "module" | "exported"> & {
  /** Of a PostgreSQL database; a file in a temporary folder unless given. */
  readonly database: string | undefined;
  /** Flags for Node. */
  readonly execArgv: readonly string[];
  readonly patienceMs: number;
};

export type CrashCase = {
  /** The point at which its process was to be killed; undefined: nobody was. */
  readonly at: string | undefined;
  /** False when the scenario came to its end another way, without passing the point. */
  readonly wasKilled: boolean;
  readonly points: readonly string[];
  /** What kept the scenario from its end. */
  readonly problems: readonly string[];
  /** What its own check has found. */
  readonly violations: readonly string[];
  readonly ending: ReadEnding;
};

// The name of the program is not rewritten by the build, so it is the ending of this file that tells which there is.
const program = new URL(import.meta.url.endsWith(".ts") ? "./crash-child.ts" : "./crash-child.js", import.meta.url);

export async function runCase(at: string | undefined, setting: CaseSetting): Promise<CrashCase> {
  const { module, exported, execArgv, patienceMs } = setting;
  const { database, remove } = await newDatabase(setting.database);
  const ledger = await startEffectLedger();
  const play = (fate: Pick<CrashOrder, "at" | "quiet">) => {
    const order: CrashOrder = { database, ledger: ledger.url, module, exported, ...fate };
    return startChild(program, order, execArgv).ended(patienceMs);
  };
  try {
    const killed = at === undefined ? undefined : await play({ at });
    const last = await play({ quiet: at !== undefined });
    const hasEnded = last.problems.length === 0;
    return {
      at,
      wasKilled: killed?.killedAt !== undefined,
      points: last.points,
      problems: [...(killed?.problems ?? []), ...last.problems],
      violations: last.violations,
      // What has not come to its end cannot be held against it twice.
      ending: { threads: hasEnded ? await readThreads(database) : [], effects: ledger.effects() },
    };
  } finally {
    await ledger.close();
    await remove();
  }
}
