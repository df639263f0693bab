// Promise: what a step did whose process ended in the middle of it is found out or said to be unknown. It never runs a second time
// in silence.
import { expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { StepFunctionDefinition } from "../../src/workflows/steps/step-functions.ts";
import { eachDatabase, type World } from "../databases.ts";
import { openMortal } from "../mortal-runtime.ts";

const CHARGE = { id: "charge", type: "function", function: "charge", input: { cents: 7 } };
const AFTER = { id: "after", type: "function", function: "after", input: "$" + "{steps.charge.output}" };

/** What the functions have done, in the order in which they did it. */
type Done = string[];

function functions(done: Done, charge: Partial<StepFunctionDefinition>, die?: () => Promise<void>) {
  return {
    charge: {
      run: async (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
        done.push(`charge ${idempotencyKey}`);
        await die?.();
        return { charged: true };
      },
      ...charge,
    },
    after: (input: unknown) => {
      done.push(`after ${JSON.stringify(input)}`);
      return null;
    },
    refund: () => void done.push("refund"),
  };
}

/** Starts a run whose process ends inside `charge`; the runtime that takes it over, with its run. */
async function cutOff(world: World, done: Done, charge: Partial<StepFunctionDefinition>, step: JsonMap = {}) {
  let dies: (() => Promise<void>) | undefined;
  const stepFunctions = functions(done, charge, async () => await dies?.());
  const mortal = await openMortal(world, [], undefined, { stepFunctions, leaseMs: 500 });
  dies = () => mortal.die().then(() => new Promise<never>(() => undefined));
  const run = await mortal.workflows.start({ id: "shop", steps: [{ ...CHARGE, ...step }, AFTER] });
  await mortal.died;
  const holdfast = await world.open([], { stepFunctions: functions(done, charge), leaseMs: 500 });
  return { holdfast, run: await holdfast.workflows.run(run.id) };
}

eachDatabase((newWorld) => {
  it("fails a step of unknown outcome, and does not repeat it when the run is to be carried on", async () => {
    const done: Done = [];
    const { run } = await cutOff(await newWorld(), done, {});
    expect(await run.result()).toMatchObject({
      status: "failed",
      error: { code: "workflow_step_outcome_unknown", retryable: false },
    });
    expect(await run.summary()).toMatchObject({ has_problem: true });
    expect(done).toHaveLength(1);
    await expect(run.retry()).rejects.toMatchObject({ code: "workflow_outcome_unknown" });
    expect(done).toHaveLength(1);
    // An operator takes it upon himself.
    await run.retry({ repeatUnknown: true });
    await untilEnded(run, "succeeded");
    expect(done).toEqual([
      expect.stringMatching(/^charge/),
      expect.stringMatching(/^charge/),
      'after {"charged":true}',
    ]);
    expect(new Set(done).size).toBe(3);
  });

  it("does not try it again, however often the step asks for that", async () => {
    const done: Done = [];
    const { run } = await cutOff(await newWorld(), done, {}, { retry: { max_attempts: 5, backoff: "0s" } });
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_step_outcome_unknown" } });
    expect(done).toHaveLength(1);
  });

  it("runs a step again under the same key where that does no harm", async () => {
    const done: Done = [];
    const { run } = await cutOff(await newWorld(), done, { idempotent: true });
    expect(await run.result()).toMatchObject({ status: "succeeded" });
    expect(done).toEqual([done[0], done[0], 'after {"charged":true}']);
  });

  it("takes the word of the step for it, against that of its function", async () => {
    const done: Done = [];
    const { run } = await cutOff(await newWorld(), done, { idempotent: true }, { idempotent: false });
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_step_outcome_unknown" } });
    expect(done).toHaveLength(1);
  });

  const answers: Readonly<Record<string, readonly [StepFunctionDefinition["reconcile"], object, number]>> = {
    "that it was done": [
      () => ({ status: "done", result: { charged: "before" } }),
      { status: "succeeded", output: { steps: { charge: { charged: "before" } } } },
      1,
    ],
    "that it was not done": [() => ({ status: "absent" }), { status: "succeeded" }, 2],
    "that it is not known": [
      () => ({ status: "unknown" }),
      { status: "failed", error: { code: "workflow_step_outcome_unknown" } },
      1,
    ],
    nonsense: [(() => "what?") as never, { status: "failed", error: { code: "workflow_step_outcome_unknown" } }, 1],
    "nothing, because it throws": [
      () => {
        throw new Error("away");
      },
      { status: "failed", error: { code: "workflow_step_outcome_unknown" } },
      1,
    ],
  };

  it.each(Object.entries(answers))("asks what came of it, and hears %s", async (_, [reconcile, record, times]) => {
    const done: Done = [];
    // A process that only lost its lease may be at it for as long as the step takes.
    const { run } = await cutOff(await newWorld(), done, { ...(reconcile && { reconcile }) }, { timeout: "1s" });
    expect(await run.result()).toMatchObject(record);
    const charges = done.filter((each) => each.startsWith("charge"));
    expect(charges).toHaveLength(times);
    expect(new Set(charges).size).toBe(1);
  });

  it("undoes what was done before it, and not the step that nobody knows of", async () => {
    const world = await newWorld();
    const done: Done = [];
    let dies: (() => Promise<void>) | undefined;
    const stepFunctions = functions(done, {}, async () => await dies?.());
    const mortal = await openMortal(world, [], undefined, { stepFunctions, leaseMs: 500 });
    const undo = { type: "function", function: "refund" };
    dies = () => mortal.die().then(() => new Promise<never>(() => undefined));
    const before = { id: "before", type: "function", function: "after", undo };
    const run = await mortal.workflows.start({ id: "shop", steps: [before, { ...CHARGE, undo }] });
    await mortal.died;
    const holdfast = await world.open([], { stepFunctions: functions(done, {}) });
    expect(await (await holdfast.workflows.run(run.id)).result()).toMatchObject({
      status: "failed",
      error: { code: "workflow_step_outcome_unknown" },
      metadata: { _rollback: [{ id: "before", status: "succeeded" }] },
    });
    expect(done).toEqual(["after null", expect.stringMatching(/^charge/), "refund"]);
  });

  it("leaves a run to other processes whose code is missing here, and repeats nothing there either", async () => {
    const world = await newWorld();
    const done: Done = [];
    let commits = 0;
    // The step is done, and nothing of that is stored.
    const fate = (point: string) => point.startsWith("before commit") && ++commits === 2;
    const mortal = await openMortal(world, [], fate, { stepFunctions: functions(done, {}), leaseMs: 500 });
    const run = await mortal.workflows.start({ id: "shop", steps: [CHARGE, AFTER] });
    await mortal.died;
    let isLeft: (() => void) | undefined;
    const left = new Promise<void>((resolve) => {
      isLeft = resolve;
    });
    const onPoint = (point: string) => void (point === "after give back" && isLeft?.());
    const without = await world.open([], { onPoint });
    await left;
    await without.close();
    const holdfast = await world.open([], { stepFunctions: functions(done, {}) });
    expect(await (await holdfast.workflows.run(run.id)).result()).toMatchObject({
      status: "failed",
      error: { code: "workflow_step_outcome_unknown" },
    });
    expect(done).toHaveLength(1);
  });

  it("goes on under the spec that it began with", async () => {
    const world = await newWorld();
    const done: Done = [];
    const steps = (name: string): JsonMap[] => [
      { id: "wait", type: "wait", event: "go" },
      { ...AFTER, input: name },
    ];
    const first = await world.open([], {
      stepFunctions: functions(done, {}),
      workflows: [{ id: "w", steps: steps("old") }],
    });
    const run = await first.workflows.start("w");
    await settled(run, "suspended");
    await first.close();
    const second = await world.open([], {
      stepFunctions: functions(done, {}),
      workflows: [{ id: "w", steps: [CHARGE, ...steps("new")] }],
    });
    const again = await second.workflows.run(run.id);
    await again.send("go");
    expect(await again.result()).toMatchObject({ status: "succeeded", output: { steps: { wait: {} } } });
    expect(done).toEqual(['after "old"']);
  });
});

type Run = { summary(): Promise<{ readonly status: string }> };

async function settled(run: Run, status: string): Promise<void> {
  while ((await run.summary()).status !== status) await new Promise(setImmediate);
}

/** A run that had ended before. */
async function untilEnded(run: Run, status: string): Promise<void> {
  await settled(run, status);
}
