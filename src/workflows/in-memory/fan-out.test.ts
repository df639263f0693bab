import { describe, expect, it } from "vitest";
import { call, hostWith, specOf } from "../../../test/workflows-in-memory.ts";
import { createHooks } from "../../contracts/hooks.ts";
import type { BranchDescriptor, BranchExecutor } from "../../contracts/workflows/branch-executor.ts";
import { runWorkflow } from "./run-workflow.ts";

const parallel = {
  id: "p",
  type: "parallel",
  branches: [
    { role: "a", required: true, steps: [call("n", "ok")] },
    { role: "b", steps: [call("n", "ok")] },
  ],
};

const declined = { fanned_out: false, reason: "fanout_gate_declined" };

const atOnce: BranchExecutor = {
  id: "here",
  dispatch: (branches) =>
    branches.map(({ key, required = false }: BranchDescriptor) => {
      return { id: key, key, executor: "here", status: "dispatched", required };
    }),
  areAllComplete: () => true,
  collect: () => new Map([["a", { status: "succeeded", output: 1 }]]),
};

const run = (hooks: ReturnType<typeof createHooks>, steps = [parallel] as Parameters<typeof specOf>[0]) =>
  runWorkflow(specOf(steps), {}, {}, hostWith({ ok: () => ({ here: true }) }, { hooks }));

describe("the gate of parallel steps", () => {
  it("lets nothing pass with an answer that is not truthy, null among them", async () => {
    for (const answer of [null, 0, "", "0", false]) {
      const hooks = createHooks();
      hooks.filter("workflowShouldFanout", () => answer);
      expect(await run(hooks)).toMatchObject({ status: "succeeded", output: { last: declined } });
    }
  });

  it.each(["workflowShouldFanout", "workflowStepExecutor"] as const)("fails the step when %s throws", async (name) => {
    const hooks = createHooks();
    hooks.filter(name, () => {
      throw new Error("The policy is gone.");
    });
    expect(await run(hooks)).toMatchObject({ status: "failed", error: { message: "The policy is gone." } });
  });

  it("is asked for what stands inside other steps as well, but nobody else carries that out", async () => {
    const hooks = createHooks();
    let executors = 0;
    let gates = 0;
    hooks.filter("workflowShouldFanout", () => ++gates < 2);
    hooks.filter("workflowStepExecutor", () => {
      executors++;
      return atOnce;
    });
    const steps = [{ id: "f", type: "foreach", items: [1, 2], steps: [parallel] }];
    expect(await run(hooks, steps)).toMatchObject({
      output: { last: { iterations: [{ last: { shape: "roles" } }, { last: declined }] } },
    });
    expect(executors).toBe(0);
  });
});

describe("branches that are carried out elsewhere", () => {
  function carriedOutBy(executor: object) {
    const hooks = createHooks();
    hooks.filter("workflowStepExecutor", () => ({ ...atOnce, ...executor }));
    return run(hooks);
  }

  it("fail their step when a required one fails, also when they have ended at once", async () => {
    const collect = () => new Map([["a", { status: "failed" }]]);
    expect(await carriedOutBy({ collect })).toMatchObject({
      status: "failed",
      error: { code: "workflow_parallel_required_branch_failed" },
    });
  });

  it("fail their step without a handle for each of them", async () => {
    const handle = { id: "1", key: "a", executor: "here", status: "dispatched", required: false };
    for (const dispatched of [undefined, null, "x", [], [1, 2], [{ id: 5 }], { a: 1 }, [handle]]) {
      expect(await carriedOutBy({ dispatch: () => dispatched })).toMatchObject({
        status: "failed",
        error: { code: "workflow_branch_dispatch_invalid" },
      });
    }
  });

  it("fail their step when they are refused with what is no JSON, or collected as no map", async () => {
    const dispatch = () => ({ code: "full", message: "", data: { n: 1n } });
    const collect = () => ({ a: 1 });
    for (const executor of [{ dispatch }, { collect }]) {
      expect(await carriedOutBy(executor)).toMatchObject({ status: "failed", error: { code: "handler_exception" } });
    }
  });

  it("are brought together by steps that sleep and branch as well", async () => {
    const aggregator = {
      role: "z",
      required: true,
      is_aggregator: true,
      steps: [
        { id: "s", type: "sleep", for: "1ms" },
        { id: "c", type: "branch", cases: [], else: [call("n", "ok")] },
      ],
    };
    const hooks = createHooks();
    hooks.filter("workflowStepExecutor", () => atOnce);
    const steps = [{ ...parallel, branches: [...parallel.branches, aggregator] }];
    expect(await run(hooks, steps)).toMatchObject({
      status: "succeeded",
      output: { last: { final: { case: "else", last: { here: true } } } },
    });
  });
});
