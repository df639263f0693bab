import { describe, expect, it } from "vitest";
import { awaitRun, type DrainScope, queueGroup } from "./await-run.ts";
import * as runRecord from "./run-record.ts";

const runWith = (status: string) => runRecord.read({ run_id: "r", workflow_id: "w", status });

describe("waiting for a workflow run", () => {
  it("hands over the envelope of one that has ended, and works nothing off", async () => {
    const drain = () => Promise.reject(new Error("nothing is to be done"));
    for (const status of ["succeeded", "failed", "skipped", "cancelled"]) {
      expect(await awaitRun(" r ", {}, { find: () => runWith(status), drain })).toMatchObject({
        status,
        terminal: true,
        reconnectable: false,
        result: { run_id: "r", status },
        drain: { stop_reason: "terminal_status", terminal_state: status, available: false, group: queueGroup("r") },
      });
    }
    expect(await awaitRun("r", {}, { find: () => runWith("running"), drain })).toMatchObject({
      terminal: false,
      reconnectable: true,
      result: null,
      drain: { stop_reason: "terminal_status", terminal_state: "running" },
    });
  });

  it("works off the jobs of a suspended one, and looks again", async () => {
    const asked: DrainScope[] = [];
    let run = runWith("suspended");
    const drain = async (scope: DrainScope) => {
      asked.push(scope);
      run = runWith("succeeded");
      return { ...drained, hooks: scope.hooks.join(","), group: scope.group };
    };
    const options = { hooks: [" a ", "a", 3, "b"], limit: 5 };
    expect(await awaitRun("r", options, { find: () => run, drain })).toMatchObject({
      status: "succeeded",
      terminal: true,
      drain: { hooks: "a,b", group: queueGroup("r"), actions_processed: 2 },
    });
    expect(asked).toEqual([{ hooks: ["a", "b"], group: queueGroup("r"), options }]);
  });

  it("says so when there is no queue, and no such run", async () => {
    const host = { find: (id: string) => (id === "r" ? runWith("suspended") : undefined) };
    expect(await awaitRun("r", { hooks: [" "], group: "g" }, host)).toMatchObject({
      reconnectable: true,
      drain: {
        stop_reason: "as_unavailable",
        terminal_state: "",
        hooks: "wp_agent_workflow_branch_run,wp_agent_workflow_run_resume",
        group: "g",
      },
    });
    expect(await awaitRun("x", {}, host)).toMatchObject({ code: "agents_workflow_run_not_found" });
    expect(await awaitRun(null, {}, host)).toMatchObject({ code: "agents_workflow_run_not_found" });
  });
});

const drained = {
  batches: 1,
  actions_processed: 2,
  completions: 2,
  failures: 0,
  remaining_pending: 0,
  total_pending: 0,
  warnings: 0,
  stop_reason: "empty",
  terminal_state: "",
  available: true,
};
