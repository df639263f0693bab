// Promise: how far a run is can be seen step by step while it goes on: what waits, what was chosen, how many parts are done, what
// failed and what was undone. Nothing of what steps work with is in it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
import { expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import { deskWorld } from "../desk-world.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
type Answer = any;

const calls = (id: string, name: string, more: JsonMap = {}): JsonMap => ({
  id,
  type: "function",
  function: name,
  ...more,
});

const stepFunctions = {
  work: (input: unknown) => ({ secret: "what it works with", input }),
  odd: (input: unknown) => {
    if (Number(input) % 2 === 1) throw Object.assign(new Error("odd"), { code: "odd" });
    return { input };
  },
};

async function open(steps: readonly JsonMap[]) {
  const { holdfast, as } = await deskWorld({
    agents: [],
    workflows: [{ id: "shown", steps: [...steps] }],
    stepFunctions,
  });
  const { run_id } = await as(1)("holdfast/start-workflow", { workflow_id: "shown" });
  const tree = (): Promise<Answer> => as(1)("holdfast/get-workflow-run-tree", { run_id });
  return { holdfast, run_id: String(run_id), tree };
}

async function untilSuspended(holdfast: Holdfast, id: string): Promise<void> {
  const run = await holdfast.workflows.run(id);
  while ((await run.summary()).status !== "suspended") await new Promise(setImmediate);
}

it("names what waits and what comes", async () => {
  const { holdfast, run_id, tree } = await open([
    calls("first", "work"),
    { id: "ok", type: "wait", approval: { summary: "Go on?" } },
    calls("last", "work"),
  ]);
  await untilSuspended(holdfast, run_id);
  const [request] = await holdfast.requests.list({ thread: run_id });
  const shown = await tree();
  expect(shown).toMatchObject({
    run: { run_id, status: "suspended", reason: "waiting_for_approval" },
    steps: [
      { path: "0", id: "first", status: "succeeded", ended_at: expect.any(String), parts: null },
      { path: "1", id: "ok", status: "waiting", waits_for: "approval", request_id: request?.id, ended_at: null },
      { path: "2", id: "last", status: "pending", started_at: null },
    ],
  });
  expect(JSON.stringify(shown)).not.toContain("what it works with");
});

it("counts parts, and names branches and what failed", async () => {
  const { holdfast, run_id, tree } = await open([
    {
      ...{ id: "each", type: "foreach", items: [0, 1, 2, 3, 4], continue_on_error: true },
      steps: [calls("half", "odd", { input: "${vars.item}" })],
    },
    {
      ...{ id: "both", type: "parallel" },
      branches: [
        { role: "one", steps: [calls("a", "work")] },
        { role: "two", steps: [{ id: "b", type: "wait", event: "go" }] },
      ],
    },
    {
      ...{ id: "which", type: "branch", else: [calls("c", "work")] },
      cases: [{ when: { path: "inputs.of", op: "eq", value: 1 }, steps: [calls("d", "work")] }],
    },
  ]);
  await untilSuspended(holdfast, run_id);
  const shown = await tree();
  expect(shown.steps).toMatchObject([
    { id: "each", status: "succeeded", parts: { total: 5, succeeded: 3, failed: 2, running: 0 } },
    {
      ...{ id: "both", status: "running", parts: { total: 2, succeeded: 1, running: 1 } },
      branches: [
        { name: "one", status: "succeeded", steps: [{ id: "a", path: "1/0/0", status: "succeeded" }] },
        { name: "two", status: "running", steps: [{ id: "b", path: "1/1/0", status: "waiting", waits_for: "event" }] },
      ],
    },
    { id: "which", status: "pending", parts: { total: 0 }, branches: [] },
  ]);
  const run = await holdfast.workflows.run(run_id);
  await run.send("go");
  await run.result();
  expect((await tree()).steps[2]).toMatchObject({
    ...{ status: "succeeded", branches: [{ name: "else", status: "succeeded", steps: [{ id: "c" }] }] },
  });
});

it("shows what was undone, and the runs below", async () => {
  const { holdfast, run_id, tree } = await open([
    { ...calls("book", "work"), undo: { type: "function", function: "work" } },
    calls("fail", "odd", { input: 1 }),
  ]);
  await (await holdfast.workflows.run(run_id)).result();
  expect(await tree()).toMatchObject({
    run: { status: "failed" },
    steps: [
      { id: "book", status: "succeeded" },
      { id: "fail", status: "failed", error_code: "handler_exception" },
    ],
    rollback: [{ path: "undo/0", id: "book", status: "succeeded" }],
    on_failure: [],
    children: [],
  });
});
