import { describe, expect, it } from "vitest";
import { type Call, call, hostWith, never, recordsOfRuns, specOf } from "../../../test/workflows-in-memory.ts";
import { createMemoryRunStore } from "../../contracts/conversation/run-control.ts";
import { createHooks } from "../../contracts/hooks.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { BranchDescriptor, BranchExecutor, BranchHandle } from "../../contracts/workflows/branch-executor.ts";
import { typedSpec } from "../../contracts/workflows/spec.ts";
import { reconcileBranch } from "./reconcile-branch.ts";
import { resumeWorkflow } from "./resume-workflow.ts";
import { runWorkflow } from "./run-workflow.ts";
import type { WorkflowHost } from "./workflow-host.ts";

const elsewhere = { id: "p", type: "parallel", branches: [{ role: "a", steps: [call("n", "ok")] }] };

function handleOf({ key, step_id }: BranchDescriptor): BranchHandle {
  return { id: `${step_id}:${key}`, key, executor: "queue", status: "dispatched", required: false };
}

const queue: BranchExecutor = {
  id: "queue",
  dispatch: (branches) => branches.map(handleOf),
  areAllComplete: () => false,
  collect: () => new Map(),
};

/** A host whose branches run elsewhere. */
function waitingHost(operations: Readonly<Record<string, Call>>, executor: BranchExecutor = queue) {
  const hooks = createHooks();
  hooks.filter("workflowStepExecutor", () => executor);
  const runs = createMemoryRunStore({ now: () => new Date(0) });
  const recorder = recordsOfRuns();
  return { ...hostWith({ ok: () => ({}), ...operations }), hooks, runs, recorder };
}

const branchEnds = (host: WorkflowHost, handle_id = "p:a") =>
  reconcileBranch({ run_id: "r", handle_id, branch_result: { status: "succeeded" } }, host);

const fails = () => ({ code: "no", message: "" });

describe("a run that goes on", () => {
  it("undoes what has succeeded before it waited, inside its steps too", async () => {
    const undone: unknown[] = [];
    const undo = (what: string) => ({
      undo: { type: "ability", ability: "undo", args: { what, n: "${vars.output.n}", i: "${vars.item}" } },
    });
    const host = waitingHost({ book: () => ({ n: 7 }), fails, undo: (input) => void undone.push(input) });
    const steps = [
      call("a", "book", undo("a")),
      { id: "f", type: "foreach", items: ["x", "y"], steps: [call("b", "book", undo("b"))] },
      { ...elsewhere, ...undo("p") },
      call("z", "fails"),
    ];
    await runWorkflow(specOf(steps), {}, { run_id: "r" }, host);
    expect(await branchEnds(host)).toMatchObject({ status: "failed", error: { code: "no" } });
    expect(undone).toEqual([
      { what: "p", n: null, i: null },
      { what: "b", n: 7, i: "y" },
      { what: "b", n: 7, i: "x" },
      { what: "a", n: 7, i: null },
    ]);
  });

  it("goes on behind failures as it was begun, unless the caller says otherwise", async () => {
    for (const [options, last] of [
      [{}, true],
      [{ continue_on_error: false }, false],
    ] as const) {
      const ran: unknown[] = [];
      const host = waitingHost({ fails, last: () => void ran.push("last") });
      host.hooks.filter("workflowResumeDispatch", () => true);
      const spec = specOf([elsewhere, call("y", "fails"), call("z", "last")]);
      await runWorkflow(spec, {}, { run_id: "r", continue_on_error: true }, host);
      await branchEnds(host);
      expect(await resumeWorkflow("r", options, host)).toMatchObject({ status: "failed", error: { code: "no" } });
      expect(ran.length > 0).toBe(last);
    }
  });

  it("works with its spec as it was begun, which nobody has to know in full any more", async () => {
    const host = waitingHost({});
    const steps = [call("constructor", "ok", { undo: { type: "later" } }), elsewhere, { id: "w", type: "gone" }];
    await runWorkflow(typedSpec({ id: "wf", steps, on_failure: [call("", "ok")] }), {}, { run_id: "r" }, host);
    expect(await branchEnds(host)).toMatchObject({ status: "failed", error: { code: "no_step_handler" } });
  });

  it("does not go on while branches are out, and changes nothing", async () => {
    const host = waitingHost({});
    const waiting = await runWorkflow(specOf([elsewhere]), {}, { run_id: "r" }, host);
    expect(await resumeWorkflow("r", {}, host)).toMatchObject({
      status: "failed",
      workflow_id: "",
      error: { code: "workflow_resume_branches_pending" },
    });
    expect(host.recorder.find("r")).toEqual(JSON.parse(JSON.stringify(waiting)));
  });

  it("goes on once, however many ask at the same time", async () => {
    let times = 0;
    const host = waitingHost({ last: () => ({ times: ++times }) });
    host.hooks.filter("workflowResumeDispatch", () => true);
    await runWorkflow(specOf([elsewhere, call("z", "last")]), {}, { run_id: "r" }, host);
    await branchEnds(host);
    const ended = await Promise.all([resumeWorkflow("r", {}, host), resumeWorkflow("r", {}, host)]);
    expect(ended.map(({ status }) => status)).toEqual(["succeeded", "running"]);
    expect(times).toBe(1);
  });

  it("may be told results while it hands further branches out", async () => {
    const held: { host?: WorkflowHost } = {};
    const executor: BranchExecutor = {
      ...queue,
      async dispatch(branches) {
        if (held.host) await branchEnds(held.host, "q:a");
        return branches.map(handleOf);
      },
    };
    const host = waitingHost({}, executor);
    await runWorkflow(specOf([elsewhere, { ...elsewhere, id: "q" }]), {}, { run_id: "r" }, host);
    held.host = host;
    expect(await branchEnds(host)).toMatchObject({ status: "suspended", metadata: { _suspension: { step_id: "q" } } });
  });
});

it("a lock that throws is one that cannot be had", async () => {
  const host = waitingHost({});
  host.hooks.filter("workflowReconcileLock", () => {
    throw new Error("The lock server is gone.");
  });
  await runWorkflow(specOf([elsewhere]), {}, { run_id: "r" }, host);
  expect(await branchEnds(host)).toMatchObject({ code: "agents_reconcile_lock_unavailable" });
});

it("results for runs of other recorders do not wait, whatever the ids of these runs", async () => {
  const [stuck, other] = [waitingHost({}), waitingHost({})];
  for (const host of [stuck, other]) await runWorkflow(specOf([elsewhere]), {}, { run_id: "r" }, host);
  stuck.recorder.find = never;
  void branchEnds(stuck);
  expect(await branchEnds(other)).toMatchObject({ status: "succeeded" });
});

it("what a handler says about its wait does not move the run", async () => {
  const _suspend = { reason: "a person", step_index: 9, step_id: "z", completed: { a: 1 }, context_snapshot: "x" };
  const stepHandlers = { shout: () => ({ _suspend }) };
  const run = await runWorkflow(specOf([{ id: "w", type: "shout" }]), { q: 1 }, {}, { stepHandlers });
  expect((run.metadata as JsonMap)._suspension).toMatchObject({
    reason: "a person",
    step_index: 0,
    step_id: "w",
    completed: {},
    context_snapshot: { inputs: { q: 1 } },
  });
});
