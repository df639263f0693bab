// Promise: to take a run up, what it has done before is not read, and it comes to the same as if all of that had been.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type JsonMap, snapshotMap } from "../../src/contracts/json.ts";
import type { WorkflowRun } from "../../src/contracts/workflows/run-record.ts";
import { ownTypes } from "../../src/workflows/durable/own-types.ts";
import { afterFailure } from "../../src/workflows/machine/run-view.ts";
import { answering, anyRun } from "../any-workflow.ts";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { echo, Machine } from "../workflow-machine.ts";
import { type ByHand, byHand } from "./turns-by-hand.ts";

const inputs = { q: "Q" };

for (const rows of [1, undefined]) {
  const how = rows === 1 ? "row by row" : "as much as is likely to be needed";
  it(`comes to the same when all that it asks for is read after each commit, ${how}`, async () => {
    const runs = await byHand(rows);
    await fc.assert(
      fc.asyncProperty(anyRun, (any) => comesToTheSame(runs, any)),
      { numRuns: 60 },
    );
  }, 120_000);
}

type AnyRun = typeof anyRun extends fc.Arbitrary<infer Run> ? Run : never;

/** Also once it was opened again as often as it failed, each time with fewer steps that fail. */
async function comesToTheSame(runs: ByHand, { steps, continueOnError, every }: AnyRun): Promise<void> {
  const machine = new Machine({ steps, continueOnError, inputs, own: ownTypes(), room: 100 });
  const id = await runs.start(steps, { continueOnError, inputs });
  const answers = answering(every);
  machine.run(answers);
  expect(comparable(await runs.carryOn(id, answers))).toEqual(comparableOf(machine));
  if (machine.reopen() !== undefined) return;
  await runs.retry(id);
  machine.run(echo);
  expect(comparable(await runs.carryOn(id, echo))).toEqual(comparableOf(machine));
}

function comparable({ status, output, steps, metadata }: WorkflowRun) {
  return { status, output, steps: listOf(steps), undone: listOf(snapshotMap(metadata)._rollback) };
}

function comparableOf({ record: { status, output, steps }, working }: Machine) {
  return { status, output, steps: listOf(steps), undone: listOf(afterFailure(working)._rollback) };
}

function listOf(records: unknown): readonly JsonMap[] {
  return Array.isArray(records) ? records.map((each) => withoutTimes(snapshotMap(each))) : [];
}

function withoutTimes({ started_at: _started, ended_at: _ended, ...step }: JsonMap): JsonMap {
  return JSON.parse(JSON.stringify(step));
}

const step = (index: number): JsonMap => ({
  ...{
    id: `s${index}`,
    type: "ability",
    ability: "demo/a",
    args: index === 0 ? {} : { of: `\${steps.s${index - 1}.output}` },
  },
  undo: { type: "ability", ability: "demo/undo", args: {} },
});
const each = (items: number): JsonMap => ({
  ...{ id: "each", type: "foreach", items: Array.from({ length: items }, (_, index) => index), steps: [step(0)] },
});

it("reads as little when a run has done much as when it has done little", async () => {
  const runs = await byHand();
  const id = await runs.start(Array.from({ length: 60 }, (_, index) => step(index)));
  expect(await runs.carryOn(id, echo)).toMatchObject({ status: "succeeded" });
  // The step that is open; the one before is not read, although the one behind refers to it: it has just ended.
  expect(runs.read.slice(0, -1)).toEqual([0, ...Array(59).fill(1)]);
});

it("reads the items of a step once all of them have ended", async () => {
  const runs = await byHand();
  const id = await runs.start([each(40), { ...step(0), args: { count: "${steps.each.output.count}" } }]);
  expect(await runs.carryOn(id, echo)).toMatchObject({ output: { last: { count: 40 } } });
  expect(runs.read.slice(0, 40)).toEqual([0, ...Array(39).fill(2)]);
  expect(Math.max(...runs.read)).toBeLessThan(50);
});

it("reads what can be undone once something has to be", async () => {
  const runs = await byHand();
  const failing = { id: "failing", type: "ability", ability: "demo/fails", args: {} };
  const id = await runs.start([...Array.from({ length: 20 }, (_, index) => step(index)), failing]);
  const record = await runs.carryOn(id, (order) =>
    order.path === "20" ? { as: "failed", error: { code: "no", message: "No." } } : echo(order),
  );
  expect(listOf(snapshotMap(record.metadata)._rollback).map(({ id: of }) => of)).toEqual(
    Array.from({ length: 20 }, (_, index) => `s${19 - index}`),
  );
  expect(runs.read.slice(0, 21)).toEqual([0, ...Array(20).fill(1)]);
});

eachDatabase((newWorld) => {
  it("undoes a step once that has ended in the moment in which something had to be read", async () => {
    const world = await newWorld();
    const done: unknown[] = [];
    const functions = { say: () => ({ text: "This is no list." }), undo: (input: unknown) => void done.push(input) };
    const holdfast = await world.open([], { stepFunctions: functions });
    const says = (id: string): JsonMap => ({
      ...{ id, type: "function", function: "say" },
      undo: { type: "function", function: "undo", input: id },
    });
    const pause = { id: "pause", type: "wait", event: "go" };
    const items = "${steps.first.output.text}";
    const steps = [says("first"), pause, says("second"), { id: "list", type: "foreach", items, steps: [says("item")] }];
    const run = await holdfast.workflows.start({ id: "lists", steps });
    await eventually(async () => expect(await run.summary()).toMatchObject({ reason: "waiting_for_event" }));
    await run.send("go");
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_foreach_items_invalid" } });
    expect(done).toEqual(["second", "first"]);
  });
});
