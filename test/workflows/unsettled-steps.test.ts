// Promise: what a process that died was at is found out, or carried out again where that does no harm; it is begun anew in the ledger
// then, and never runs a second time in silence.
import { expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { Holdfast, HoldfastOptions } from "../../src/holdfast.ts";
import { eachDatabase, sqliteWorld, type World } from "../databases.ts";
import { openMortal } from "../mortal-runtime.ts";
import { person } from "../shop-desk.ts";
import { clockedWorld, DAY, happened, runs } from "./runs-in-test.ts";

const NAPS = { id: "naps", steps: [{ id: "nap", type: "sleep", for: "1h" }] };

const options: Partial<HoldfastOptions> = { workflows: [NAPS], trust: { holdsCapability: () => true } };

/** Every call of it starts another run, unless it comes with a key. */
const starts = { id: "start", type: "ability", ability: "holdfast/start-workflow", args: { workflow_id: "naps" } };

/** Starts a run in which an operation is called. */
async function begin({ workflows }: Pick<Holdfast, "workflows">, more: JsonMap = {}) {
  return await workflows.start({ id: "dies", steps: [{ ...starts, ...more }] }, {}, { principal: person(2) });
}

/** The run as a second process finishes it, after the first one has died at a point of its step. */
async function takenOver(world: World, point: string, more: JsonMap = {}) {
  let isAtStep = false;
  const fate = (at: string) => {
    isAtStep ||= at === "before step ability";
    return isAtStep && at === point;
  };
  const first = await openMortal(world, [], fate, options);
  const { id } = await begin(first, more);
  await first.died;
  const second = await world.open([], options);
  const run = await second.workflows.run(id);
  const record = await run.result();
  const started = await second.workflows.runs({ workflow_id: "naps" });
  return { record, summary: await run.summary(), started: started.length, run };
}

it("carries an operation out that the process before had not begun", async () => {
  const { record, summary, started } = await takenOver(await sqliteWorld(), "before step ability");
  expect(record).toMatchObject({ status: "succeeded" });
  expect(summary.has_problem).toBe(false);
  expect(started).toBe(1);
});

it("takes the answer that an operation gave before the process died", async () => {
  const { record, summary, started } = await takenOver(await sqliteWorld(), "after step ability");
  expect(record).toMatchObject({ status: "succeeded" });
  expect(summary.has_problem).toBe(false);
  expect(started).toBe(1);
});

it.each([
  { point: "before start", left: 0 },
  { point: "after start", left: 1 },
])("does not know what an operation did that was begun when the process died: $point", async ({ point, left }) => {
  const { record, summary, started, run } = await takenOver(await sqliteWorld(), point);
  expect(record).toMatchObject({ status: "failed", error: { code: "workflow_step_outcome_unknown" } });
  expect(summary.has_problem).toBe(true);
  expect(started).toBe(left);
  await expect(run.retry()).rejects.toMatchObject({ code: "workflow_outcome_unknown" });
});

it("carries an operation out again of which the workflow says that it may be repeated", async () => {
  const { record, started } = await takenOver(await sqliteWorld(), "after start", { idempotent: true });
  expect(record).toMatchObject({ status: "succeeded" });
  expect(started).toBe(1);
});

it("does not take an operation for one that was never begun once first answers are forgotten", async () => {
  const { clock, backend, open } = await clockedWorld();
  const first = await openMortal({ backend }, [], (point) => point === "before step ability", options);
  const { id } = await begin(first);
  await first.died;
  // The dead process never says that it has seen the clock move.
  void clock.advance(2 * DAY);
  const second = await open(options);
  const run = await second.workflows.run(id);
  expect(await run.result()).toMatchObject({ error: { code: "workflow_step_outcome_unknown" } });
  expect(await second.workflows.runs({ workflow_id: "naps" })).toEqual([]);
});

eachDatabase((newWorld) => {
  it("is begun anew in the ledger by the process that carries it out again", async () => {
    const world = await newWorld();
    let calls = 0;
    const held = Promise.withResolvers<void>();
    const work = () => (++calls === 1 ? new Promise<never>(() => {}) : held.promise);
    const stepFunctions = { work: { idempotent: true, run: work } };
    const calling = "select epoch, phase, begun_at from calls";
    const first = await world.open([], { stepFunctions, drainMs: 1 });
    const { id } = await first.workflows.start({ id: "works", steps: [runs("work")] });
    await happened(await first.workflows.run(id), { type: "step.begun" });
    const [before] = await world.sql(calling);
    await first.close();
    const again = Promise.withResolvers<void>();
    const onPoint = async (point: string) => {
      if (point === "before step function") again.resolve();
    };
    const second = await world.open([], { stepFunctions, onPoint });
    await again.promise;
    const [after] = await world.sql(calling);
    expect(Number(after?.epoch)).toBeGreaterThan(Number(before?.epoch));
    expect(after).toMatchObject({ phase: "begun" });
    held.resolve();
    expect(await (await second.workflows.run(id)).result()).toMatchObject({ status: "succeeded" });
  });
});
