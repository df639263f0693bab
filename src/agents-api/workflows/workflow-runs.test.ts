import { describe, expect, it } from "vitest";
import { createMemoryRunStore } from "../../contracts/conversation/run-control.ts";
import { createHooks } from "../../contracts/hooks.ts";
import { cancelWorkflowRun, getWorkflowRun, listWorkflowRunEvents } from "./workflow-runs.ts";

function started() {
  const runs = createMemoryRunStore({ now: () => new Date("2026-01-01T12:00:00Z") });
  runs.start({ run_id: "r", workflow_id: "w", metadata: { api_key: "k", note: "n" } });
  return runs;
}

describe("watching a workflow run", () => {
  it("covers up what is in it for those who may not see it as it is", async () => {
    const runs = started();
    const covered = { run_id: "r", workflow_id: "[redacted]", metadata: { api_key: "[redacted]", note: "n" } };
    expect(await getWorkflowRun({ run_id: "r" }, { runs })).toMatchObject(covered);
    expect(await listWorkflowRunEvents({ run_id: "r" }, { runs })).toMatchObject(covered);
    expect(await getWorkflowRun({ run_id: "r" }, { runs, mayReadUnredacted: () => true })).toMatchObject({
      workflow_id: "w",
      metadata: { api_key: "k" },
    });
  });

  it("asks it to stop, and pages through its events", async () => {
    const runs = started();
    expect(await cancelWorkflowRun({ run_id: "r" }, { runs })).toMatchObject({
      status: "cancelling",
      cancelled: true,
      workflow_id: "w",
    });
    expect(await listWorkflowRunEvents({ run_id: "r", cursor: "1", limit: 1 }, { runs })).toMatchObject({
      events: [{ id: "r:1", type: "cancel_requested" }],
      has_more: false,
    });
  });

  it("believes the handlers of a host, as far as they speak of a run", async () => {
    const hooks = createHooks();
    hooks.filter("workflowRunStatusHandler", () => () => ({ run_id: "h", status: "COMPLETED ", extra: 1 }));
    hooks.filter("workflowRunCancelHandler", () => () => ({ status: "cancelled" }));
    hooks.filter("workflowRunEventsHandler", () => () => {
      throw new Error("no disk");
    });
    const host = { runs: started(), hooks };
    expect(await getWorkflowRun({}, host)).toEqual({
      run_id: "h",
      status: "completed",
      started_at: "",
      updated_at: "",
      metadata: {},
    });
    expect(await cancelWorkflowRun({}, host)).toMatchObject({ code: "agents_workflow_run_invalid_cancel_result" });
    expect(await listWorkflowRunEvents({}, host)).toMatchObject({ code: "agents_workflow_run_handler_failed" });
    const silent = { runs: started(), statusHandler: () => null, eventsHandler: () => "none" };
    expect(await getWorkflowRun({}, silent)).toMatchObject({ code: "agents_workflow_run_invalid_status" });
    expect(await listWorkflowRunEvents({}, silent)).toMatchObject({
      code: "agents_workflow_run_invalid_events_result",
    });
  });

  it("knows no run that is not there", async () => {
    const host = { runs: started() };
    for (const use of [getWorkflowRun, cancelWorkflowRun, listWorkflowRunEvents]) {
      expect(await use({ run_id: "x" }, host)).toMatchObject({ code: "agents_workflow_run_not_found" });
    }
  });
});
