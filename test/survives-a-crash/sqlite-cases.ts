// Cases on SQLite: a process is killed at a point, another one is started on the same file, and what it made of it is
// checked. Killed more than once, each process finds what the one before has left.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHoldfast, type Holdfast } from "../../src/holdfast.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";
import { inParallel } from "../../src/testing/in-parallel.ts";
import { openEffectLedger } from "../../src/testing/ledger-client.ts";
import type { Case, CaseResult } from "./case.ts";
import { checkAudit } from "./check-audit.ts";
import { checkAlways, checkScenario } from "./check-scenario.ts";
import { backendOf, type Database, PATIENCE_MS, SECRET_KEY } from "./database.ts";
import type { Scenario } from "./scenario.ts";
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
  const lookAt = (look: (holdfast: Holdfast) => Promise<readonly string[]>) => looked(scenario, database, ledger, look);
  const problems: string[] = [];
  let reached = 0;
  try {
    for (const at of kills) {
      const { killedAt, problems: own } = await startChild({ ...order, at }).ended(PATIENCE_MS);
      problems.push(...own);
      if (killedAt !== undefined) reached++;
      if (scenario.always) {
        problems.push(...(await lookAt((holdfast) => checkAlways(scenario, play.name, { holdfast, database }))));
      }
    }
    const last = await startChild(order).ended(PATIENCE_MS);
    problems.push(...last.problems);
    const found = await lookAt(async (holdfast) => [
      ...(await checkScenario(scenario, play.name, { holdfast, database, ledger })),
      ...(await checkAudit(holdfast)),
    ]);
    problems.push(...found);
    return { of, problems, wasReached: reached === kills.length, points: last.points };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is found by a runtime that runs nothing, in a file that no other process has open. */
async function looked(
  scenario: Scenario,
  database: Database,
  ledger: EffectLedger,
  look: (holdfast: Holdfast) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const definitions = definitionsOf([scenario], { ledger: openEffectLedger(ledger.url), reached: () => {} });
  const backend = backendOf(database);
  const holdfast = await createHoldfast({ backend, ...definitions, runs: false, secretKey: SECRET_KEY });
  try {
    return await look(holdfast);
  } finally {
    await holdfast.close();
  }
}
