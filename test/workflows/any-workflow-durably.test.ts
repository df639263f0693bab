// Promise: whatever a workflow looks like and wherever its process ends, a durable run comes to the record of a run in memory,
// carries out each step once and undoes once what has to be undone.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isMap, type Json, type JsonMap, snapshotMap } from "../../src/contracts/json.ts";
import { operationError } from "../../src/contracts/operation-error.ts";
import type { WorkflowRun } from "../../src/contracts/workflows/run-record.ts";
import { typedSpec, type WorkflowSpec } from "../../src/contracts/workflows/spec.ts";
import type { StepOperations } from "../../src/workflows/durable/run-host.ts";
import { runWorkflow } from "../../src/workflows/in-memory/run-workflow.ts";
import { anyRun } from "../any-workflow.ts";
import { sqliteWorlds } from "../databases.ts";
import { openDriver } from "./driver-in-test.ts";
import { comparable } from "./scripted-run.ts";

const newBackend = sqliteWorlds();
const inputs = { q: "Q" };
/** So many points around commits after the last cut. A run that is claimed three times without getting on is left alone. */
const cuts = fc.array(fc.nat(20), { maxLength: 2 });

it("comes to the record of a run in memory", async () => {
  const property = fc.asyncProperty(anyRun, cuts, async ({ steps, continueOnError, every }, distances) => {
    const spec = typedSpec({ id: "any", steps: labelled(steps) });
    const memory = outside(every);
    const options = { run_id: "any", continue_on_error: continueOnError };
    const operations = { ...memory, call: (name: string, input: Json) => memory.answer(name, input) };
    const wanted = await runWorkflow(spec, inputs, options, { operations, room: 100 });
    const world = outside(every);
    const run = await durably(spec, continueOnError, world, distances);
    expect(withoutRollback(run)).toEqual(withoutRollback(wanted));
    expect(world.timesOfEach()).toEqual(world.timesOfEach().map(() => 1));
    expect(world.undone()).toEqual(isUndone(run) ? world.toUndo() : []);
    // Where nothing runs beside anything else, nothing depends on what comes first.
    if (isInOrder(steps)) {
      expect(comparable(run)).toEqual(comparable(wanted));
      expect(world.done).toEqual(memory.done);
    }
  });
  await fc.assert(property, { numRuns: 150 });
});

/** What steps do outside: an answer that depends on the input alone, and once under each key. */
function outside(every: number) {
  const done: string[] = [];
  const answers = new Map<string, unknown>();
  const times = new Map<string, number>();
  const isRefused = (text: string) =>
    every > 0 && [...text].reduce((sum, each) => sum + each.charCodeAt(0), 0) % every === 0;
  function answer(name: string, input: Json): unknown {
    const text = `${name} ${JSON.stringify(input)}`;
    done.push(text);
    return isRefused(text) ? operationError("refused", text) : { of: input };
  }
  const operations: StepOperations = {
    has: () => true,
    isRepeatable: () => true,
    firstAnswer: async () => "never_begun" as const,
    call(name, input, { idempotencyKey }) {
      if (!answers.has(idempotencyKey)) {
        answers.set(idempotencyKey, answer(name, input));
        times.set(idempotencyKey, (times.get(idempotencyKey) ?? 0) + 1);
      }
      return answers.get(idempotencyKey);
    },
  };
  return { ...operations, answer, done, timesOfEach: () => [...times.values()], undone, toUndo };

  /** What was undone, or was tried to be. */
  function undone(): string[] {
    return done.flatMap((each) => (each.startsWith("demo/undo ") ? [each.slice("demo/undo ".length)] : [])).sort();
  }

  function toUndo(): string[] {
    const succeeded = done.filter((each) => each.startsWith("demo/a ") && !isRefused(each));
    const texts = succeeded.map((each) => JSON.parse(each.slice("demo/a ".length)) as JsonMap);
    return texts.flatMap((of) => (of.isUndone === true ? [JSON.stringify({ of: { of } })] : [])).sort();
  }
}

async function durably(
  workflow: WorkflowSpec,
  continueOnError: boolean,
  operations: StepOperations,
  distances: readonly number[],
): Promise<WorkflowRun> {
  const id = crypto.randomUUID();
  const backend = await newBackend();
  let isBegun = false;
  for (const distance of [...distances, undefined]) {
    let passed = 0;
    const fate = (point: string) => /^(before|after) commit/.test(point) && passed++ === distance;
    const driver = await openDriver(backend, { operations: () => operations }, fate);
    if (!isBegun) await driver.begin(workflow, inputs, { id, continueOnError });
    isBegun = true;
    const run = await driver.ended(id);
    await driver.close();
    expect(driver.errors).toEqual([]);
    if (run) return run;
  }
  throw new Error("The last driver has died.");
}

/** Every step names its place in what it is called with, and says whether it is undone. */
function labelled(steps: readonly JsonMap[]): readonly JsonMap[] {
  let count = 0;
  const walk = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(walk);
    if (!isMap(value)) return value;
    const { undo = null, ...map } = value as JsonMap;
    const walked = Object.fromEntries(Object.entries(map).map(([key, each]) => [key, walk(each)]));
    if (map.type !== "ability") return { ...walked, ...(undo !== null && { undo: walk(undo) }) };
    const args = { ...snapshotMap(map.args), label: count++, isUndone: undo !== null };
    return { ...map, args, ...(undo !== null && { undo }) };
  };
  return walk(steps) as readonly JsonMap[];
}

function isInOrder(steps: Json): boolean {
  const text = JSON.stringify(steps);
  return !text.includes('"parallel"') && !/"concurrency":[23]/.test(text);
}

function isUndone(run: WorkflowRun): boolean {
  return Object.hasOwn(snapshotMap(run.metadata), "_rollback");
}

function withoutRollback(run: WorkflowRun) {
  const { _rollback, ...metadata } = snapshotMap(run.metadata);
  return comparable({ ...run, metadata });
}
