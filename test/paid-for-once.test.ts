// Promise: what a provider may charge for is counted, once and at its price: also when nothing came of it, when the
// answer could not be used, when it was a summary, and whatever the provider says that it used.
import { expect, it } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import type { Model } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { heldClock } from "../src/testing/held-clock.ts";
import { type Agent, type AgentDefinition, agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { withDriver } from "./changed-driver.ts";
import { eachDatabase, type World } from "./databases.ts";
import { heldModel } from "./held.ts";

const price = { input: 1, output: 10 };
const retry = { attempts: 3, backoffMs: 1 };
const used = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});

/** Answers of at most a thousand tokens, which cost one cent. */
function clerk(model: Model, more: Partial<AgentDefinition> = {}): Agent {
  return agent({ slug: "clerk", model: { model, price, maxOutputTokens: 1_000 }, retry, ...more });
}

/** A thread that draws on a budget which is enough for everything. */
async function open(world: World, made: Agent, options: Parameters<World["open"]>[1] = {}) {
  const holdfast = await world.open(made, options);
  await holdfast.budgets.set("team", { tokens: 100_000 });
  return { holdfast, thread: await holdfast.threads.open("t", { agent: "clerk", budget: "team" }) };
}

eachDatabase((newWorld, database) => {
  it("counts every attempt that had spoken before it came to nothing", async () => {
    let asked = 0;
    const model: Model = (_messages, _context, { onDelta }) => {
      asked++;
      onDelta?.({ type: "text", text: "Well, " });
      throw Object.assign(new Error("overloaded"), { status: 503 });
    };
    const { holdfast, thread } = await open(await newWorld(), clerk(model));

    const { status, cost_usd } = await thread.send("Go.");

    expect({ status, asked }).toEqual({ status: "failed", asked: 3 });
    expect(cost_usd).toBeGreaterThan(0.03);
    expect(await holdfast.budgets.get("team")).toMatchObject({ usd: { used: cost_usd }, tokens: { reserved: 0 } });
  });

  it("counts nothing for attempts that nobody heard a word of", async () => {
    const model: Model = () => {
      throw Object.assign(new Error("overloaded"), { status: 503 });
    };
    const { holdfast, thread } = await open(await newWorld(), clerk(model));

    expect(await thread.send("Go.")).toMatchObject({ status: "failed" });
    expect(await holdfast.budgets.get("team")).toMatchObject({ tokens: { used: 0, reserved: 0 } });
  });

  it("counts what was set aside for an answer that is none", async () => {
    const { holdfast, thread } = await open(
      await newWorld(),
      clerk(() => ({ content: "x", tool_calls: "no", ...used(5, 5) })),
    );

    const { failure, cost_usd } = await thread.send("Go.");

    expect(failure).toMatchObject({ code: "invalid_model_answer" });
    expect(cost_usd).toBeGreaterThan(0.01);
    expect(await holdfast.budgets.get("team")).toMatchObject({ usd: { used: cost_usd }, tokens: { reserved: 0 } });
  });

  it("counts what the model counted when the rest of the answer cannot be stored", async () => {
    const { holdfast, thread } = await open(
      await newWorld(),
      clerk(() => ({ content: "x", request_metadata: { at: 1n }, ...used(700, 30) })),
    );

    expect(await thread.send("Go.")).toMatchObject({ status: "failed", cost_usd: 0.001 });
    expect(await holdfast.budgets.get("team")).toMatchObject({ tokens: { used: 730, reserved: 0 } });
  });

  it("counts what a summary cost, and says how long it may be", async () => {
    const most: (number | undefined)[] = [];
    const model: Model = (_messages, _context, { step, maxOutputTokens }) => {
      if (step !== undefined) return says("Yes.", used(10, 1));
      most.push(maxOutputTokens);
      return says("They talked.", used(500, 1_500));
    };
    const compaction = { max_messages: 4, recent_messages: 2 };
    const { holdfast, thread } = await open(await newWorld(), clerk(model, { compaction }));

    for (const content of ["one", "two"]) await thread.send(content);
    expect(await thread.send("three")).toMatchObject({ cost_usd: (510 + 1_501 * 10) / 1e6 });

    expect(most).toEqual([2_048]);
    expect(await holdfast.budgets.get("team")).toMatchObject({ tokens: { used: 3 * 11 + 2_000, reserved: 0 } });
  });

  it.each<[string, object]>([
    ["more than there are numbers for", { total_tokens: 1e300 }],
    ["more than can be counted exactly", { total_tokens: 9_007_199_254_740_994 }],
    ["in part", { prompt_tokens: 1e300, completion_tokens: 1e300 }],
    ["without end", { total_tokens: Number.POSITIVE_INFINITY }],
    ["less than nothing", { total_tokens: -5 }],
    ["no number", { total_tokens: Number.NaN }],
  ])("does not believe a model that says it used %s, and counts what was set aside", async (_title, usage) => {
    const { holdfast, thread } = await open(
      await newWorld(),
      clerk(() => ({ content: "Done.", usage })),
    );

    expect(await thread.send("Go.")).toMatchObject({ status: "completed" });

    const { tokens } = (await holdfast.budgets.get("team")) ?? {};
    expect(tokens?.used).toBeGreaterThan(1_000);
    expect(tokens?.used).toBeLessThan(2_000);
    expect(await holdfast.budgets.list()).toHaveLength(1);
    const other = await holdfast.threads.open("other", { agent: "clerk", budget: "team" });
    expect(await other.send("And you?")).toMatchObject({ status: "completed" });
  });

  it("never counts further than there are numbers for, however dear a model is", async () => {
    const dear = { input: 1e6, output: 1e6 };
    const model = { model: () => says("Done.", used(9e7, 1e7)), price: dear, maxOutputTokens: 10 };
    const { holdfast, thread } = await open(await newWorld(), agent({ slug: "clerk", model }));

    for (const content of ["one", "two"]) await thread.send(content).catch(() => undefined);

    expect((await holdfast.budgets.get("team"))?.tokens.used).toBe(1e8);
    const other = await holdfast.threads.open("other", { agent: "clerk", budget: "team" });
    expect(await other.send("And you?")).toMatchObject({ status: "budget_exceeded", budget: "shared_tokens" });
  });

  it("ends a run whose answer was cut off by a ceiling of ours, and says how every answer ended", async () => {
    const model: Model = () => ({ ...says("Once upon", used(5, 5)), request_metadata: { finish_reason: "length" } });
    const world = await newWorld();
    const limited = agent({ slug: "limited", model: { model, price }, limits: { tokens: 2_000 } });
    const holdfast = await world.open([limited, clerk(model)]);
    const ours = await holdfast.threads.open("ours", { agent: "limited" });
    const theirs = await holdfast.threads.open("theirs", { agent: "clerk" });

    expect(await ours.send("Tell.")).toMatchObject({
      ...{ status: "budget_exceeded", completed: false, budget: "tokens", finish_reason: "length" },
      final_content: "Once upon",
    });
    expect(await theirs.send("Tell.")).toMatchObject({ status: "completed", finish_reason: "length" });
  });

  it("fails a run whose budget is gone when it wants to go on, and what was under way is still settled", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
    const { holdfast, thread } = await open(world, clerk(model, { tools: [peek] }));

    const sent = thread.send("Go.");
    const first = await next();
    await world.sql("delete from budgets returning 1");
    first.answer(callsTool("shop/peek"));

    expect(await sent).toMatchObject({ status: "failed", failure: { code: "budget_not_found" } });
    expect(await thread.calls()).toMatchObject([{ outcome: "success" }]);
    await holdfast.close();
  });

  it("ends a run whose budget is gone by the time of its last words", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const { holdfast, thread } = await open(world, clerk(model));

    const sent = thread.send("Go.");
    const last = await next();
    await world.sql("delete from budgets returning 1");
    last.answer(says("Done.", used(5, 5)));

    expect(await sent).toMatchObject({ status: "completed", final_content: "Done.", cost_usd: 0.000_055 });
    await holdfast.close();
  });

  it("fails a run whose budget goes away between the look at it and the commit that draws on it", async () => {
    const world = await newWorld();
    let tried = 0;
    const onPoint = async (point: string) => {
      if (!point.startsWith("before commit begun call_model")) return;
      if (tried++ === 0) await world.sql("delete from budgets returning 1");
    };
    const { thread } = await open(
      world,
      clerk(() => "Never asked."),
      { onPoint },
    );

    expect(await thread.send("Go.")).toMatchObject({ status: "failed", failure: { code: "budget_not_found" } });
    expect(tried).toBe(1);
  });

  it("does not try for ever, without a word, when others are always faster to draw on the budget", async () => {
    const world = await newWorld();
    const ceiling = (tokens: number) => world.sql(`update budgets set tokens = ${tokens} returning 1`);
    const backend = withDriver(world.backend, ({ all }) => ({
      async all(sql, parameters) {
        if (sql.includes("from budgets")) await ceiling(100_000);
        return await all(sql, parameters);
      },
    }));
    const onPoint = async (point: string) => {
      if (point.startsWith("before commit begun call_model")) await ceiling(1);
    };
    const told = Promise.withResolvers<unknown>();
    let asked = 0;
    const { holdfast, thread } = await open(
      world,
      clerk(() => `${++asked}`),
      { backend, onPoint, onError: told.resolve },
    );

    await thread.queueMessage("Go.");

    expect(await told.promise).toMatchObject({ message: expect.stringContaining("changed from outside") });
    await holdfast.close();
    expect(asked).toBe(0);
  });

  it("can be stopped, and closed, while the database does not tell what is left", async () => {
    const world = await newWorld();
    const away = Promise.withResolvers<void>();
    let isAway = false;
    const backend = withDriver(world.backend, ({ all }) => ({
      async all(sql, parameters) {
        if (!isAway || !sql.includes("from budgets")) return await all(sql, parameters);
        away.resolve();
        throw Object.assign(new Error("The database shuts down."), { code: "57P01" });
      },
    }));
    const { holdfast, thread } = await open(
      world,
      clerk(() => "Never asked."),
      { backend },
    );
    const other = await holdfast.threads.open("other", { agent: "clerk", budget: "team" });

    isAway = true;
    const sent = thread.send("Go.");
    await away.promise;
    await thread.stop();
    expect(await sent).toMatchObject({ status: "interrupted" });

    await other.queueMessage("Go.");
    await holdfast.close();
  });

  if (database === "sqlite") {
    const HOUR = 3_600_000;

    /** Runtimes on one file, by a clock that the test holds. */
    async function heldWorld() {
      const world = await newWorld();
      const clock = heldClock();
      const backend = "path" in world.address ? sqlite(world.address.path, { clock }) : world.backend;
      return { clock, openHeld: (made: Agent) => world.open(made, { backend }) };
    }

    it("prices the first model when the one that had taken over is gone after a deploy", async () => {
      const { clock, openHeld } = await heldWorld();
      const busy: Model = () => {
        throw new ModelFailure("model_unavailable", "Busy.", { retryAfter: 3_600 });
      };
      const refuses: Model = () => {
        throw new ModelFailure("model_refused", "No.");
      };
      const limits = { usd: 1 };
      const models = [refuses, busy].map((model) => ({ model, price }));
      const before = await openHeld(agent({ slug: "clerk", limits, model: models }));
      const begun = await before.threads.open("t", { agent: "clerk" });
      await begun.queueMessage("Go.");
      while ((await begun.status()).status !== "waiting") await new Promise(setImmediate);
      await before.close();

      let most: number | undefined;
      const model: Model = (_messages, _context, { maxOutputTokens }) => {
        most = maxOutputTokens;
        return says("Done.", used(10, 10));
      };
      const dear = { input: 1_000, output: 1_000 };
      const after = await openHeld(agent({ slug: "clerk", limits, model: { model, price: dear } }));
      const thread = await after.threads.open("t", { agent: "clerk" });
      await clock.advance(HOUR);

      expect(await thread.wait()).toMatchObject({ status: "completed", cost_usd: 0.02 });
      expect(most).toBeLessThan(1_000);
    });

    it.each([
      ["with prices", { price }],
      ["without prices", {}],
    ])("does not ask once more after a restart that came too late: %s", async (_title, priced) => {
      const { clock, openHeld } = await heldWorld();
      const { model: hanging, next } = heldModel();
      const limits = { seconds: 60 };
      const before = await openHeld(agent({ slug: "clerk", limits, model: { model: hanging, ...priced } }));
      await (await before.threads.open("t", { agent: "clerk" })).queueMessage("Go.");
      await next();
      await before.close();

      await clock.advance(HOUR);
      let asked = 0;
      const model: Model = () => `${++asked}`;
      const after = await openHeld(agent({ slug: "clerk", limits, model: { model, ...priced } }));
      const thread = await after.threads.open("t", { agent: "clerk" });

      expect(await thread.wait()).toMatchObject({ status: "budget_exceeded", budget: "wall_clock_seconds" });
      expect(asked).toBe(0);
    });
  }
});
