import { describe, expect, it, vi } from "vitest";
import { emptySchema, query } from "../../test/postgres.ts";
import { type CrashTestOptions, crashTest } from "./crash-test.ts";

// Processes take their time to start where many others are at work.
vi.setConfig({ testTimeout: 120_000 });

const scenarios = new URL("../../test/crash-tested-scenarios.ts", import.meta.url);

/** Where a tool is at work: the rest of the points is the matter of test/survives-a-crash/. */
const around = ["before effect run_tool #1", "after recording charge #1", "after effect run_tool #1"];
const aroundTool = /effect run_tool|recording/;

function crash(scenario: string, options: CrashTestOptions = {}) {
  return crashTest(scenarios, { scenario, at: aroundTool, ...options });
}

describe("a tool that is right", () => {
  it("has its effect once, wherever its process is killed", async () => {
    const { points, crashes, effects, unknown, violations } = await crashTest(scenarios, { most: 3 });

    expect(violations).toEqual([]);
    expect(unknown).toEqual([]);
    expect(effects).toEqual({ charge: { undisturbed: 1, fewest: 1, most: 1 } });
    expect(crashes).toHaveLength(3);
    expect(points).toEqual(expect.arrayContaining(["before open #1", ...around]));
  });

  it("may also be run again with its key", async () => {
    const at = "after recording charge #1";
    const { crashes, effects, unknown, violations } = await crash("repeatable", { at });

    expect({ crashes, unknown, violations }).toEqual({ crashes: [at], unknown: [], violations: [] });
    expect(effects).toEqual({ charge: { undisturbed: 1, fewest: 1, most: 1 } });
  });

  it("is tested on PostgreSQL too, in a schema that is gone afterwards", async () => {
    const { url } = await emptySchema();
    const at = "after recording charge #1";
    const { crashes, violations } = await crash("repeatable", { at, database: url });

    expect({ crashes, violations }).toEqual({ crashes: [at], violations: [] });
    expect(await query(url, "select nspname from pg_namespace where nspname like 'crash\\_%'")).toEqual([]);
  });
});

describe("an agent with a child and an effect", () => {
  it("comes to the same as undisturbed, although ids are drawn anew, with one child and one ring", async () => {
    const at = ["before commit begun run_tool #2", "after effect run_tool #2", "after recording ring #1"];
    const { crashes, effects, violations } = await crash("family", { at, anyOrder: true });

    expect({ crashes: crashes.toSorted(), violations }).toEqual({ crashes: at.toSorted(), violations: [] });
    expect(effects).toEqual({ ring: { undisturbed: 1, fewest: 1, most: 1 } });
  });
});

describe("a tool of which nobody can tell what it did", () => {
  it("is reported as unknown, and never runs twice", async () => {
    const { effects, unknown, violations } = await crash("silent");

    expect(violations).toEqual([]);
    expect(unknown).toEqual(around.map((point) => `killed ${point}: a call of shop/charge is unknown`));
    expect(effects).toEqual({ charge: { undisturbed: 1, fewest: 0, most: 1 } });
  });
});

describe("a tool that is wrong", () => {
  it("is found out when it does twice what it calls idempotent", async () => {
    const { effects, violations } = await crash("lying");

    expect(violations).toEqual([
      'killed after recording charge #1: "charge" happened 2 times, and undisturbed once',
      'killed after effect run_tool #1: "charge" happened 2 times, and undisturbed once',
    ]);
    expect(effects).toEqual({ charge: { undisturbed: 1, fewest: 1, most: 2 } });
  });

  it("is found out when it says that it is done without having looked", async () => {
    const { violations } = await crash("hopeful", { at: "before effect run_tool #1" });

    expect(violations).toEqual([
      'killed before effect run_tool #1: "charge" happened 0 times instead of once, in silence',
    ]);
  });
});

describe("a program that is wrong", () => {
  it("is found out when it sends without a key", async () => {
    const { violations } = await crash("keyless", { at: "after put message #1" });

    expect(violations).toEqual([
      'killed after put message #1: thread "customer-42": the messages are ["Charge me.", "Charge me."], ' +
        'and undisturbed they are ["Charge me."]',
    ]);
  });
});

describe("a scenario", () => {
  it("is over when everything that it left behind is done", async () => {
    const { effects, violations } = await crash("leaving", { at: "after put message #1" });

    expect(violations).toEqual([]);
    expect(effects).toEqual({ charge: { undisturbed: 1, fewest: 1, most: 1 } });
  });

  it("may end while a thread waits for somebody", async () => {
    const at = "after commit call.waiting and settle #1";
    const { crashes, violations } = await crash("waiting", { at });

    expect({ crashes, violations }).toEqual({ crashes: [at], violations: [] });
  });

  it("has its own check, and is not crashed when that fails undisturbed", async () => {
    const { crashes, violations } = await crash("demanding");

    expect({ crashes, violations }).toEqual({ crashes: [], violations: ["undisturbed: There were 1 charges."] });
  });

  it("can name points of its own", async () => {
    const at = "before thanks #1";
    const { points, crashes } = await crash("pointed", { at });

    expect(points).toContain(at);
    expect(crashes).toEqual([at]);
  });

  it("is killed at the same points with the same seed, which stands behind what is found", async () => {
    const drawn = [];
    for (const seed of [6, 6, 16]) {
      const { crashes, violations } = await crashTest(scenarios, { scenario: "keyless", most: 1, seed });
      drawn.push(crashes.join());
      expect(violations.filter((violation) => !violation.endsWith(` (seed ${seed})`))).toEqual([]);
    }
    expect(drawn[0]).toBe(drawn[1]);
    expect(drawn[0]).not.toBe(drawn[2]);
  });

  it("has to be killed somewhere", async () => {
    for (const none of [{ at: "nowhere" }, { at: /nowhere/ }, { at: [] }, { most: 0 }]) {
      const options = { scenario: "waiting", ...none };
      await expect(crashTest(scenarios, options)).rejects.toMatchObject({ code: "invalid_argument" });
    }
  });

  it("has to come to its end undisturbed", async () => {
    const fails = (scenario: string, options: CrashTestOptions = {}) => expect(crash(scenario, options)).rejects;
    await fails("failing").toMatchObject({ code: "scenario_failed", detail: "The shop is closed." });
    await fails("endless", { patienceMs: 1_500 }).toMatchObject({ detail: "The scenario did not come to its end." });
    await fails("nothing").toMatchObject({ detail: expect.stringMatching(/^"nothing" is no scenario of file:\S+$/) });
    await fails("falling").toMatchObject({ detail: "It ended unasked (3). The floor is wet." });
    await expect(crashTest("nowhere.ts")).rejects.toMatchObject({ detail: expect.stringContaining("nowhere.ts") });
  });
});
