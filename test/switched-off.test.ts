// Promise: what an operator switches off does not run any more, in no process; nothing is lost by it, and what is switched
// on again goes on.
import { expect, it } from "vitest";
import type { Holdfast } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, onPostgres } from "./databases.ts";
import { openMortal } from "./mortal-runtime.ts";

type Shown = { readonly type: string; readonly payload: { readonly error?: string; readonly metadata?: unknown } };

async function results(holdfast: Holdfast, id: string): Promise<readonly Shown[]> {
  const messages = await (await holdfast.threads.get(id)).messages();
  return messages.map(({ message }) => message as unknown as Shown).filter(({ type }) => type === "tool_result");
}

function aShop() {
  let refunds = 0;
  const refund = tool({ name: "shop/refund", description: "Refunds.", execute: () => `refund ${++refunds}` });
  const model = scriptedModel([callsTool("shop/refund", {}), says("Done.")]);
  return { clerk: agent({ slug: "clerk", model, tools: [refund] }), refund, refunds: () => refunds };
}

eachDatabase((newWorld) => {
  it("refuses a tool that is off when it would run, tells the model, and runs it again when it is on", async () => {
    const world = await newWorld();
    const shop = aShop();
    const holdfast = await world.open(shop.clerk);
    await holdfast.switches.set("tool", "shop/refund", { off: true, reason: "Refunds twice.", by: "user:1" });
    const one = await holdfast.threads.open("one", { agent: "clerk" });
    expect(await one.send("Refund.")).toMatchObject({ status: "completed" });
    expect(shop.refunds()).toBe(0);
    const [result] = await results(holdfast, one.id);
    expect(JSON.stringify(result)).toContain("tool_switched_off");
    expect(JSON.stringify(result)).toContain("Refunds twice.");
    expect(await holdfast.switches.list()).toMatchObject([
      { kind: "tool", name: "shop/refund", off: true, reason: "Refunds twice.", set_by: "user:1" },
    ]);
    await holdfast.switches.set("tool", "shop/refund", { off: false });
    const two = await holdfast.threads.open("two", { agent: "clerk" });
    await two.send("Refund.");
    expect(shop.refunds()).toBe(1);
  });

  it("refuses a tool that was switched off while somebody was asked about it", async () => {
    const world = await newWorld();
    let refunds = 0;
    const asking = tool({
      ...{ name: "shop/refund", description: "Refunds.", actionPolicy: "preview" },
      execute: () => `refund ${++refunds}`,
    });
    const model = scriptedModel([callsTool("shop/refund", {}), says("Done.")]);
    const holdfast = await world.open(agent({ slug: "clerk", model, tools: [asking] }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const { waiting_for } = await thread.send("Refund.");
    await holdfast.switches.set("tool", "shop/refund", { off: true });
    await holdfast.requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await thread.send("Well?");
    expect(refunds).toBe(0);
    expect(JSON.stringify(await results(holdfast, thread.id))).toContain("tool_switched_off");
  });

  it("does not try a tool again that was switched off meanwhile", async () => {
    const world = await newWorld();
    let attempts = 0;
    let switchOff = async () => {};
    const flaky = tool({
      ...{ name: "shop/refund", description: "Refunds.", idempotent: true, retry: { attempts: 3, backoffMs: 1 } },
      async execute() {
        attempts++;
        await switchOff();
        throw new Error("Try again.");
      },
    });
    const model = scriptedModel([callsTool("shop/refund", {}), says("Done.")]);
    const holdfast = await world.open(agent({ slug: "clerk", model, tools: [flaky] }));
    switchOff = () => holdfast.switches.set("tool", "shop/refund", { off: true });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Refund.");
    expect(attempts).toBe(1);
  });

  it("does not begin a call again that a crash has cut off, and says that nobody knows what it did", async () => {
    const world = await newWorld();
    let attempts = 0;
    const execute = () => `refund ${++attempts}`;
    const refund = tool({ name: "shop/refund", description: "Refunds.", idempotent: true, execute });
    const model = scriptedModel([callsTool("shop/refund", {}), says("Done.")]);
    const clerk = agent({ slug: "clerk", model, tools: [refund] });
    const doomed = await openMortal(world, [clerk], (point) => point === "after effect run_tool");
    const { id } = await doomed.threads.open("t", { agent: "clerk" });
    await (await doomed.threads.get(id)).queueMessage("Refund.");
    await doomed.died;
    const operator = await world.open([]);
    await operator.switches.set("tool", "shop/refund", { off: true });
    await operator.close();
    const holdfast = await world.open(clerk);
    await (await holdfast.threads.get(id)).send("Well?");
    expect(attempts).toBe(1);
    expect(JSON.stringify(await results(holdfast, id))).toContain("outcome_unknown");
  });

  it("keeps what is sent to an agent that is off, through a restart, until it is on again", async () => {
    const world = await newWorld();
    const talker = agent({ slug: "talker", model: () => says("Hello.") });
    const other = agent({ slug: "other", model: () => says("Still here.") });
    const first = await world.open([talker, other]);
    await first.switches.set("agent", "talker", { off: true });
    const thread = await first.threads.open("t", { agent: "talker" });
    await thread.queueMessage("Hi.");
    // Nobody else waits for it.
    expect(await (await first.threads.open("o", { agent: "other" })).send("Hi.")).toMatchObject({ completed: true });
    expect(await thread.messages()).toEqual([]);
    await first.close();
    const second = await world.open([talker, other]);
    const again = await second.threads.get(thread.id);
    await (await second.threads.get(thread.id)).queueMessage("Still there?");
    expect(await again.messages()).toEqual([]);
    const answered = again.send("Hello?");
    await second.switches.set("agent", "talker", { off: false });
    expect(await answered).toMatchObject({ status: "completed", final_content: "Hello." });
  });

  it("does not ask an agent any more that is switched off in the middle of a run, and goes on from there", async () => {
    const world = await newWorld();
    let asked = 0;
    let switchOff = async () => {};
    const look = tool({ name: "shop/look", description: "Looks.", execute: () => switchOff() });
    const clerk = agent({
      ...{ slug: "clerk", tools: [look] },
      model: () => (++asked === 1 ? callsTool("shop/look", {}) : says("Done.")),
    });
    const holdfast = await world.open(clerk);
    switchOff = () => holdfast.switches.set("agent", "clerk", { off: true });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const sent = thread.send("Look.");
    const laidDown = "select lease_by from threads where lease_by is null and next_seq > 2";
    while ((await world.sql(laidDown)).length === 0) await new Promise(setImmediate);
    expect(asked).toBe(1);
    expect(await results(holdfast, thread.id)).toHaveLength(1);
    await holdfast.switches.set("agent", "clerk", { off: false });
    expect(await sent).toMatchObject({ status: "completed", final_content: "Done." });
    expect(asked).toBe(2);
  });

  it("stops a thread whose agent is off", async () => {
    const world = await newWorld();
    const holdfast = await world.open(agent({ slug: "talker", model: () => says("Hello.") }));
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await holdfast.switches.set("agent", "talker", { off: true });
    await thread.queueMessage("Hi.");
    expect(await thread.stop()).toMatchObject({ status: "stopped" });
    expect(await thread.messages()).toEqual([]);
  });

  it("refuses what is no switch", async () => {
    const world = await newWorld();
    const { switches } = await world.open([]);
    const wrong = { code: "invalid_argument" };
    await expect(switches.set("model" as never, "x", { off: true })).rejects.toMatchObject(wrong);
    await expect(switches.set("tool", " ", { off: true })).rejects.toMatchObject(wrong);
    await expect(switches.set("tool", "x", { off: "yes" } as never)).rejects.toMatchObject(wrong);
    await expect(switches.set("tool", "x", { off: true, why: "" } as never)).rejects.toMatchObject(wrong);
  });
});

onPostgres((newWorld) => {
  it("holds in another process than the one in which it was set", async () => {
    const world = await newWorld();
    const shop = aShop();
    const operator = await world.open(shop.clerk, { runs: false });
    const worker = await world.open(shop.clerk);
    const agents = (await world.stores()).switches;
    await operator.switches.set("tool", "shop/refund", { off: true });
    await operator.switches.set("agent", "clerk", { off: true });
    expect(await agents.list()).toHaveLength(2);
    const thread = await operator.threads.open("t", { agent: "clerk" });
    await operator.switches.set("agent", "clerk", { off: false });
    await thread.send("Refund.");
    expect(JSON.stringify(await results(worker, thread.id))).toContain("tool_switched_off");
    expect(shop.refunds()).toBe(0);
  });
});
