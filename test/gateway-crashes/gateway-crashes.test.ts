// Promise: kill a gateway at any instruction, and its jobs go on as if nothing had happened. Here a sample of the matrix;
// `npm run crash` runs all of it.
import { describe, expect, it, onTestFinished } from "vitest";
import { chooseSeed, randomFrom } from "../../src/testing/random.ts";
import type { Database } from "../survives-a-crash/database.ts";
import { casesOf, count, killedAtEveryPoint, newTally } from "../survives-a-crash/matrix.ts";
import { endsLate } from "./late-ends.ts";
import { lostBeforeCommit, lostWhileRunning } from "./lost-leases.ts";
import { runCases } from "./run-cases.ts";
import type { GatewayScenario } from "./scenario.ts";
import { exhaustedAttempts } from "./scenarios/exhausted-attempts.ts";
import { workedExample } from "./scenarios/worked-example.ts";
import { scenarios } from "./scenarios.ts";
import { openSite, type Site } from "./site.ts";

const seed = chooseSeed();
console.log(`HOLDFAST_CRASH_SEED=${seed}`);

const jobs = [1, 2, 3, 4, 5] as const;
/** The transactions of the worked example: of its start, then three of each job, of which the two tools are processes. */
const ends = ["after enqueue job #1", ...jobs.map((job) => `after commit job #${job}`)];
const claims = jobs.map((job) => `after claim job #${job}`);
const spawns = ["after commit event #1", "after commit event #2"];

/** The points with a number of their own in the contract, and every commit. */
const named: readonly (readonly [Database["kind"], string, readonly string[]])[] = [
  [
    "sqlite",
    "scenario 30: a turn was computed and not committed",
    ["before commit job #1", "before commit job #3", "before commit job #5"],
  ],
  ["sqlite", "scenario 31: a job was committed and the next one not claimed", ends],
  ["postgres", "scenario 31: a job was committed and the next one not claimed", ends],
  ["sqlite", "a job was claimed and not executed", claims],
  ["postgres", "a job was claimed and not executed", claims],
  ["sqlite", "a tool was started as a process", spawns],
  ["sqlite", "scenario 32: a tool was running", ["before effect plugin #2", "after effect plugin #4"]],
];

describe("a gateway that is killed", () => {
  it.each(named)("finishes the worked example with one completion on %s: %s", async (kind, _, points) => {
    const site = await siteOf(kind);
    const cases = points.map((point) => ({ scenario: workedExample, kills: [point] }));
    const tally = newTally();
    count(tally, await runCases(cases, site));
    expect(tally).toEqual({ cases: points.length, notReached: 0, red: [] });
  });

  it("is killed here after every commit that the worked example makes", async () => {
    const undisturbed = await casesOf<GatewayScenario>([workedExample], async (cases) =>
      runCases(cases, await siteOf("sqlite")),
    );
    const made = undisturbed.flatMap(({ points }) => points).filter((point) => isAfterCommit(point));
    expect(made.toSorted()).toEqual([...ends, ...claims, ...spawns].toSorted());
  });

  it("scenario 32: lets the run handle a tool whose attempts were used up by crashes", async () => {
    const tally = newTally();
    count(tally, await runCases([{ scenario: exhaustedAttempts, kills: [] }], await siteOf("sqlite")));
    expect(tally).toEqual({ cases: 1, notReached: 0, red: [] });
  });

  it("is followed by one that goes on, on SQLite", async () => {
    expect(await sample(await siteOf("sqlite"), { from: 2, points: 4 })).toEqual([]);
  });

  it("is followed by one that was there already, on PostgreSQL", async () => {
    expect(await sample(await siteOf("postgres"), { from: 1, points: 3 })).toEqual([]);
  });

  it("leaves a plugin behind whose late answer has no effect", async () => {
    expect(await endsLate(await siteOf("sqlite"), "while it is executed again")).toEqual([]);
  });
});

describe("a gateway that has lost its lease in mid-job", () => {
  it("and slept meanwhile leaves the files of the run as its successor has written them", async () => {
    const tally = newTally();
    const pauses = ["inside planner frame #1", "inside write memory.md #2"];
    const cases = pauses.map((pause) => ({ scenario: workedExample, kills: [], pause }));
    count(tally, await runCases(cases, await siteOf("postgres")));
    expect(tally).toEqual({ cases: 2, notReached: 0, red: [] });
  });

  it("kills the process group of the plugin and commits nothing", async () => {
    expect(await lostWhileRunning(await siteOf("postgres"))).toEqual([]);
  });

  it("does not commit what its plugin has answered before", async () => {
    expect(await lostBeforeCommit(await siteOf("postgres"))).toEqual([]);
  });
});

function isAfterCommit(point: string): boolean {
  return ["after enqueue ", "after claim ", "after commit "].some((prefix) => point.startsWith(prefix));
}

async function siteOf(kind: Database["kind"]): Promise<Site> {
  const site = await openSite(kind);
  onTestFinished(() => site.close());
  return site;
}

/** Some points of some scenarios, and those scenarios undisturbed. */
async function sample(site: Site, { from, points }: { from: number; points: number }): Promise<readonly string[]> {
  const random = randomFrom(seed);
  const run = (cases: Parameters<typeof runCases>[0]) => runCases(cases, site);
  const undisturbed = await casesOf<GatewayScenario>(random.some(scenarios, from), run);
  const tally = newTally();
  count(tally, undisturbed);
  count(tally, await run(random.some(killedAtEveryPoint(undisturbed), points)));
  return tally.red;
}
