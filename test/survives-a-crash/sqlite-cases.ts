// Cases on SQLite: a process is killed at a point, another one is started on the same file, and what it made of it is
// checked. Killed more than once, each process finds what the one before has left.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHoldfast } from "../../src/holdfast.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";
import { inParallel } from "../../src/testing/in-parallel.ts";
import { openEffectLedger } from "../../src/testing/ledger-client.ts";
import type { Case, CaseResult } from "./case.ts";
import { checkScenario } from "./check-scenario.ts";
import { backendOf, type Database, PATIENCE_MS, SECRET_KEY } from "./database.ts";
import { definitionsOf } from "./scenarios.ts";
import { startChild } from "./start-child.ts";

/** Most of a case is waiting for a process to start or for the disk. */
const AT_ONCE = 3;

export async function runOnSqlite(cases: readonly Case[], ledger: EffectLedger): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  await inParallel(cases, AT_ONCE, async (each, index) => {
    results[index] = await runCase(each, ledger);
  });
  return results;
}

async function runCase(of: Case, ledger: EffectLedger): Promise<CaseResult> {
  const { scenario, kills } = of;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-crash-"));
  const database: Database = { kind: "sqlite", path: join(folder, "crash.db") };
  const play = { scenario: scenario.name, name: "case" };
  const order = { database, ledger: ledger.url, play };
  const problems: string[] = [];
  let reached = 0;
  try {
    for (const at of kills) {
      const { killedAt, problems: own } = await startChild({ ...order, at }).ended(PATIENCE_MS);
      problems.push(...own);
      if (killedAt !== undefined) reached++;
    }
    const last = await startChild(order).ended(PATIENCE_MS);
    problems.push(...last.problems);
    const definitions = definitionsOf([scenario], { ledger: openEffectLedger(ledger.url), reached: () => {} });
    const holdfast = await createHoldfast({
      backend: backendOf(database),
      ...definitions,
      runs: false,
      secretKey: SECRET_KEY,
    });
    try {
      problems.push(...(await checkScenario(scenario, play.name, { holdfast, database, ledger })));
    } finally {
      await holdfast.close();
    }
    return { of, problems, wasReached: reached === kills.length, points: last.points };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
