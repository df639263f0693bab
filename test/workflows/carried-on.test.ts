// Promise: a run that failed is carried on behind what succeeded, or begun anew from a step, and no effect happens a second time.
import { expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { RunHandle } from "../../src/workflows/durable/run-handle.ts";
import type { StepFunction } from "../../src/workflows/steps/step-functions.ts";
import { eachDatabase } from "../databases.ts";

const bound = (text: string) => `$${`{${text}}`}`;
const step = (id: string, more: JsonMap = {}): JsonMap => ({ id, type: "function", function: id, ...more });

async function until(run: Pick<RunHandle, "summary">, status: string): Promise<void> {
  while ((await run.summary()).status !== status) await new Promise(setImmediate);
}

/** Functions that fail as often as they are told to, and what they have done. */
function shop(failures: Readonly<Record<string, number>>) {
  const done: string[] = [];
  const keys: string[] = [];
  const left = { ...failures };
  const work =
    (name: string): StepFunction =>
    (input, { idempotencyKey }) => {
      const text = input === null ? name : `${name} ${JSON.stringify(input)}`;
      keys.push(`${text} ${idempotencyKey}`);
      if ((left[text] ?? 0) > 0) {
        left[text] = (left[text] ?? 0) - 1;
        throw new Error(`${text} is closed`);
      }
      done.push(text);
      return { [name]: input };
    };
  return { done, keys, stepFunctions: { a: work("a"), b: work("b"), c: work("c"), undo: work("undo") } };
}

eachDatabase((newWorld) => {
  it("keeps the items that succeeded, and carries out the others under fresh keys", async () => {
    const world = await newWorld();
    const { done, keys, stepFunctions } = shop({ "b 2": 2, "b 4": 1 });
    const holdfast = await world.open([], { stepFunctions });
    const each = {
      ...{ id: "each", type: "foreach", items: [0, 1, 2, 3, 4], concurrency: 3 },
      steps: [step("a", { input: bound("vars.item") }), step("b", { input: bound("vars.item") })],
    };
    const run = await holdfast.workflows.start({ id: "w", steps: [each, step("c")] });
    expect((await run.result()).status).toBe("failed");
    const failedAt = done.length;
    expect(done).not.toContain("c");
    for (let attempts = 0; (await run.summary()).status === "failed"; attempts++) {
      expect(attempts).toBeLessThan(4);
      await run.retry();
      await restarted(run, attempts + 2);
    }
    expect(await run.result()).toMatchObject({ status: "succeeded", output: { steps: { each: { count: 5 } } } });
    const effects = [0, 1, 2, 3, 4].flatMap((item) => [`a ${item}`, `b ${item}`]);
    expect([...done].sort()).toEqual([...effects, "c"].sort());
    expect(done.length).toBeGreaterThan(failedAt);
    const tries = keys.filter((key) => key.startsWith("b 2 "));
    expect(new Set(tries).size).toBe(tries.length);
    // Facts of all attempts stand in one log.
    const events = await run.events({ limit: 1_000 });
    expect(events.filter(({ type }) => type === "run.ended").length).toBeGreaterThan(1);
  });

  it("refuses to carry on what did not fail, was rolled back, or belongs to another run", async () => {
    const world = await newWorld();
    const { stepFunctions } = shop({ b: 9 });
    const undo = { type: "function", function: "undo" };
    const holdfast = await world.open([], {
      stepFunctions,
      workflows: [
        { id: "fine", steps: [step("a")] },
        { id: "rolled", steps: [step("a", { undo }), step("b")] },
        { id: "inner", steps: [step("b")] },
        { id: "outer", steps: [{ id: "nest", type: "workflow", workflow: "inner" }] },
      ],
    });
    const [fine, rolled, outer] = await Promise.all(
      ["fine", "rolled", "outer"].map((id) => holdfast.workflows.start(id) as Promise<RunHandle>),
    );
    for (const run of [fine, rolled, outer]) await run?.result();
    await expect(fine?.retry()).rejects.toMatchObject({ code: "workflow_run_not_failed" });
    await expect(rolled?.retry()).rejects.toMatchObject({ code: "workflow_run_rolled_back" });
    const [inner] = await holdfast.workflows.runs({ workflow_id: "inner" });
    const nested = await holdfast.workflows.run(inner?.run_id ?? "");
    await expect(nested.retry()).rejects.toMatchObject({ code: "workflow_run_has_parent" });
    await expect(nested.send("go")).rejects.toMatchObject({ code: "workflow_run_ended" });
    await expect(nested.pause()).rejects.toMatchObject({ code: "workflow_run_ended" });
  });

  it("starts a nested run anew when the run above is carried on", async () => {
    const world = await newWorld();
    const { done, stepFunctions } = shop({ b: 1 });
    const holdfast = await world.open([], {
      stepFunctions,
      workflows: [
        { id: "inner", steps: [step("b")] },
        { id: "outer", steps: [step("a"), { id: "nest", type: "workflow", workflow: "inner" }, step("c")] },
      ],
    });
    const run = await holdfast.workflows.start("outer");
    expect((await run.result()).status).toBe("failed");
    await run.retry();
    await until(run, "succeeded");
    expect(done).toEqual(["a", "b", "c"]);
    expect(await holdfast.workflows.runs({ parent: run.id })).toMatchObject([
      { status: "succeeded" },
      { status: "failed" },
    ]);
  });

  it("begins a new run from a step, with what came before it and with other inputs", async () => {
    const world = await newWorld();
    const { done, stepFunctions } = shop({});
    const holdfast = await world.open([], { stepFunctions });
    const undo = { type: "function", function: "undo" };
    const steps = [
      step("a", { input: 1, undo }),
      step("b", { input: bound("steps.a.output.a") }),
      step("c", { input: bound("inputs.n") }),
    ];
    const run = await holdfast.workflows.start({ id: "w", steps }, { n: 1 }, { tags: ["t"] });
    await run.result();
    const again = await run.rerun({ from: "b", inputs: { n: 2 } });
    expect(await again.result()).toMatchObject({
      status: "succeeded",
      inputs: { n: 2 },
      output: { steps: { a: { a: 1 }, b: { b: 1 }, c: { c: 2 } } },
      metadata: { _rerun_of: { run_id: run.id, step_index: 1 } },
    });
    expect(await again.summary()).toMatchObject({ rerun_of: run.id, tags: ["t"] });
    expect(done).toEqual(["a 1", "b 1", "c 1", "b 1", "c 2"]);
    await expect(run.rerun({ from: "none" })).rejects.toMatchObject({ code: "workflow_step_not_found" });
    expect(await holdfast.workflows.runs()).toHaveLength(2);
  });

  it("begins no run behind a step that has not succeeded, and undoes nothing of the old run", async () => {
    const world = await newWorld();
    const { done, stepFunctions } = shop({ b: 1, c: 1 });
    const holdfast = await world.open([], { stepFunctions });
    const undo = { type: "function", function: "undo" };
    const run = await holdfast.workflows.start({ id: "w", steps: [step("a", { undo }), step("b"), step("c")] });
    expect((await run.result()).status).toBe("failed");
    await expect(run.rerun({ from: "c" })).rejects.toMatchObject({ code: "workflow_step_not_found" });
    // What was undone is not there any more for what comes behind it.
    await expect(run.rerun({ from: "b" })).rejects.toMatchObject({ code: "workflow_run_rolled_back" });
    const again = await run.rerun({});
    expect((await again.result()).status).toBe("failed");
    expect(done).toEqual(["a", "undo", "a", "b", "undo"]);
  });

  it("goes on undoing when one of the steps that undo fails, and says so", async () => {
    const world = await newWorld();
    const { done, stepFunctions } = shop({ "undo 2": 1, c: 1 });
    const holdfast = await world.open([], { stepFunctions });
    const undo = (input: number) => ({ undo: { type: "function", function: "undo", input } });
    const steps = [step("a", { input: 1, ...undo(1) }), step("b", { input: 2, ...undo(2) }), step("c")];
    const run = await holdfast.workflows.start({ id: "w", steps });
    expect(await run.result()).toMatchObject({
      status: "failed",
      error: { message: "c is closed" },
      metadata: {
        _rollback: [
          { id: "b", status: "failed" },
          { id: "a", status: "succeeded" },
        ],
      },
    });
    expect(done).toEqual(["a 1", "b 2", "undo 1"]);
    expect(await run.summary()).toMatchObject({ has_problem: true });
    const { stores } = { stores: await world.stores() };
    expect(await stores.workflows.problems(10)).toMatchObject([{ run_id: run.id }]);
  });

  it("is not kept from undoing by a wish to stop", async () => {
    const world = await newWorld();
    const { done, stepFunctions } = shop({ c: 1 });
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: StepFunction = async () => {
      begun.resolve();
      await goOn.promise;
      done.push("slow undo");
      return null;
    };
    const holdfast = await world.open([], { stepFunctions: { ...stepFunctions, slow } });
    const undo = (name: string) => ({ undo: { type: "function", function: name } });
    const run = await holdfast.workflows.start({
      id: "w",
      steps: [step("a", undo("undo")), step("b", undo("slow")), step("c")],
    });
    await begun.promise;
    await run.requestCancel();
    await world.untilLeft(run.id, 2);
    goOn.resolve();
    expect(await run.result()).toMatchObject({ status: "failed" });
    expect(done).toEqual(["a", "b", "slow undo", "undo"]);
  });

  it("fails a step whose output is no JSON, and one whose error is none", async () => {
    const world = await newWorld();
    const loop: Record<string, unknown> = {};
    loop.itself = loop;
    const outputs: Readonly<Record<string, unknown>> = {
      loop,
      big: { n: 1n },
      proto: JSON.parse('{"__proto__": {"a": 1}}'),
    };
    const holdfast = await world.open([], {
      stepFunctions: {
        a: (name) => outputs[String(name)],
        b: () => {
          throw loop;
        },
      },
    });
    for (const name of ["loop", "big"]) {
      const run = await holdfast.workflows.start({ id: "w", steps: [step("a", { input: name })] });
      expect(await run.result(), name).toMatchObject({ status: "failed", error: { code: "handler_exception" } });
    }
    const proto = await holdfast.workflows.start({ id: "w", steps: [step("a", { input: "proto" })] });
    expect(Object.getPrototypeOf((await proto.result()).output)).toBe(Object.prototype);
    const thrown = await holdfast.workflows.start({ id: "w", steps: [step("b")] });
    expect(await thrown.result()).toMatchObject({ status: "failed", error: { code: "handler_exception" } });
  });

  it("keeps a thousand events for their waits, and refuses the next one", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const run = await holdfast.workflows.start({ id: "w", steps: [{ id: "go", type: "wait", event: "go" }] });
    await until(run, "suspended");
    for (let n = 0; n < 1_000; n++) await run.send("e", { n });
    await expect(run.send("e")).rejects.toMatchObject({ code: "workflow_events_full" });
    await expect(run.send("go")).rejects.toMatchObject({ code: "workflow_events_full" });
    await run.cancel();
    await expect(run.send("e")).rejects.toMatchObject({ code: "workflow_run_ended" });
    // What is left would keep the run from being deleted once its time is over.
    expect(await world.sql("select seq from inbox where drained_at is null")).toEqual([]);
  });

  it("gives each wait the oldest event that fits it, and an event to one wait alone", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const wait = (id: string, match: JsonMap) => ({ id, type: "wait", event: "e", match });
    const run = await holdfast.workflows.start({
      id: "w",
      steps: [
        { id: "go", type: "wait", event: "go" },
        wait("a", { k: 2 }),
        wait("b", { k: 1 }),
        wait("c", { k: 1, "deep.er": null }),
      ],
    });
    for (const [k, n] of [
      [1, 1],
      [2, 2],
      [1, 3],
      [2, 4],
    ])
      await run.send("e", { k: k ?? 0, n: n ?? 0, deep: { er: null } });
    // The same event under its key is sent once.
    await run.send("go", { n: 1 }, { key: "k" });
    await run.send("go", { n: 1 }, { key: "k" });
    expect(await run.result()).toMatchObject({ output: { steps: { a: { n: 2 }, b: { n: 1 }, c: { n: 3 } } } });
  });
});

/** Until the attempt of that number has ended. */
async function restarted(run: RunHandle, attempt: number): Promise<void> {
  for (;;) {
    const events = await run.events({ limit: 5_000 });
    const ended = events.filter(({ type, attempt: each }) => type === "run.ended" && each === attempt);
    if (ended.length > 0) return;
    await new Promise(setImmediate);
  }
}
