// Promise: a run of a workflow is kept as long as it is needed and no longer, and what is deleted differs from what was lost.
import { expect, it } from "vitest";
import { verifyAudit } from "../../src/contracts/audit/verify-audit.ts";
import { agent } from "../../src/threads/agent.ts";
import { eachDatabase, type World } from "../databases.ts";

const HOUR = 3_600_000;

const helper = agent({ slug: "helper", model: () => "Done." });
const ask = { id: "ask", type: "agent", agent: "helper", message: "Help." };
const inner = { id: "inner", steps: [ask] };
const outer = { id: "outer", steps: [{ id: "nest", type: "workflow", workflow: "inner" }] };
const waiting = { id: "waiting", steps: [{ id: "wait", type: "wait", event: "go" }] };

/** As if all this had happened some hours ago. */
async function letPass(world: World, hours: number): Promise<void> {
  const past = hours * HOUR * 1_000;
  await world.sql(`update threads set updated_at = updated_at - ${past}`);
  await world.sql(`update workflow_runs set ended_at = ended_at - ${past} where ended_at is not null`);
}

eachDatabase((newWorld) => {
  it("removes runs that ended so long ago with all below them, and says so with a signature", async () => {
    const world = await newWorld();
    const { workflows, audit, threads } = await world.open(helper, { workflows: [inner, outer, waiting] });
    const old = await workflows.start("outer");
    const live = await workflows.start("waiting");
    await old.result();
    await letPass(world, 3);
    const recent = await workflows.start("outer");
    await recent.result();
    await audit.checkpoint();

    expect(await workflows.prune({ idleMs: 4 * HOUR })).toEqual([]);
    expect(await workflows.prune({ idleMs: 2 * HOUR, dryRun: true })).toEqual([old.id]);
    expect(await workflows.prunePage({ idleMs: 2 * HOUR, dryRun: true, limit: 1 })).toEqual({
      ...{ deleted: [old.id], next: old.id },
    });
    const deleted = await workflows.prune({ idleMs: 2 * HOUR });
    expect(deleted[0]).toBe(old.id);
    // The run below it, and the thread of its agent.
    expect(deleted.length).toBe(3);
    expect((await workflows.runs({ parent: null })).map(({ run_id }) => run_id).toSorted()).toEqual(
      [live.id, recent.id].toSorted(),
    );
    expect((await threads.list()).length).toBe(1);
    const exported = await audit.export();
    expect(verifyAudit(exported, audit.publicKey)).toMatchObject({ ok: true });
    expect(exported.threads.map(({ id }) => id)).toEqual(expect.arrayContaining([live.id, recent.id]));
    expect(exported.tombstones.map(({ thread, reason }) => [thread, reason]).toSorted()).toEqual(
      deleted.map((id) => [id, "retention"]).toSorted(),
    );
    // One that disappeared in any other way is missing.
    await world.sql(`delete from threads where id = '${live.id}'`);
    expect(verifyAudit(await audit.export(), audit.publicKey)).toMatchObject({
      ok: false,
      broken: { place: "missing_thread", thread: live.id },
    });
    for (const idleMs of [Number.NaN, -1]) {
      await expect(workflows.prune({ idleMs })).rejects.toMatchObject({ code: "invalid_argument" });
    }
    await expect(workflows.prune(undefined as never)).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("leaves a run while anything below it is live", async () => {
    const world = await newWorld();
    const { workflows } = await world.open(helper, { workflows: [inner, outer] });
    const run = await workflows.start("outer");
    await run.result();
    await letPass(world, 3);
    const below = "kind = 'thread' and agent = 'helper'";
    const [before] = await world.sql(`select status from threads where ${below}`);
    await world.sql(`update threads set status = 'waiting' where ${below}`);
    expect(await workflows.prune({ idleMs: HOUR })).toEqual([]);
    await world.sql(`update threads set status = '${before?.status}' where ${below}`);
    expect((await workflows.prune({ idleMs: HOUR })).length).toBe(3);
  });

  it("is looked after by itself, as long as threads are kept unless another time is given", async () => {
    const world = await newWorld();
    const first = await world.open(helper, { workflows: [inner] });
    const run = await first.workflows.start("inner");
    await run.result();
    await first.close();
    await letPass(world, 3);
    const left = async (retention: object) => {
      const holdfast = await world.open(helper, { housekeeping: { everyMs: 5, retention } });
      // A checkpoint of what is new is the last thing that is done in a round.
      const rounds = async () => (await holdfast.audit.checkpoints()).length;
      const before = await rounds();
      const thread = await holdfast.threads.open(crypto.randomUUID(), { agent: "helper" });
      await thread.send("Hello");
      await expect.poll(rounds).toBeGreaterThan(before);
      const runs = await holdfast.workflows.runs();
      await holdfast.close();
      return runs.length;
    };
    expect(await left({})).toBe(1);
    expect(await left({ threadIdleMs: 2 * HOUR, workflowRunMs: null })).toBe(1);
    expect(await left({ workflowRunMs: 4 * HOUR })).toBe(1);
    expect(await left({ threadIdleMs: 2 * HOUR })).toBe(0);
    await expect(left({ workflowRunMs: -1 })).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
