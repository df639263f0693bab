// Promise: a run stops before a limit of its own is crossed, and leaves a whole history behind; what counts as time is
// its own work.
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type HoldfastOptions } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { heldClock } from "../src/testing/held-clock.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { inShort } from "./held.ts";
import { timeUpDuring } from "./time-up.ts";

const price = { input: 1, output: 10 };
const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
const ship = tool({ name: "shop/ship", description: "Ships.", execute: () => "shipped" });
const peeks = (...numbers: number[]) => calls(...numbers.map((number) => callsTool("shop/peek", { number })));
const used = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});
const forever = () => new Promise<never>(() => {});

/** A thread of an agent with these limits. */
async function open(world: World, definition: Omit<AgentDefinition, "slug">, options: Partial<HoldfastOptions> = {}) {
  const { threads, requests } = await world.open(agent({ slug: "shop", tools: [peek, ship], ...definition }), options);
  return { thread: await threads.open("t", { agent: "shop" }), requests };
}

const history = async (thread: ThreadHandle) => inShort((await thread.messages()).map(({ message }) => message));

eachDatabase((newWorld) => {
  it("answers as often as its steps allow, and not once more", async () => {
    let asked = 0;
    const model: Model = () => peeks(asked++);
    const { thread } = await open(await newWorld(), { model, limits: { steps: 3 } });

    expect(await thread.send("Look.")).toMatchObject({ status: "budget_exceeded", budget: "turns", turn_count: 3 });

    expect(asked).toBe(3);
    expect((await history(thread)).filter((line) => line === 'result shop/peek: "seen"')).toHaveLength(3);
  });

  it.each<[string, AgentDefinition["limits"], string]>([
    ["of all tools together", { toolCalls: 2 }, "tool_calls"],
    ["of one tool", { perTool: { "shop/peek": 2 } }, "tool_calls_shop/peek"],
  ])(
    "makes as many calls %s as it may; the rest of the answer is told that it was not begun",
    async (_t, limits, name) => {
      let looked = 0;
      const counting = tool({ name: "shop/peek", description: "Looks.", execute: () => ++looked });
      const model = scriptedModel([
        calls(callsTool("shop/ship"), peeks(1)),
        calls(peeks(2, 3), callsTool("shop/ship")),
      ]);
      const { thread } = await open(await newWorld(), { model, tools: [counting, ship], limits: limits ?? {} });

      expect(await thread.send("Look.")).toMatchObject({ status: "budget_exceeded", budget: name, completed: false });

      const lines = await history(thread);
      expect(looked).toBe(name === "tool_calls" ? 1 : 2);
      expect(lines.filter((line) => line.startsWith("call"))).toHaveLength(
        lines.filter((line) => line.startsWith("result")).length,
      );
      expect(lines.at(-1)).toBe(name === "tool_calls" ? "result shop/peek: 1" : "result shop/ship: cancelled");
    },
  );

  it("asks for shorter answers the less is left, and ends before a ceiling is crossed", async () => {
    const most: (number | undefined)[] = [];
    const model: Model = (_messages, _context, { maxOutputTokens = 0 }) => {
      most.push(maxOutputTokens);
      return { ...peeks(most.length), ...used(100, Math.min(60, maxOutputTokens)) };
    };
    const { thread } = await open(await newWorld(), { model: { model, price }, limits: { tokens: 1_200, usd: 0.01 } });

    const { usage, cost_usd, ...outcome } = await thread.send("Look.");

    expect(outcome).toMatchObject({ status: "budget_exceeded", budget: expect.stringMatching(/^(tokens|usd)$/) });
    expect(most.length).toBeGreaterThan(2);
    expect(most).toEqual(most.toSorted((a = 0, b = 0) => b - a));
    for (const each of most) expect(each).toSatisfy((tokens: number) => tokens >= 32 && tokens < 1_000);
    expect(usage.total_tokens).toBeLessThanOrEqual(1_200);
    expect(cost_usd).toBeLessThanOrEqual(0.01);
    const { prompt_tokens, completion_tokens } = usage;
    expect(cost_usd).toBeCloseTo((Number(prompt_tokens) + Number(completion_tokens) * 10) / 1e6, 9);
    // Every run has limits of its own.
    expect(await thread.send("Again.")).toMatchObject({ turn_count: expect.any(Number), status: "budget_exceeded" });
  });

  it.each<[string, () => unknown]>([
    ["says nothing of what it used", () => "Yes."],
    [
      "broke off after it had spoken",
      () => Promise.reject(new ModelFailure("model_refused", "No.", { hasSpoken: true })),
    ],
    ["gives an answer that cannot be used", () => ({ content: 5 })],
  ])("counts all that was set aside for a model that %s", async (_title, answer) => {
    const { thread } = await open(await newWorld(), { model: { model: answer, price, maxOutputTokens: 1_000 } });

    const { cost_usd } = await thread.send("Go.");

    expect(cost_usd).toBeGreaterThan(0.01);
    expect(cost_usd).toBeLessThan(0.011);
  });

  it("cuts off a model that does not answer when its time is up, and counts what it may cost", async () => {
    const world = await newWorld();
    const model = { model: forever, price, maxOutputTokens: 1_000 };
    const { thread } = await open(world, { model, limits: { seconds: 60 } }, timeUpDuring("call_model", world));

    expect(await thread.send("Go.")).toMatchObject({
      status: "budget_exceeded",
      budget: "wall_clock_seconds",
      cost_usd: expect.closeTo(0.0102, 3),
    });
  });

  it("asks nobody to take over when its time is up", async () => {
    const world = await newWorld();
    let others = 0;
    const model = [forever, () => `${++others}`];
    const { thread } = await open(world, { model, limits: { seconds: 60 } }, timeUpDuring("call_model", world));

    expect(await thread.send("Go.")).toMatchObject({ status: "budget_exceeded", budget: "wall_clock_seconds" });
    expect(others).toBe(0);
  });

  it("cuts off a tool that does not answer when its time is up, and the rest of the answer is not begun", async () => {
    const world = await newWorld();
    let isTold = false;
    const stuck = tool({
      name: "shop/stuck",
      description: "Hangs.",
      execute: (_input, { signal }) => {
        signal.addEventListener("abort", () => {
          isTold = true;
        });
        return forever();
      },
    });
    const model = scriptedModel([calls(callsTool("shop/stuck"), callsTool("shop/peek")), says("Never said.")]);
    const definition = { model, tools: [stuck, peek], limits: { seconds: 60 } };
    const { thread } = await open(world, definition, timeUpDuring("run_tool", world));

    expect(await thread.send("Go.")).toMatchObject({ status: "budget_exceeded", budget: "wall_clock_seconds" });

    expect(isTold).toBe(true);
    expect(await history(thread)).toEqual([
      ...["user: Go.", "call shop/stuck", "result shop/stuck: timeout"],
      ...["call shop/peek", "result shop/peek: cancelled"],
    ]);
  });

  it("waits no longer for a busy provider than its time lasts", async () => {
    const model = () => Promise.reject(new ModelFailure("model_unavailable", "Busy.", { retryAfter: 3_600 }));
    const { thread } = await open(await newWorld(), { model, limits: { seconds: 1 } });

    expect(await thread.send("Go.")).toMatchObject({ status: "budget_exceeded", budget: "wall_clock_seconds" });
  });

  it("has no limit on a tool that there is not, which would limit nothing", () => {
    const limits = { perTool: { "shop/peck": 1 } };
    expect(() => agent({ slug: "shop", model: () => "", tools: [peek], limits })).toThrow(
      expect.objectContaining({ code: "invalid_agent", message: expect.stringContaining("shop/peck") }),
    );
  });

  it("refuses to start with a limit in dollars on a model without a price", async () => {
    const world = await newWorld();
    const unpriced = agent({ slug: "shop", model: [{ model: () => "", price }, () => ""], limits: { usd: 1 } });
    await expect(world.open(unpriced)).rejects.toMatchObject({ code: "model_price_missing" });
  });
});

describe("the time of a run", () => {
  const HOUR = 3_600_000;

  /** By a clock that the test holds. */
  async function openHeld(definition: Omit<AgentDefinition, "slug">) {
    const clock = heldClock();
    const errors: unknown[] = [];
    const { threads, requests, close } = await createHoldfast({
      ...{ backend: sqlite(":memory:", { clock }), verifies: true, pollMs: 60_000 },
      agents: [agent({ slug: "shop", ...definition })],
      onError: (error) => errors.push(error),
    });
    onTestFinished(async () => {
      await close();
      expect(errors).toEqual([]);
    });
    return { clock, requests, thread: await threads.open("t", { agent: "shop" }) };
  }

  const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
  const limits = { seconds: 60 };

  it("does not pass while it waits for somebody to decide, or to bring a result", async () => {
    const client = tool({ name: "client/ring", description: "Rings." });
    const model = scriptedModel([calls(callsTool("shop/pay"), callsTool("client/ring")), says("Done.")]);
    const { clock, thread, requests } = await openHeld({ model, tools: [pay, client], limits });

    const asked = await thread.send("Pay.");
    await clock.advance(HOUR);
    await requests.submit(asked.waiting_for?.request_id ?? "", { decision: "accepted" });
    const rung = await thread.wait();
    expect(rung).toMatchObject({ status: "runtime_tool_pending" });
    await clock.advance(HOUR);
    await requests.submit(rung?.waiting_for?.request_id ?? "", { result: "rung" });

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Done." });
  });

  it("passes while its own work goes on, wherever that takes it", async () => {
    let clock: ReturnType<typeof heldClock> | undefined;
    const slow = tool({ name: "shop/slow", description: "Takes its time.", execute: () => clock?.advance(61_000) });
    const model = scriptedModel([calls(callsTool("shop/slow"), callsTool("shop/pay")), says("Never said.")]);
    const opened = await openHeld({ model, tools: [slow, pay], limits });
    clock = opened.clock;

    expect(await opened.thread.send("Go.")).toMatchObject({
      status: "budget_exceeded",
      budget: "wall_clock_seconds",
      turn_count: 1,
    });
    expect(await history(opened.thread)).toEqual([
      ...["user: Go.", "call shop/slow", "result shop/slow: []", "call shop/pay", "result shop/pay: cancelled"],
    ]);
  });

  it("begins anew with every run", async () => {
    const { clock, thread } = await openHeld({ model: () => "Yes.", limits });
    for (const content of ["one", "two", "three"]) {
      expect(await thread.send(content)).toMatchObject({ status: "completed" });
      await clock.advance(HOUR);
    }
  });
});
