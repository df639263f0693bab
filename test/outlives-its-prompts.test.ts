// Promise: a thread outlives the prompts of its agent. A version that has dropped the one that was speaking ends the run,
// with a result for every call and a reason, and goes on with what there still is.
import { expect, it } from "vitest";
import type { Holdfast } from "../src/holdfast.ts";
import { calls, callsTool } from "../src/models/scripted/scripted-model.ts";
import type { Agent } from "../src/threads/agent.ts";
import { prompt } from "../src/threads/definitions/define-prompt.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { type Tool, tool } from "../src/threads/tool.ts";
import { withDriver } from "./changed-driver.ts";
import { eachDatabase, type World } from "./databases.ts";
import { heldTool, inShort } from "./held.ts";
import { helperOf, pairOf } from "./standard-agents/open-agents.ts";
import { talker } from "./standard-agents/talker.ts";

const pay = tool({ name: "pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
const wink = tool({ name: "client/wink", description: "Winks." });
const look = tool({ name: "look", description: "Looks.", execute: () => "seen" });

/** A helper that lets a cashier speak for a call, and who calls these tools; or one that does without it. */
function helper(...within: readonly Tool[]): Agent {
  const model = talker(calls(...within.map(({ name }) => callsTool(name.replace("standard/", ""))))).model;
  const cashier = prompt({ name: "cashier", prompt: "You pay.", toolDescription: "Pays.", model, tools: within });
  const outer = calls(callsTool("cashier"), callsTool("look"));
  return helperOf({ model: talker(outer, "Done.").model, tools: [cashier, look] });
}

const without = () => helperOf({ model: talker("Here I am.", "Still here.").model, tools: [look] });

/** A thread whose call waits within the cashier's. */
async function parked(world: World, agent: Agent) {
  const before = await world.open(agent);
  const thread = await before.threads.open("t", { agent: agent.slug });
  const { waiting_for } = await thread.send("Pay.");
  await before.close();
  if (!waiting_for) throw new Error("Nothing is waited for.");
  return { id: thread.id, requestId: waiting_for.request_id };
}

/** Every call that there is, with its results, at every depth. */
async function resultsOf(thread: ThreadHandle, world: World): Promise<readonly string[]> {
  const rows = await world.sql(`select envelope from messages where thread_id = '${thread.id}' order by seq`);
  const all = rows.map(({ envelope }) => JSON.parse(String(envelope)));
  return inShort(all).filter((line) => line.startsWith("call ") || line.startsWith("result "));
}

const failed = { status: "failed", completed: false, failure: { code: "prompt_not_found" } };
const told = [expect.objectContaining({ code: "prompt_not_found" })];

async function isUsable({ threads }: Holdfast, id: string): Promise<void> {
  const thread = await threads.get(id);
  expect(await thread.send("Are you there?")).toMatchObject({ status: "completed", final_content: "Still here." });
}

eachDatabase((newWorld) => {
  it("ends the run with a reason when its approval is decided, with one result for every call", async () => {
    const world = await newWorld();
    const { id, requestId } = await parked(world, helper(pay, look));

    const now = await world.open(without());
    const thread = await now.threads.get(id);
    const outdated = now.requests.submit(requestId, { decision: "accepted" });
    await expect(outdated).rejects.toMatchObject({ code: "approval_outdated" });
    await now.requests.submit(requestId, { decision: "rejected" });

    expect(await thread.wait()).toMatchObject(failed);
    expect(world.takeErrors()).toEqual(told);
    expect(await resultsOf(thread, world)).toEqual([
      ...["call cashier", "call pay", "result pay: approval_rejected", "call look", "result look: cancelled"],
      ...["result cashier: cancelled", "call look", "result look: cancelled"],
    ]);
    expect(await now.requests.list({ status: "pending" })).toEqual([]);
    const { sentence } = await now.threads.diagnose(id);
    expect(sentence).toContain('There is no prompt "cashier" any more');
    expect(await thread.send("Hello?")).toMatchObject({ status: "completed", final_content: "Here I am." });
    await isUsable(now, id);
  });

  it("ends the run as soon as somebody writes, and answers", async () => {
    const world = await newWorld();
    const { id, requestId } = await parked(world, helper(pay));

    const now = await world.open(without());
    const thread = await now.threads.get(id);

    await thread.queueMessage("Never mind.");
    while ((await thread.runs()).length < 2) await new Promise(setImmediate);

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Here I am." });
    expect(world.takeErrors()).toEqual(told);
    expect((await now.requests.get(requestId)).status).toBe("cancelled");
    expect(await thread.runs()).toMatchObject([{ outcome: failed }, { outcome: { status: "completed" } }]);
    await isUsable(now, id);
  });

  it("keeps the result that a client brings for the call", async () => {
    const world = await newWorld();
    const { id, requestId } = await parked(world, helper(wink));

    const now = await world.open(without());
    await now.requests.submit(requestId, { result: "winked" });
    const thread = await now.threads.get(id);

    expect(await thread.wait()).toMatchObject(failed);
    expect(world.takeErrors()).toEqual(told);
    expect(await resultsOf(thread, world)).toContain('result client/wink: "winked"');
    expect(await resultsOf(thread, world)).toContain("result cashier: cancelled");
  });

  it("keeps the result of a tool that was at work meanwhile", async () => {
    const world = await newWorld();
    const { tool: held, next } = heldTool({ name: "hold" });
    const before = await world.open(helper(held), { drainMs: 10 });
    const { id } = await before.threads.open("t", { agent: "helper" });
    await (await before.threads.get(id)).queueMessage("Pay.");
    const call = await next();
    await before.close();

    const isTaken = Promise.withResolvers<void>();
    const backend = withDriver(world.backend, ({ all }) => ({
      async all(sql, params) {
        const rows = await all(sql, params);
        // The last that is read of a thread before it is gone on with.
        if (sql.includes("from inbox") && params?.includes(id)) setImmediate(isTaken.resolve);
        return rows;
      },
    }));
    const now = await world.open(without(), { backend });
    await isTaken.promise;
    call.answer("held");
    const thread = await now.threads.get(id);

    expect(await thread.wait()).toMatchObject(failed);
    expect(world.takeErrors()).toEqual(told);
    expect(await resultsOf(thread, world)).toContain('result hold: "held"');
  });

  it("can be stopped and terminated", async () => {
    const world = await newWorld();
    const { id } = await parked(world, helper(wink));

    const now = await world.open(without());
    const thread = await now.threads.get(id);

    expect((await thread.stop()).status).toBe("stopped");
    expect(await thread.wait()).toMatchObject({ status: "interrupted" });
    expect((await resultsOf(thread, world)).slice(0, 4)).toEqual([
      ...["call cashier", "call client/wink", "result client/wink: outcome_unknown", "result cashier: cancelled"],
    ]);
    expect((await thread.terminate()).status).toBe("terminated");
  });

  it("can be terminated while its call waits", async () => {
    const world = await newWorld();
    const { id } = await parked(world, helper(pay));

    const now = await world.open(without());

    expect((await (await now.threads.get(id)).terminate()).status).toBe("terminated");
  });

  it("goes on with one side when the other is not there any more", async () => {
    const world = await newWorld();
    const writer = { model: talker("A draft.", "Still here.", "Still here.").model };
    const critic = { model: talker(callsTool("pay"), "Never.").model, tools: [pay] };
    const { id, requestId } = await parked(world, pairOf(writer, critic, { maxSessionTurns: 4 }));

    const alone = helperOf(writer, { name: "pair" });
    const now = await world.open(alone);
    await now.requests.submit(requestId, { decision: "rejected" });
    const thread = await now.threads.get(id);

    expect(await thread.wait()).toMatchObject(failed);
    expect(world.takeErrors()).toEqual(told);
    expect(await resultsOf(thread, world)).toEqual(["call pay", "result pay: approval_rejected"]);
    await isUsable(now, id);
  });
});
