import { describe, expect, it, onTestFinished } from "vitest";
import { openStores } from "../../backend/sql/open-stores.ts";
import { sqlite } from "../../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../../holdfast.ts";
import { says } from "../../models/scripted/scripted-model.ts";
import { agent } from "../agent.ts";
import { createBudgets } from "./budgets.ts";

async function open() {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  const { budgets } = await openStores(driver, { keyFingerprint: "fingerprint" });
  return { budgets: createBudgets(budgets), sql: (text: string) => driver.batch([{ sql: text, params: [] }]) };
}

const unused = { used: 0, reserved: 0 };

describe("shared budgets", () => {
  it("are set and shown in tokens and dollars", async () => {
    const { budgets, sql } = await open();
    await budgets.set("team", { tokens: 1_000, usd: 0.5 });
    expect(await budgets.get("team")).toEqual({
      name: "team",
      tokens: { ceiling: 1_000, ...unused },
      usd: { ceiling: 0.5, ...unused },
    });
    await sql(`update budgets set used_tokens = 300, reserved_tokens = 50, used_nanodollars = 120000000,
      reserved_nanodollars = 1`);
    expect(await budgets.get("team")).toEqual({
      name: "team",
      tokens: { ceiling: 1_000, used: 300, reserved: 50 },
      usd: { ceiling: 0.5, used: 0.12, reserved: 0.000_000_001 },
    });
  });

  it("get other ceilings when they are set again, and lose those that are not named", async () => {
    const { budgets, sql } = await open();
    await budgets.set("team", { tokens: 1_000, usd: 0.5 });
    await sql("update budgets set used_tokens = 300");
    await budgets.set("team", { usd: 9_000_000 });
    expect(await budgets.get("team")).toEqual({
      name: "team",
      tokens: { ceiling: null, used: 300, reserved: 0 },
      usd: { ceiling: 9_000_000, ...unused },
    });
  });

  it("may only count, without a ceiling", async () => {
    const { budgets } = await open();
    await budgets.set("all", {});
    const none = { ceiling: null, ...unused };
    expect(await budgets.list()).toEqual([{ name: "all", tokens: none, usd: none }]);
    expect(await budgets.get("nobody")).toBeUndefined();
  });

  it.each<[string, unknown, unknown, RegExp]>([
    ["a name that is none", " ", { tokens: 1 }, /name must be a text/],
    ["no ceilings at all", "team", undefined, /ceilings must be a map/],
    ["a number", "team", 5, /ceilings must be a map/],
    ["a ceiling of nothing", "team", { tokens: 0 }, /^invalid_argument: tokens must be a whole number from 1\.$/],
    [
      "a ceiling that nobody can count to",
      "team",
      { usd: 1e12 },
      /^invalid_argument: usd must be a number of US dollars/,
    ],
    ["what cannot be shared", "team", { seconds: 5 }, /^invalid_argument: seconds is no limit of a shared budget\.$/],
  ])("refuse %s", async (_title, name, ceilings, problem) => {
    const { budgets } = await open();
    const set = budgets.set(name as string, ceilings as { tokens: number });
    await expect(set).rejects.toMatchObject({ code: "invalid_argument", message: expect.stringMatching(problem) });
    expect(await budgets.list()).toEqual([]);
  });

  it("are not looked for by a name that is none", async () => {
    const { budgets } = await open();
    await expect(budgets.get("")).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("an agent with limits, on a thread with a budget", () => {
  it("stops before the first of them is crossed, and says what it has cost", async () => {
    const model = () => says("Once upon a time.", { usage: { prompt_tokens: 400, completion_tokens: 60 } });
    const writer = agent({
      slug: "writer",
      model: { model, price: { input: 1, output: 10 } }, // US dollars per million tokens
      limits: { steps: 20, toolCalls: 50, tokens: 50_000, usd: 0.5, seconds: 120 },
    });
    const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [writer] });
    onTestFinished(() => holdfast.close());

    await holdfast.budgets.set("team", { usd: 0.0012 }); // for all threads that draw on it
    const thread = await holdfast.threads.open("report", { agent: "writer", budget: "team" });
    const first = await thread.send("Write the report."); // completed, cost_usd: 0.001
    const second = await thread.send("Longer, please."); // budget_exceeded: no answer of any use is left

    expect(first).toMatchObject({ status: "completed", cost_usd: 0.001 });
    expect(second).toMatchObject({ status: "budget_exceeded", budget: "shared_usd" });
    expect((await holdfast.budgets.get("team"))?.usd).toEqual({ ceiling: 0.0012, used: 0.001, reserved: 0 });
  });
});
