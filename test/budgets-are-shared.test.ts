// Promise: threads that draw on one budget never spend the same money twice, and what one of them does not use, or dies
// with, is settled for all.
import { expect, it } from "vitest";
import type { Holdfast } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import { startProcess } from "./another-process.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel, heldTool } from "./held.ts";

const dyingRuntime = import.meta.resolve("./dying-runtime.ts");
const price = { input: 1, output: 10 };

/** Answers of at most ten tokens: there is nothing to shorten about them. */
function clerk(model: Model, more: Partial<AgentDefinition> = {}) {
  return agent({ slug: "clerk", model: { model, price, maxOutputTokens: 10 }, ...more });
}

const used = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});

async function drawn({ budgets }: Holdfast) {
  const { tokens, usd } = (await budgets.get("team")) ?? {};
  return {
    tokens: { used: tokens?.used, reserved: tokens?.reserved },
    usd: { used: usd?.used, reserved: usd?.reserved },
  };
}

/** What one call sets aside when "Go." is all that was said. */
async function reservationOf(holdfast: Holdfast, asked: ReturnType<typeof heldModel>["next"]): Promise<number> {
  await holdfast.budgets.set("team", {});
  const thread = await holdfast.threads.open("first", { agent: "clerk", budget: "team" });
  const sent = thread.send("Go.");
  const first = await asked();
  const reserved = (await holdfast.budgets.get("team"))?.tokens.reserved ?? 0;
  first.answer(says("Done.", used(0, 1)));
  await sent;
  return reserved;
}

eachDatabase((newWorld) => {
  it("give the last of it to as many as it is enough for, and to nobody else", async () => {
    const world = await newWorld();
    const { model, next: asked, count } = heldModel();
    const holdfast = await world.open(clerk(model));
    const reserved = await reservationOf(holdfast, asked);
    await holdfast.budgets.set("team", { tokens: 1 + 4 * reserved - 1 });

    const threads = await Promise.all(
      Array.from({ length: 8 }, (_, index) => holdfast.threads.open(`t${index}`, { agent: "clerk", budget: "team" })),
    );
    const sent = threads.map((thread) => thread.send("Go."));
    const lucky = [await asked(), await asked(), await asked()];
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 1, reserved: 3 * reserved } });
    for (const each of lucky) each.answer(says("Done.", used(reserved - 10, 10)));
    const outcomes = await Promise.all(sent);

    expect(count()).toBe(0);
    expect(outcomes.filter(({ status }) => status === "completed")).toHaveLength(3);
    const others = outcomes.filter(({ status }) => status !== "completed");
    expect(others).toHaveLength(5);
    for (const other of others) expect(other).toMatchObject({ status: "budget_exceeded", budget: "shared_tokens" });
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 1 + 3 * reserved, reserved: 0 } });
  });

  it("give back what an answer did not need, to whoever comes next", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const holdfast = await world.open(clerk(model));
    const reserved = await reservationOf(holdfast, asked);
    await holdfast.budgets.set("team", { tokens: 1 + reserved + 5, usd: 1 });
    const [one, two] = await Promise.all(
      ["one", "two"].map((key) => holdfast.threads.open(key, { agent: "clerk", budget: "team" })),
    );

    const sent = one?.send("Go.");
    const first = await asked();
    expect(await two?.send("Go.")).toMatchObject({ status: "budget_exceeded", budget: "shared_tokens" });
    first.answer(says("Done.", used(2, 3)));
    expect(await sent).toMatchObject({ status: "completed", cost_usd: 0.000_032 });
    const again = two?.continue();
    (await asked()).answer(says("Me too.", used(4, 1)));

    expect(await again).toMatchObject({ status: "completed" });
    expect(await drawn(holdfast)).toEqual({
      tokens: { used: 11, reserved: 0 },
      usd: { used: 0.000_056, reserved: 0 },
    });
  });

  it("count everything that a killed process had set aside, once somebody goes on", async () => {
    const world = await newWorld();
    const before = await world.open(clerk(() => "never asked"));
    await before.budgets.set("team", { tokens: 100_000 });
    const { id } = await before.threads.open("t", { agent: "clerk", budget: "team" });
    await before.close();

    const given = { key: "t", diesInModel: true, leaseMs: 600_000 };
    expect(await startProcess(world, dyingRuntime, given).ended).toMatchObject({ signal: "SIGKILL" });
    const [row] = await world.sql("select used_tokens, reserved_tokens from budgets");
    const lost = Number(row?.reserved_tokens);
    expect(lost).toBeGreaterThan(4_096);
    expect(Number(row?.used_tokens)).toBe(0);

    const holdfast = await world.open(clerk(() => says("Here I am.", used(5, 5))));
    const thread = await holdfast.threads.get(id);
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Here I am." });
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: lost + 10, reserved: 0 } });
  });

  it("count what is under way when a thread is stopped, and nothing when it had not begun", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { tool, next: called } = heldTool({ name: "shop/wait" });
    const holdfast = await world.open(clerk(model, { tools: [tool] }));
    await holdfast.budgets.set("team", { usd: 1 });
    const thread = await holdfast.threads.open("t", { agent: "clerk", budget: "team" });

    const sent = thread.send("Go.");
    await asked();
    const { tokens } = await drawn(holdfast);
    await thread.stop();
    expect(await sent).toMatchObject({ status: "interrupted", cost_usd: expect.any(Number) });
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: tokens.reserved, reserved: 0 } });

    const again = thread.send("Go on.");
    (await asked()).answer({ ...callsTool("shop/wait"), ...used(1, 1) });
    await called();
    await thread.stop();
    await again;
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: (tokens.reserved ?? 0) + 2, reserved: 0 } });
  });

  it("count all that was set aside when a thread is deleted in the middle of a call", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const holdfast = await world.open(clerk(model));
    const reserved = await reservationOf(holdfast, asked);
    await holdfast.budgets.set("team", { tokens: 1 + 2 * reserved });
    const thread = await holdfast.threads.open("t", { agent: "clerk", budget: "team" });
    await thread.queueMessage("Go.");
    const { answer } = await asked();

    await holdfast.threads.delete(thread.id);
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 1 + reserved, reserved: 0 } });
    answer(says("Too late.", used(1, 1)));

    const next = (await holdfast.threads.open("t", { agent: "clerk", budget: "team" })).send("Go.");
    (await asked()).answer(says("In time.", used(1, 1)));
    expect(await next).toMatchObject({ status: "completed" });
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 3 + reserved, reserved: 0 } });
  });

  it.each(["retry", "terminate", "delete"] as const)(
    "keep what a stuck thread had set aside, and count it all after %s",
    async (how) => {
      const world = await newWorld();
      const before = await world.open(clerk(() => "never asked"));
      await before.budgets.set("team", { tokens: 100_000 });
      const { id } = await before.threads.open("t", { agent: "clerk", budget: "team" });
      await before.close();
      const given = { key: "t", diesInModel: true, leaseMs: 600_000 };
      await startProcess(world, dyingRuntime, given).ended;
      await world.sql("update threads set stuck_at = 1, lease_by = null, lease_until = 0");

      const holdfast = await world.open(clerk(() => says("Here I am.", used(5, 5))));
      const { tokens } = await drawn(holdfast);
      expect(tokens).toEqual({ used: 0, reserved: expect.any(Number) });
      const thread = await holdfast.threads.get(id);
      await expect(thread.wait()).rejects.toMatchObject({ code: "thread_stuck" });
      if (how === "terminate") await thread.terminate();
      else await holdfast.threads[how](id);
      if (how === "retry") expect(await thread.wait()).toMatchObject({ status: "completed" });

      const spent = (tokens.reserved ?? 0) + (how === "retry" ? 10 : 0);
      expect(await drawn(holdfast)).toMatchObject({ tokens: { used: spent, reserved: 0 } });
    },
  );

  it("are not drawn on by a call that a closing process leaves to others", async () => {
    const world = await newWorld();
    const { tool, next: called } = heldTool({ name: "shop/wait" });
    const script = [{ ...callsTool("shop/wait"), ...used(1, 1) }, says("Done.", used(2, 2))];
    const agents = () => clerk(scriptedModel(script) as Model, { tools: [tool] });
    const before = await world.open(agents(), { drainMs: 30_000 });
    await before.budgets.set("team", { tokens: 100_000 });
    const { id, queueMessage } = await before.threads.open("t", { agent: "clerk", budget: "team" });
    await queueMessage("Go.");
    const waiting = await called();
    const closed = before.close();
    waiting.answer("waited");
    await closed;
    const [row] = await world.sql("select used_tokens, reserved_tokens from budgets");
    expect([Number(row?.used_tokens), Number(row?.reserved_tokens)]).toEqual([2, 0]);

    const holdfast = await world.open(agents());
    expect(await (await holdfast.threads.get(id)).wait()).toMatchObject({ status: "completed" });
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 6, reserved: 0 } });
  });

  it("do without a summary when there is too little left for it", async () => {
    const world = await newWorld();
    const compaction = { max_messages: 2, recent_messages: 1 };
    const holdfast = await world.open(clerk(() => says("Yes.", used(5, 5)), { compaction }));
    await holdfast.budgets.set("team", { tokens: 1_000 });
    const thread = await holdfast.threads.open("t", { agent: "clerk", budget: "team" });

    for (const content of ["one", "two", "three"]) {
      expect(await thread.send(content)).toMatchObject({ status: "completed" });
    }

    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 30, reserved: 0 } });
    expect((await thread.export()).events.every(({ summary_seq }) => summary_seq === null)).toBe(true);
    await holdfast.budgets.set("team", { tokens: 100_000 });
    expect(await thread.send("four")).toMatchObject({ status: "completed" });
    expect((await thread.export()).events.some(({ summary_seq }) => summary_seq !== null)).toBe(true);
  });

  it("stay with a thread for good, and with its forks", async () => {
    const world = await newWorld();
    const holdfast = await world.open(clerk(() => says("Yes.", used(5, 5))));
    const { threads, budgets } = holdfast;
    await expect(threads.open("t", { agent: "clerk", budget: "team" })).rejects.toMatchObject({
      code: "budget_not_found",
    });
    await budgets.set("team", { tokens: 100_000 });
    await budgets.set("others", {});
    const thread = await threads.open("t", { agent: "clerk", budget: "team" });
    await thread.send("Go.");

    const fork = await thread.fork("fork");
    await fork.send("Go on.");
    await (await threads.open("t", { agent: "clerk" })).send("And on.");

    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 30, reserved: 0 } });
    for (const [key, budget] of [
      ["t", "others"],
      ["fork", "others"],
    ] as const) {
      await expect(threads.open(key, { agent: "clerk", budget })).rejects.toMatchObject({ code: "thread_key_taken" });
    }
    await threads.open("alone", { agent: "clerk" });
    await expect(threads.open("alone", { agent: "clerk", budget: "team" })).rejects.toMatchObject({
      code: "thread_key_taken",
    });
  });

  it("cannot be counted in dollars for a model without a price", async () => {
    const world = await newWorld();
    const free = agent({ slug: "free", model: () => says("Yes.", used(5, 5)) });
    const holdfast = await world.open(free);
    await holdfast.budgets.set("team", { usd: 1 });
    const thread = await holdfast.threads.open("t", { agent: "free", budget: "team" });

    expect(await thread.send("Go.")).toMatchObject({ status: "failed", failure: { code: "model_price_missing" } });

    await holdfast.budgets.set("team", { tokens: 100_000 });
    expect(await thread.send("Go.")).toMatchObject({ status: "completed" });
    expect(await drawn(holdfast)).toMatchObject({ tokens: { used: 10, reserved: 0 } });
  });
});
