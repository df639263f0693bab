// Promise: the operations on workflows that the Agents API names act on the runs of the runtime, in the shapes of the contract, for
// whom capabilities or a host's seams let.
import { expect, it } from "vitest";
import { createHooks } from "../../src/contracts/hooks.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { getWorkflow, registerWorkflow, registerWorkflowHandler } from "../../src/index.ts";
import { ceiling, deskWorld } from "../desk-world.ts";

const waits: JsonMap = { id: "waits", inputs: { of: { type: "string" } }, steps: [wait("first"), wait("second")] };

function wait(id: string): JsonMap {
  return { id, type: "wait", event: id };
}

const held: Readonly<Record<number, readonly string[]>> = { 2: ["workflows.run"], 3: ["workflows.run"] };

function open(hooks = createHooks()) {
  const holdsCapability = (user: number, name: string) => held[user]?.includes(name) ?? false;
  return deskWorld({ agents: [], workflows: [waits], abilityHooks: hooks, trust: { holdsCapability } });
}

it("runs a workflow and answers at once, and tells how far the run is", async () => {
  const { holdfast, as } = await open();
  const [ann, ben] = [as(2), as(3)];
  const input = { workflow_id: "waits", inputs: { of: "x" }, options: { metadata: { api_key: "k", note: "n" } } };
  const started = await ann("agents/run-workflow", input);
  expect(started).toEqual({ run_id: expect.any(String), workflow_id: "waits", status: expect.any(String) });
  const { run_id } = started;
  expect(await ann("agents/get-workflow-run", { run_id })).toMatchObject({
    ...{ run_id, workflow_id: "waits", metadata: { api_key: "k", note: "n" } },
  });
  // Who may only look is told of it without what stands behind telling names.
  const looking = as(2, ceiling(2, "workflows.read"));
  expect(await looking("agents/get-workflow-run", { run_id })).toMatchObject({
    ...{ run_id, workflow_id: "[redacted]", metadata: { api_key: "[redacted]", note: "n" } },
  });
  for (const name of ["get-workflow-run", "list-workflow-run-events", "cancel-workflow-run"]) {
    expect(await ben(`agents/${name}`, { run_id })).toMatchObject({ code: "agents_workflow_run_not_found" });
  }
  const cancelled = await ann("agents/cancel-workflow-run", { run_id });
  expect(cancelled).toMatchObject({ run_id, status: "cancelling", cancelled: true });
  await (await holdfast.workflows.run(run_id)).result();
  expect(await ann("agents/cancel-workflow-run", { run_id })).toMatchObject({ status: "cancelled", cancelled: false });
  const page = await ann("agents/list-workflow-run-events", { run_id, limit: 1 });
  expect(page).toMatchObject({ events: [{ id: `${run_id}:0.0`, type: "run.started" }], has_more: true });
  const rest = await ann("agents/list-workflow-run-events", { run_id, cursor: page.cursor });
  expect(rest).toMatchObject({ status: "cancelled", cursor: "", has_more: false });
  expect(rest.events.at(-1)).toMatchObject({ type: "run.ended" });
  expect(await ann("agents/get-workflow-run", {})).toMatchObject({ code: "agents_workflow_run_not_found" });
});

it("takes the caller's own id of a run for a name of the start", async () => {
  const { as } = await open();
  const logs = [{ line: "asked for" }];
  const input = { workflow_id: "waits", options: { run_id: "mine", logs, artifacts: [{ label: "order" }] } };
  const first = await as(2)("agents/run-workflow", input);
  expect(await as(2)("holdfast/get-workflow-run", { run_id: first.run_id })).toMatchObject({
    ...{ logs, artifacts: [{ label: "order" }], evidence_refs: [] },
  });
  expect(await as(2)("agents/run-workflow", input)).toMatchObject({ run_id: first.run_id });
  expect(await as(3)("agents/run-workflow", input)).not.toMatchObject({ run_id: first.run_id });
});

it("runs a spec that comes along for who manages workflows", async () => {
  const { as } = await open();
  const spec = { id: "inline", steps: [wait("go")] };
  expect(await as(2)("agents/run-workflow", { spec })).toMatchObject({ code: "ability_invalid_permissions" });
  expect(await as(1)("agents/run-workflow", { spec })).toMatchObject({ workflow_id: "inline" });
  const broken = { spec: { id: "inline", steps: [] } };
  expect(await as(1)("agents/run-workflow", broken)).toMatchObject({ code: "workflow_spec_invalid" });
  expect(await as(1)("agents/run-workflow", {})).toMatchObject({ code: "workflow_not_found" });
});

it("asks a host's seams, which lift no ceiling", async () => {
  const hooks = createHooks();
  hooks.filter("runWorkflowPermission", (usually, { workflow_id }) => usually || workflow_id === "waits");
  const { as } = await open(hooks);
  const input = { workflow_id: "waits" };
  expect(await as(9)("agents/run-workflow", input)).toMatchObject({ workflow_id: "waits" });
  expect(await as(9, ceiling(9, "workflows.read"))("agents/run-workflow", input)).toMatchObject({
    code: "ability_invalid_permissions",
  });
  hooks.filter("workflowRunReadPermission", () => false);
  expect(await as(2)("agents/get-workflow-run", { run_id: "x" })).toMatchObject({
    code: "ability_invalid_permissions",
  });
});

it("leaves running to a host that does it itself", async () => {
  const hooks = createHooks();
  const failed: unknown[] = [];
  hooks.on("runWorkflowDispatchFailed", (reason) => failed.push(reason));
  const { as } = await open(hooks);
  await as(2)("agents/run-workflow", { workflow_id: "nothing" });
  const remove = registerWorkflowHandler(hooks, ({ workflow_id }) => ({
    run_id: "theirs",
    workflow_id,
    status: "pending",
  }));
  expect(await as(2)("agents/run-workflow", { workflow_id: "other" })).toEqual({
    ...{ run_id: "theirs", workflow_id: "other", status: "pending" },
  });
  remove();
  expect(failed).toEqual(["workflow_not_found"]);
});

it("checks and shows specs, and registers them with the runtime", async () => {
  const hooks = createHooks();
  const told: string[] = [];
  hooks.on("workflowRegistered", ({ id }) => told.push(id));
  const { holdfast, as } = await open(hooks);
  const odd = { id: "odd", steps: [{ id: "a", type: "dance" }] };
  expect(await as(9)("agents/validate-workflow", { spec: odd })).toMatchObject({
    ...{ valid: false, errors: [{ path: "steps.0.type", code: "unknown_step_type" }] },
  });
  expect(await as(9)("agents/validate-workflow", {})).toMatchObject({ valid: false });
  expect(await as(9)("agents/describe-workflow", { workflow_id: "waits" })).toMatchObject({
    code: "ability_forbidden",
  });
  expect(await as(2)("agents/describe-workflow", { workflow_id: "waits" })).toEqual({
    spec: waits,
    inputs: waits.inputs,
  });
  expect(await as(2)("agents/describe-workflow", { workflow_id: "odd" })).toEqual({ spec: null, inputs: null });
  expect(registerWorkflow(holdfast, odd)).toMatchObject({
    code: "workflow_spec_invalid",
    data: { path: "steps.0.type" },
  });
  expect(registerWorkflow(holdfast, { id: "more", steps: [wait("go")] })).toMatchObject({ id: "more" });
  expect(getWorkflow(holdfast, "more")).toMatchObject({ id: "more" });
  expect(getWorkflow(holdfast, "odd")).toBeNull();
  expect(told).toEqual(["more"]);
});

it("takes branches for a host's recorder alone", async () => {
  const { as } = await open();
  const { run_id } = await as(1)("agents/run-workflow", { workflow_id: "waits" });
  const branch = { handle_id: "h", branch_result: { status: "succeeded" } };
  expect(await as(1)("agents/reconcile-workflow-branch", { run_id, ...branch })).toMatchObject({
    code: "agents_reconcile_workflow_branch_unknown_handle",
  });
  expect(await as(1)("agents/reconcile-workflow-branch", { run_id: "x", ...branch })).toMatchObject({
    code: "agents_reconcile_workflow_branch_no_recorder",
  });
  expect(await as(2)("agents/reconcile-workflow-branch", { run_id, ...branch })).toMatchObject({
    code: "ability_forbidden",
  });
});
