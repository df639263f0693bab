// Promise: what an earlier version has laid down, a later one goes on with, though it knows of more than was stored.
import { expect, it } from "vitest";
import type { Model } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";

/** What the state of a run has held since costs, waits and the form of answers are counted. */
const NEW_FIELDS = ["spent", "reserved", "waited", "parked_at", "repairs"];

/** Makes the state of the only thread what an earlier version would have written. */
async function makeOld(world: World): Promise<void> {
  const [row] = await world.sql("select state from threads");
  const state = JSON.parse(String(row?.state)) as Record<string, unknown>;
  for (const field of NEW_FIELDS) {
    expect(state).toHaveProperty(field);
    delete state[field];
  }
  const { postponed } = state as { postponed: Record<string, unknown> | null };
  if (postponed) delete postponed.model;
  const text = JSON.stringify(state).replaceAll("'", "''");
  await world.sql(`update threads set state = '${text}' returning 1`);
}

/** The old records lead to fields that the old state does not have: comparing the two is of no use here. */
const unverified = { verifies: false };

const used = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });

const versions: readonly [string, Partial<AgentDefinition>][] = [
  ["counts nothing", {}],
  ["limits what it uses", { limits: { tokens: 100_000, seconds: 60, toolCalls: 5 } }],
];

eachDatabase((newWorld) => {
  it.each(versions)(
    "goes on after an approval that an earlier version asked for, in one that %s",
    async (_title, more) => {
      const world = await newWorld();
      const model = scriptedModel([callsTool("shop/pay"), says("Paid.", { usage: used })]) as Model;
      const clerk = (own: Partial<AgentDefinition> = {}) => agent({ slug: "clerk", model, tools: [pay], ...own });
      const before = await world.open(clerk());
      const thread = await before.threads.open("t", { agent: "clerk" });
      const { waiting_for } = await thread.send("Pay.");
      await before.close();
      await makeOld(world);

      const { threads, requests } = await world.open(clerk(more), unverified);
      const waiting = await threads.get(thread.id);
      expect(await waiting.wait()).toMatchObject({ status: "approval_required" });
      await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });

      expect(await waiting.wait()).toMatchObject({ status: "completed", final_content: "Paid." });
    },
  );

  it.each(versions)("asks a model again that an earlier version had put off, in one that %s", async (_title, more) => {
    const world = await newWorld();
    const asked: string[] = [];
    const failing: Model = () => {
      asked.push("failing");
      throw new ModelFailure("model_unavailable", "Busy.");
    };
    const ready = (name: string): Model => {
      return () => {
        asked.push(name);
        return says("Here I am.", { usage: used });
      };
    };
    const retry = { backoffMs: 3_600_000, mostMs: 3_600_000 };
    const before = await world.open(agent({ slug: "clerk", model: failing, retry }));
    const thread = await before.threads.open("t", { agent: "clerk" });
    await thread.queueMessage("Go.");
    while ((await thread.status()).status !== "waiting") await new Promise(setImmediate);
    await before.close();
    await makeOld(world);
    // The hour is over.
    const [row] = await world.sql("select state from threads");
    const state = JSON.parse(String(row?.state));
    const text = JSON.stringify({ ...state, postponed: { ...state.postponed, until: 0 } });
    await world.sql(`update threads set state = '${text}', due_at = 0 returning 1`);

    const model = [ready("first"), ready("second")];
    const { threads } = await world.open(agent({ slug: "clerk", model, ...more }), unverified);

    expect(await (await threads.get(thread.id)).wait()).toMatchObject({
      status: "completed",
      final_content: "Here I am.",
    });
    expect(asked).toEqual(["failing", "first"]);
  });
});
