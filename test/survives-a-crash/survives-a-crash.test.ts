// Promise: kill the process at any instruction, and its threads go on as if nothing had happened. Here a sample of the
// matrix; `npm run crash` runs all of it.
import { describe, expect, it } from "vitest";
import { startEffectLedger } from "../../src/testing/effect-ledger.ts";
import { chooseSeed, randomFrom } from "../../src/testing/random.ts";
import { emptySchema } from "../postgres.ts";
import { casesOf, count, killedAtEveryPoint, newTally, type Run } from "./matrix.ts";
import { sleeperCommitsNothing } from "./pauses.ts";
import { openPostgresSite, runOnPostgres } from "./postgres-cases.ts";
import { scenarioNamed, scenarios } from "./scenarios.ts";
import { runOnSqlite } from "./sqlite-cases.ts";

const seed = chooseSeed();
console.log(`HOLDFAST_CRASH_SEED=${seed}`);

/** Where something is stored beside a thread: a memory, a decision, a transcript, an erasure, a wait for a person. */
const delicate = [
  ["memory tools", "after effect run_tool #1"],
  ["remembered approval", "after submit #1"],
  ["kept transcript", "after commit flow.ended and settle #1"],
  ["erasure", "after commit inbox and settle #1"],
  ["escalation", "after effect run_tool #1"],
  ["checkpoints", "after delete #1"],
] as const;

describe("a thread whose process is killed", () => {
  it("goes on in the next process, on SQLite", async () => {
    const ledger = await startEffectLedger();
    const { red, cases } = await sample((each) => runOnSqlite(each, ledger), { from: 6, points: 20 });
    await ledger.close();
    expect(red).toEqual([]);
    expect(cases).toBeGreaterThan(20);
  });

  it("leaves nothing half done where two things are to happen at once", async () => {
    const ledger = await startEffectLedger();
    const cases = delicate.map(([name, point]) => ({ scenario: scenarioNamed(name), kills: [point] }));
    const tally = newTally();
    count(tally, await runOnSqlite(cases, ledger));
    await ledger.close();
    expect(tally).toEqual({ cases: delicate.length, notReached: 0, red: [] });
  });

  it("goes on in another one that was there already, on PostgreSQL", async () => {
    const ledger = await startEffectLedger();
    const { url } = await emptySchema();
    const site = await openPostgresSite(url, ledger);
    const { red, cases } = await sample((each) => runOnPostgres(each, site), { from: 4, points: 8 });
    const asleep = await sleeperCommitsNothing(site);
    await site.close();
    await ledger.close();
    expect(red).toEqual([]);
    expect(asleep).toEqual([]);
    expect(cases).toBeGreaterThan(8);
  });
});

/** Some points of some scenarios, and those scenarios undisturbed. */
async function sample(run: Run, { from, points }: { from: number; points: number }) {
  const random = randomFrom(seed);
  const undisturbed = await casesOf(random.some(scenarios, from), run);
  const tally = newTally();
  count(tally, undisturbed);
  count(tally, await run(random.some(killedAtEveryPoint(undisturbed), points)));
  return tally;
}
