import { describe, expect, it } from "vitest";
import { createMemoryRunStore } from "../contracts/conversation/run-control.ts";
import { holdfastError } from "../contracts/error.ts";
import { createHooks } from "../contracts/hooks.ts";
import type { JsonMap } from "../contracts/json.ts";
import * as packageRuns from "./package-runs.ts";

const noon = () => new Date("2026-01-01T12:00:00Z");
const input = { run_id: "run-1", package: { slug: "reports" }, workflow: { id: "daily" } };

describe("dispatching a package run", () => {
  it("hands the request over, keeps the id and records how it went", async () => {
    const runs = createMemoryRunStore({ now: noon });
    const handler = (request: JsonMap) => ({ run_id: "another", result: { heard: request.options } });
    const result = await packageRuns.dispatch(input, { runs, handler });
    expect(result).toMatchObject({ status: "succeeded", run_id: "run-1", result: { heard: { run_id: "run-1" } } });
    expect(runs.events("run-1")).toMatchObject({
      status: "succeeded",
      started_at: noon().toISOString(),
      metadata: { package: { slug: "reports" }, workflow: { id: "daily" } },
      events: [{ type: "run_started" }, { type: "run_updated" }],
    });
  });

  it("makes an id where none is given, at random unless told how", async () => {
    const runs = createMemoryRunStore({ now: noon });
    const handler = () => ({});
    const unnamed = { ...input, run_id: " " };
    expect(await packageRuns.dispatch(unnamed, { runs, handler })).toMatchObject({
      run_id: expect.stringMatching(/^runtime_run_[0-9a-f]{32}$/),
    });
    expect(await packageRuns.dispatch(unnamed, { runs, handler, newId: () => "mine" })).toMatchObject({
      run_id: "mine",
    });
  });

  it("tells why it failed and leaves the run failed, unless the request named nothing to run", async () => {
    const hooks = createHooks();
    const told: string[] = [];
    hooks.on("runtimePackageRunDispatchFailed", (code) => told.push(code));
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const answers: [answer: () => unknown, code: string][] = [
      [() => ["a list"], "agents_runtime_package_run_invalid_result"],
      [() => cycle, "agents_runtime_package_run_invalid_result"],
      [() => ({ code: "quota_spent", message: "Come back tomorrow." }), "quota_spent"],
      [async () => new Error("returned, not thrown"), "agents_runtime_package_run_handler_failed"],
      [() => Promise.reject("no error at all"), "agents_runtime_package_run_handler_failed"],
      [() => Promise.reject(holdfastError("aborted", "stopped")), "aborted"],
    ];
    for (const [handler, code] of answers) {
      const runs = createMemoryRunStore({ now: noon });
      expect(await packageRuns.dispatch(input, { runs, hooks, handler })).toMatchObject({ code });
      expect(runs.get("run-1")).toMatchObject({ status: "failed" });
    }
    const runs = createMemoryRunStore({ now: noon });
    await packageRuns.dispatch({ run_id: "run-1" }, { runs, hooks });
    expect(runs.get("run-1")).toBeUndefined();
    expect(told).toEqual([
      "invalid_result",
      "invalid_result",
      "quota_spent",
      "agents_runtime_package_run_handler_failed",
      "agents_runtime_package_run_handler_failed",
      "aborted",
      "agents_runtime_package_run_missing_package",
    ]);
  });

  it("asks the hooks for a handler", async () => {
    const hooks = createHooks();
    hooks.filter("runtimePackageRunHandler", (_none, given) => () => ({ result: given.package }));
    const host = { runs: createMemoryRunStore({ now: noon }), hooks };
    expect(await packageRuns.dispatch(input, host)).toMatchObject({ result: { slug: "reports" } });
  });

  it("does not forget that the run was asked to stop while its handler was at work", async () => {
    const runs = createMemoryRunStore({ now: noon });
    const cancelledWhile = (status: string) => async () => {
      await packageRuns.cancel({ run_id: "run-1" }, { runs });
      return { status };
    };
    await packageRuns.dispatch(input, { runs, handler: cancelledWhile("running") });
    expect(runs.get("run-1")).toMatchObject({ status: "cancelling", cancelled: true });
    await packageRuns.dispatch(input, { runs, handler: cancelledWhile("succeeded") });
    expect(runs.get("run-1")).toMatchObject({ status: "succeeded" });
  });
});

describe("watching a package run", () => {
  const started = () => {
    const runs = createMemoryRunStore({ now: noon });
    runs.start({ run_id: "run-1", metadata: { package: { slug: "reports" }, note: "weekly" } });
    return runs;
  };

  it("shows its content only to those who may see it", async () => {
    const runs = started();
    const covered = { metadata: { package: { redacted: true }, note: "weekly" } };
    const failing = () => Promise.reject(new Error("nobody knows"));
    expect(await packageRuns.get({ run_id: "run-1" }, { runs })).toMatchObject(covered);
    expect(await packageRuns.events({ run_id: "run-1" }, { runs })).toMatchObject(covered);
    expect(await packageRuns.get({ run_id: "run-1" }, { runs, mayReadUnredacted: failing })).toMatchObject(covered);
    const mayReadUnredacted = (given: JsonMap) => given.run_id === "run-1";
    expect(await packageRuns.get({ run_id: "run-1" }, { runs, mayReadUnredacted })).toMatchObject({
      metadata: { package: { slug: "reports" } },
    });
  });

  it("pages through its events", async () => {
    const runs = started();
    runs.finish("run-1");
    expect(await packageRuns.events({ run_id: " run-1 ", cursor: "1" }, { runs })).toMatchObject({
      events: [{ id: "run-1:1", type: "run_finished" }],
      has_more: false,
    });
  });

  it("believes a host that keeps the runs itself, but not everything", async () => {
    const runs = started();
    const run = { run_id: "theirs", status: "Cancelled", workflow_id: "w" };
    const theirs = () => run;
    expect(await packageRuns.get({}, { runs, statusHandler: theirs })).toMatchObject({ workflow_id: "[redacted]" });
    expect(await packageRuns.cancel({}, { runs, cancelHandler: theirs })).toMatchObject({
      workflow_id: "w",
      cancelled: true,
    });
    expect(await packageRuns.events({}, { runs, eventsHandler: theirs })).toMatchObject({ events: [], cursor: "" });

    const nothing = () => null;
    const codes = await Promise.all([
      packageRuns.get({}, { runs, statusHandler: nothing }),
      packageRuns.cancel({}, { runs, cancelHandler: nothing }),
      packageRuns.events({}, { runs, eventsHandler: nothing }),
    ]);
    expect(codes).toMatchObject([
      { code: "agents_runtime_package_run_invalid_status" },
      { code: "agents_runtime_package_run_invalid_cancel_result" },
      { code: "agents_runtime_package_run_invalid_events_result" },
    ]);
  });

  it("knows no run without a name", async () => {
    const notFound = { code: "agents_runtime_package_run_not_found" };
    expect(await packageRuns.get("nonsense", { runs: started() })).toMatchObject(notFound);
    expect(await packageRuns.cancel({ run_id: "" }, { runs: started() })).toMatchObject(notFound);
  });
});
