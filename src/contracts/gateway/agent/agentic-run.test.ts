import { describe, expect, it } from "vitest";
import {
  derivedRunId,
  newRun,
  pendingSince,
  readRun,
  readRuns,
  withCompletedStep,
  withOutcome,
  withPending,
  withReason,
  workspaceRef,
} from "./agentic-run.ts";

const began = "2026-02-16T12:00:00Z";
const later = "2026-02-16T12:00:10Z";
const action = { step: 1, attempt: 1, tool: "fetch", tool_command: "handle", pending_payload: { url: "u" } };
const begun = newRun({ goal: "g", max_steps: 6, max_reframes: 2, workspace_ref: workspaceRef("J1") }, began);
const running = withPending(begun, action, began);

describe("the state of a run", () => {
  it("names what is pending while it runs", () => {
    expect(running).toEqual({
      ...{ status: "running", goal: "g", created_at: began, updated_at: began, step: 1, max_steps: 6 },
      ...{ reframes: 0, max_reframes: 2, pending_step: 1, pending_tool: "fetch", pending_since: began },
      ...{ pending_payload: { url: "u" }, last_tool_command: "handle", attempt: 1, completed_steps: [] },
      ...{ workspace_ref: "job:J1", last_error: null },
    });
  });

  it.each([
    ["done", withOutcome(running, "fine", later), { outcome: "fine" }],
    ["escalated", withReason(running, "cancelled", later), { reason: "cancelled" }],
  ])("has nothing pending once it is %s", (status, run, about) => {
    expect(run).toMatchObject({ status, ...about, updated_at: later, created_at: began });
    expect(run).toMatchObject({ pending_step: null, pending_tool: null, pending_since: null, pending_payload: null });
  });

  it("lists each completed step once, in order", () => {
    const run = [3, 1, 3, 2].reduce(withCompletedStep, begun);
    expect(run.completed_steps).toEqual([1, 2, 3]);
  });

  it("is read as it was written", () => {
    for (const run of [running, withOutcome(running, "fine", later), withReason(running, "cancelled", later)]) {
      expect(readRun(JSON.parse(JSON.stringify(run)))).toEqual(run);
    }
  });

  it("is read with defaults where another agent has left something out, or left it set", () => {
    const left = { status: "escalated", goal: "g", pending_step: 2, pending_tool: "fetch", reason: "tool_error" };
    expect(readRun(left)).toMatchObject({ pending_step: null, pending_tool: null, attempt: 1, completed_steps: [] });
    expect(readRun({ status: "running", pending_step: 2, step: 2 })).toMatchObject({
      pending_tool: "",
      pending_payload: {},
    });
  });

  it("has the budgets of its agent where another agent has stored none that can be used", () => {
    const limits = { max_steps: 9, max_reframes: 4 };
    for (const budgets of [{}, { max_steps: 0, max_reframes: -1 }, { max_steps: "6", max_reframes: null }]) {
      expect(readRun({ status: "running", ...budgets }, limits)).toMatchObject(limits);
      expect(readRuns({ runs: { R1: { status: "done", ...budgets } } }, limits)).toMatchObject([{ run: limits }]);
    }
    expect(readRun({ status: "running", max_steps: 3, max_reframes: 0 }, limits)).toMatchObject({
      ...{ max_steps: 3, max_reframes: 0 },
    });
  });

  it.each([null, "running", [], {}, { status: "sleeping" }])("is not read from %j", (value) => {
    expect(readRun(value)).toBeUndefined();
  });

  it.each([
    ["since its request", { pending_since: "2026-02-16T12:00:00Z", updated_at: "2026-02-16T12:01:00Z" }, 12],
    ["since its last change", { pending_since: "noon", updated_at: "2026-02-16T13:00:00Z" }, 13],
    ["since its last change", { updated_at: "2026-02-16T14:00:00Z" }, 14],
  ])("waits %s: %j", (_what, times, hour) => {
    const run = readRun({ status: "running", ...times });
    expect(run?.status === "running" && pendingSince(run)).toEqual(new Date(Date.UTC(2026, 1, 16, hour)));
  });

  it("has waited for ever where no time can be read", () => {
    const run = readRun({ status: "running" });
    expect(run?.status === "running" && pendingSince(run)).toEqual(new Date(0));
  });

  it("is found under its id among others that cannot be read", () => {
    expect(readRuns({ runs: { R1: running, R2: "?" } })).toEqual([{ id: "R1", run: running }]);
    expect(readRuns({ runs: [] })).toEqual([]);
    expect(readRuns({})).toEqual([]);
  });

  it("is named after its job where it came without a name", () => {
    expect(derivedRunId("J1")).toBe("run-J1");
  });
});
