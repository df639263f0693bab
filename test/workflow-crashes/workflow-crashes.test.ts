// Promise: a workflow with everything in it is killed at any commit, goes on in the next process, and has done each thing once in the
// end, and undone once what was to be undone. Here a sample; `npm run crash` kills it at every commit.
import { describe, expect, it } from "vitest";
import { chooseSeed, randomFrom } from "../../src/testing/random.ts";
import { emptySchema } from "../postgres.ts";
import { casesOf, count, newTally } from "../survives-a-crash/matrix.ts";
import { killed } from "./matrix.ts";
import { runCases, type Site, voyageOf } from "./run-cases.ts";

const seed = chooseSeed();

describe("a workflow whose process is killed", () => {
  it("goes on in the next process, on SQLite", async () => {
    await sample({}, 60, 8);
  });

  it("goes on in the next process, on PostgreSQL", async () => {
    const { url } = await emptySchema();
    await sample({ url }, 12, 3);
  });

  it("goes on in the middle of a thousand items", async () => {
    const voyage = voyageOf("fails", 1_000);
    const kills = ["packing: inside pack #700", "unpacking: inside unpack #300"];
    const tally = newTally();
    count(tally, await runCases([{ scenario: voyage, kills }], {}));
    expect(tally).toEqual({ cases: 1, notReached: 0, red: [] });
  });
});

async function sample(site: Site, items: number, points: number): Promise<void> {
  const random = randomFrom(seed);
  const run = (cases: Parameters<typeof runCases>[0]) => runCases(cases, site);
  const undisturbed = await casesOf([voyageOf("finishes", items), voyageOf("fails", items)], run);
  const tally = newTally();
  count(tally, undisturbed);
  count(tally, await run(random.some(killed(undisturbed, random, 10), points)));
  expect(tally.red, `HOLDFAST_CRASH_SEED=${seed}`).toEqual([]);
  expect(tally.cases).toBe(points + 2);
}
