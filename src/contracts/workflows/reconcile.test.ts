import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import { operationError } from "../operation-error.ts";
import { addFinal, aggregate } from "./aggregate.ts";
import { endStep, type Reconciliation, reconcile } from "./reconcile.ts";
import * as runRecord from "./run-record.ts";

const roles = { mode: "roles", aggregator_role: "", aggregator_spec: {}, shared_context: {}, shape: "roles" };

function suspended(plan: JsonMap = roles) {
  const handle = (key: string, required: boolean) => ({
    id: `h:${key}`,
    key,
    executor: "x",
    status: "dispatched",
    required,
  });
  return runRecord.read({
    run_id: "r",
    status: "suspended",
    steps: [
      { id: "first", status: "succeeded", output: 1 },
      { id: "p", status: "pending", output: null, ended_at: 0, suspend: {} },
    ],
    metadata: {
      note: "kept",
      _suspension: {
        step_index: 1,
        step_id: "p",
        handles: [handle("0", true), handle("1", false)],
        aggregate: plan,
        context_snapshot: { inputs: { q: 1 }, steps: { first: { output: 1 } }, vars: {} },
        completed: {},
      },
    },
  });
}

function changed(answer: Reconciliation) {
  if (!("run" in answer)) throw new Error(`the run was left as it is: ${answer.kind}`);
  return answer.run;
}

describe("reconciling a branch", () => {
  it("checks handle, key and status in this order", () => {
    const code = (handleId: string, result: unknown) => {
      const answer = reconcile(suspended(), handleId, result);
      return answer.kind === "refused"
        ? answer.error.code.replace("agents_reconcile_workflow_branch_", "")
        : answer.kind;
    };
    expect(code("h:9", { key: "9" })).toBe("unknown_handle");
    expect(code("__proto__", {})).toBe("unknown_handle");
    expect(code("h:0", { key: "1", status: "running" })).toBe("key_mismatch");
    expect(code("h:0", { key: 0, status: "running" })).toBe("invalid_status");
    expect(code("h:0", "nonsense")).toBe("invalid_status");
    expect(code("h:0", { key: 0, status: "failed" })).toBe("waiting");
  });

  it("enters the first result of a branch and leaves the run alone otherwise", () => {
    const run = changed(reconcile(suspended(), "h:1", { status: "succeeded", output: "A" }));
    expect(run.metadata).toMatchObject({
      note: "kept",
      _suspension: {
        handles: [{ status: "dispatched" }, { status: "succeeded" }],
        completed: { "h:1": { key: "1", status: "succeeded", output: "A", steps: [], error: null, item: null } },
      },
    });
    expect(reconcile(run, "h:1", { status: "failed", key: "0" })).toEqual({ kind: "unchanged" });
    expect(reconcile(runRecord.patch(run, { status: "failed" }), "h:0", {})).toEqual({ kind: "unchanged" });
  });

  it("puts the branches together in the order in which they came in", () => {
    const run = changed(reconcile(suspended({ mode: "map" }), "h:1", { status: "failed", output: "lost", item: "y" }));
    expect(reconcile(run, "h:0", { status: "succeeded", output: "A", item: "x", steps: { n: 1 } })).toMatchObject({
      kind: "aggregate",
      aggregation: {
        kind: "output",
        output: {
          shape: "map",
          count: 2,
          branches: [
            { index: 1, item: "y", steps: [], output: null },
            { index: 0, item: "x", steps: { n: 1 }, output: "A" },
          ],
        },
      },
    });
  });

  it("ends the step with an error when a required branch failed, once all are in", () => {
    const run = changed(reconcile(suspended(), "h:0", { status: "failed" }));
    expect(reconcile(run, "h:1", { status: "succeeded" })).toMatchObject({
      kind: "branch_failed",
      error: { code: "workflow_parallel_required_branch_failed" },
    });
  });
});

describe("ending the step that waited", () => {
  it("writes its record, and its output where later steps look for it", () => {
    const run = endStep(suspended(), { output: { shape: "roles" } }, 9);
    expect(run.steps).toEqual([
      { id: "first", status: "succeeded", output: 1 },
      { id: "p", status: "succeeded", output: { shape: "roles" }, ended_at: 9 },
    ]);
    expect(runRecord.suspensionOf(run).context_snapshot).toEqual({
      inputs: { q: 1 },
      steps: { first: { output: 1 }, p: { output: { shape: "roles" } } },
      vars: {},
    });
  });

  it("keeps the error of one that failed, and gives it no output", () => {
    const run = endStep(suspended(), { error: operationError("lost", "It is gone.") }, 9);
    expect(run.steps).toMatchObject([{}, { status: "failed", output: null, ended_at: 9, error: { code: "lost" } }]);
    expect(runRecord.suspensionOf(run).context_snapshot).toMatchObject({ steps: { first: { output: 1 } } });
  });
});

describe("aggregating roles", () => {
  const results = new Map<string, JsonMap>([
    ["a", { output: 5 }],
    ["z", { output: "ignored" }],
  ]);

  it("asks for the aggregator, with what it is to see", () => {
    const plan = {
      ...roles,
      aggregator_role: "z",
      aggregator_spec: { role: "z", steps: [] },
      shared_context: { c: 1 },
    };
    expect(aggregate(plan, results)).toEqual({
      kind: "run_aggregator",
      role: "z",
      spec: { role: "z", steps: [] },
      vars: { context: { c: 1 }, role: { role: "z" }, branch_outputs: { a: 5 } },
      branch_outputs: { a: 5 },
    });
    expect(aggregate(plan, new Map())).toMatchObject({ vars: { context: { c: 1 }, role: { role: "z" } } });
    expect(Object.keys(addFinal("z", { a: 5 }, "all"))).toEqual(["shape", "aggregator", "branch_outputs", "final"]);
    expect(addFinal("z", { a: 5 }, "all")).toMatchObject({ branch_outputs: { a: 5, z: "all" }, final: "all" });
  });

  it("needs none where there is none", () => {
    expect(aggregate(roles, results)).toEqual({
      kind: "output",
      output: { shape: "roles", branch_outputs: { a: 5, z: "ignored" } },
    });
  });
});
