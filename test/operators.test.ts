// Promise: whoever operates a runtime sees how it stands and can do something about it, and nobody else can.
import { expect, it } from "vitest";
import * as principals from "../src/contracts/trust/principal.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

const operator = principals.userSession(1, "clerk");
const user = principals.userSession(2, "clerk");
const trust = { administrators: [1] };

const talker = agent({ slug: "talker", model: () => says("Hello.") });

function refunding(parts: object) {
  const refund = tool({ name: "shop/refund", description: "Refunds.", execute: () => "refunded", ...parts });
  return agent({ slug: "clerk", model: scriptedModel([callsTool("shop/refund", {}), says("Done.")]), tools: [refund] });
}

const call = ({ abilities }: Holdfast, name: string, input: object = {}, principal = operator) =>
  abilities.call(name, input, { principal, door: "cli" });

const nothing = {
  threads: { idle: 0, running: 0, waiting: 0, stopped: 0, terminated: 0, stuck: 0 },
  ...{ oldest_due_age_ms: 0, oldest_approval_age_ms: 0, unknown_calls: 0, pending_requests: 0, pending_approvals: 0 },
  ...{ inbox_depth: 0, workers: 1, running_here: 0 },
  ...{ takeovers: 0, lost_leases: 0, refused_commits: 0, overtaken_commits: 0, workflow_steps: 0 },
  ...{ workflow_runs: {}, workflow_runs_due: 0, workflow_runs_overdue: 0, workflow_oldest_due_ms: 0 },
  ...{ workflow_runs_stuck: 0, workflow_runs_with_problems: 0, workflow_unknown_steps: 0, workflow_runs_here: 0 },
};

eachDatabase((newWorld) => {
  it("sees in numbers how everything stands", async () => {
    const world = await newWorld();
    const holdfast = await world.open([talker, refunding({ actionPolicy: "preview" })], { trust });
    expect(await call(holdfast, "holdfast/metrics")).toEqual(nothing);
    const asking = await holdfast.threads.open("asking", { agent: "clerk" });
    await asking.send("Refund.");
    const stopped = await holdfast.threads.open("stopped", { agent: "talker" });
    await stopped.send("Hi.");
    await stopped.stop();
    await stopped.queueTool("shop/refund", {});
    await world.sql("update requests set created_at = created_at - 60000000");
    const metrics = await holdfast.metrics();
    expect(metrics).toEqual({
      ...nothing,
      threads: { ...nothing.threads, waiting: 1, stopped: 1 },
      ...{ pending_requests: 1, pending_approvals: 1, inbox_depth: 1, oldest_approval_age_ms: expect.any(Number) },
    });
    expect(metrics.oldest_approval_age_ms).toBeGreaterThanOrEqual(60_000);
  });

  it("sees how long work waits that nobody takes", async () => {
    const world = await newWorld();
    const holdfast = await world.open(talker, { runs: false });
    await (await holdfast.threads.open("t", { agent: "talker" })).queueMessage("Hi.");
    await world.sql("update threads set due_at = due_at - 60000000");
    const metrics = await holdfast.metrics();
    expect(metrics).toMatchObject({ workers: 0, inbox_depth: 1, threads: { idle: 1 } });
    expect(metrics.oldest_due_age_ms).toBeGreaterThanOrEqual(60_000);
  });

  it("sees what was taken over from others, and which commits were refused", async () => {
    const world = await newWorld();
    const first = await world.open(talker, { runs: false });
    const thread = await first.threads.open("t", { agent: "talker" });
    await thread.queueMessage("Hi.");
    await first.close();
    await world.sql("insert into workers (id, started_at, seen_at) values ('gone', 1, 1)");
    await world.sql("update threads set lease_by = 'gone', lease_until = 4102444800000000");
    let steal = async () => {};
    const slow = refunding({ idempotent: true, execute: () => steal().then(() => "refunded") });
    const holdfast = await world.open([talker, slow]);
    await (await holdfast.threads.get(thread.id)).send("Hello?");
    expect(await holdfast.metrics()).toMatchObject({ takeovers: 1, workers: 1 });
    // As another worker would take it, once its lease was over.
    steal = async () => {
      steal = async () => {};
      await world.sql("update threads set epoch = epoch + 1, lease_by = null, lease_until = 0 where agent = 'clerk'");
    };
    const stolen = await holdfast.threads.open("stolen", { agent: "clerk" });
    const sent = stolen.send("Refund.");
    while ((await holdfast.metrics()).refused_commits === 0) await new Promise(setImmediate);
    await stolen.queueMessage("Well?");
    expect(await sent).toMatchObject({ completed: true });
    expect(await holdfast.metrics()).toMatchObject({ refused_commits: 1 });
  });

  it("settles a call of unknown outcome, by its number", async () => {
    const world = await newWorld();
    const holdfast = await world.open(refunding({}), { trust });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Refund.");
    await world.sql("update calls set phase = 'unknown'");
    const { calls } = (await call(holdfast, "holdfast/list-unknown-calls")) as { calls: Record<string, unknown>[] };
    expect(calls).toMatchObject([{ thread_id: thread.id, tool_name: "shop/refund", begun_at: expect.any(String) }]);
    const { thread_id, run, number } = calls[0] ?? {};
    const settled = await call(holdfast, "holdfast/settle-call", { thread_id, run, number, result: "refunded" });
    expect(settled).toEqual({ settled: true });
    const unknown = await call(holdfast, "holdfast/settle-call", { thread_id, run, number: 9, result: "refunded" });
    expect(unknown).toMatchObject({ code: "call_not_unknown" });
  });

  it("retries, prunes and switches, and is told what is what", async () => {
    const world = await newWorld();
    const holdfast = await world.open(talker, { trust });
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await thread.send("Hi.");
    const { id: thread_id } = thread;
    expect(await call(holdfast, "holdfast/retry-thread", { thread_id })).toMatchObject({ code: "thread_not_stuck" });
    await world.sql("update threads set stuck_at = 1");
    expect(await call(holdfast, "holdfast/diagnose")).toMatchObject({ healthy: false, findings: [{ thread_id }] });
    expect(await call(holdfast, "holdfast/retry-thread", { thread_id })).toEqual({ retried: true });
    expect(await call(holdfast, "holdfast/diagnose-thread", { thread_id })).toMatchObject({ thread_id });
    const refund = { kind: "tool", name: "shop/refund", off: true };
    expect(await call(holdfast, "holdfast/set-switch", { ...refund, reason: "Why not." })).toEqual({ set: true });
    expect(await call(holdfast, "holdfast/list-switches")).toEqual({
      switches: [{ ...refund, reason: "Why not.", set_by: "user:1", set_at: expect.stringMatching(/^20/) }],
    });
    expect(await call(holdfast, "holdfast/prune-threads", { idle_ms: 3_600_000 })).toEqual({ deleted: [] });
  });

  it("is nobody who does not hold the capability", async () => {
    const world = await newWorld();
    const holdfast = await world.open(talker, { trust });
    const own = holdfast.abilities.list().filter(({ capability }) => capability === "operate");
    expect(own.length).toBeGreaterThanOrEqual(9);
    for (const { name, doors } of own) {
      expect(await call(holdfast, name, {}, user)).toMatchObject({ code: "ability_forbidden" });
      expect(doors).toEqual(["http", "cli"]);
    }
  });
});
