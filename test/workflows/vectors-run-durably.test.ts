// Promise: a durable run comes to the record that the same workflow comes to in memory, with the same calls in the same order, also
// when its process ends before or after any of its commits. Each scripted run of the contract is tried at each of them.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { RunScript } from "../../conformance/scripts/workflow-runs.ts";
import type { Backend } from "../../src/backend/sql-driver.ts";
import { truthy } from "../../src/contracts/coerce.ts";
import { type JsonMap, snapshotMap } from "../../src/contracts/json.ts";
import { checkInputs } from "../../src/workflows/durable/check-inputs.ts";
import type { RunNotes } from "../../src/workflows/durable/run-body.ts";
import { sqliteWorlds } from "../databases.ts";
import { openDriver } from "./driver-in-test.ts";
import { comparable, inMemory, type Outcome, type Played, played, scriptedWorld, specOf } from "./scripted-run.ts";

const { cases } = JSON.parse(
  readFileSync(new URL("../../conformance/vectors/orchestration/workflow.run.json", import.meta.url), "utf8"),
) as { cases: { name: string; input: RunScript }[] };

const newBackend = sqliteWorlds();

it.each(cases)("is the run in memory, wherever it is cut off: $name", async ({ input }) => {
  const script = played(input);
  const wanted = await inMemory(script);
  const points: string[] = [];
  expectSame(await durably(await newBackend(), script, (point) => void points.push(point)), wanted, "undisturbed");
  for (const [index, point] of points.entries()) {
    let passed = 0;
    const outcome = await durably(await newBackend(), script, () => passed++ === index);
    expectSame(outcome, wanted, `cut off ${point} (${index})`);
    expect(outcome.drivers).toBe(2);
  }
});

it.each(cases)("is the run in memory, cut off again at the next commit: $name", async ({ input }) => {
  const script = played(input);
  const wanted = await inMemory(script);
  let points = 0;
  await durably(await newBackend(), script, () => void points++);
  for (let index = 0; index < points; index++) {
    let passed = 0;
    // Once more where the second driver comes to its first commit, and behind the next one of the third.
    const fate = () => [index, index + 1, index + 3].includes(passed++);
    expectSame(await durably(await newBackend(), script, fate), wanted, `cut off at ${index}, and again`);
  }
});

it("is cut off at more than a hundred places", async () => {
  let places = 0;
  for (const { input } of cases) await durably(await newBackend(), played(input), () => void places++);
  expect(places).toBeGreaterThan(100);
});

function expectSame(outcome: Outcome, wanted: Outcome, when: string): void {
  expect(comparable(outcome.run), when).toEqual(comparable(wanted.run));
  expect(outcome.calls, when).toEqual(wanted.calls);
}

/** Runs the script to its end. Where `fate` is true, for a point around a commit, the driver dies and another one goes on. */
async function durably(backend: Backend, script: Played, fate: (point: string) => unknown) {
  const id = crypto.randomUUID();
  let asked: (() => Promise<unknown>) | undefined;
  const { parts, calls } = scriptedWorld(script, async () => asked?.());
  const spec = specOf(script);
  const checked = await checkInputs({ spec, source: "spec", functions: {} }, snapshotMap(script.inputs));
  const { continue_on_error, metadata, evidence_refs, artifacts, logs } = snapshotMap(script.options);
  const notes = JSON.parse(JSON.stringify({ metadata, evidence_refs, artifacts, logs })) as RunNotes;
  const order = { id, notes, continueOnError: truthy(continue_on_error), ...refusal(checked.refused) };
  let isBegun = false;
  for (let drivers = 1; ; drivers++) {
    const driver = await openDriver(backend, parts, (point) => isOfCommit(point) && fate(point) === true);
    asked = () => driver.run(id).requestCancel();
    if (!isBegun) await driver.begin(spec, checked.inputs, order);
    isBegun = true;
    const run = await driver.ended(id);
    await driver.close();
    expect(driver.errors).toEqual([]);
    if (run) return { run, calls, drivers };
  }
}

function isOfCommit(point: string): boolean {
  return point.startsWith("before commit") || point.startsWith("after commit");
}

function refusal(refused: JsonMap | undefined) {
  return refused ? { refused } : {};
}
