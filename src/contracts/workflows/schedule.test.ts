import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import * as lifecycle from "./lifecycle.ts";
import { createMemoryWorkflows } from "./registry.ts";
import { schedule, type WorkflowScheduler } from "./schedule.ts";
import { normalize, type WorkflowSpec } from "./spec.ts";

/** A scheduler that keeps what it was told to start. */
function createTimetable() {
  const entries = new Map<string, string[]>();
  const add = (id: string, when: string) => void entries.set(id, [...(entries.get(id) ?? []), when]);
  const scheduler: WorkflowScheduler = {
    unschedule: (id) => void entries.delete(id),
    cron: add,
    every: async (id, seconds) => add(id, `every ${seconds} s`),
  };
  return { entries, scheduler };
}

function specWith(...triggers: object[]): WorkflowSpec {
  return normalize({
    id: "report",
    steps: [{ id: "a", type: "ability", ability: "demo/a" }],
    triggers,
  }) as WorkflowSpec;
}

const monday = { type: "cron", expression: "0 9 * * 1" };
const fiveMinutes = { type: "cron", interval: "300.5" };

describe("the schedule of a workflow", () => {
  it("has an entry for every cron trigger, an expression before an interval", async () => {
    const { entries, scheduler } = createTimetable();
    const spec = specWith(monday, { type: "on_demand" }, fiveMinutes, { ...monday, interval: 60 });
    await schedule(spec, { scheduler });
    await schedule(spec, { scheduler });
    expect(entries.get("report")).toEqual(["0 9 * * 1", "every 300 s", "0 9 * * 1"]);
  });

  it("has none for what is neither, and none that would start the workflow all the time", async () => {
    const { entries, scheduler } = createTimetable();
    const triggers = [{ interval: "soon" }, { interval: 0.5 }, { interval: -5 }, { expression: ["x"] }];
    await schedule(specWith(...triggers.map((trigger) => ({ type: "cron", ...trigger }))), { scheduler });
    expect(entries.get("report")).toBeUndefined();
  });

  it("follows what happens to the workflow, and tells it", async () => {
    const { entries, scheduler } = createTimetable();
    const hooks = createHooks();
    const told: string[] = [];
    hooks.on("workflowScheduleRequested", ({ id }, { type }) => told.push(`${id} ${type}`));
    hooks.on("workflowSaved", ({ id }) => told.push(`${id} saved`));
    hooks.on("workflowDisabled", ({ id }) => told.push(`${id} disabled`));
    hooks.on("workflowEnabled", ({ id }) => told.push(`${id} enabled`));
    hooks.on("workflowDeleted", (id, spec) => told.push(`${id} ${spec === null ? "deleted" : ""}`));
    const host = { scheduler, hooks };
    await lifecycle.saved(specWith(monday), host);
    await lifecycle.disabled(specWith(monday), host);
    expect(entries.size).toBe(0);
    await lifecycle.enabled(specWith(monday), host);
    await lifecycle.saved(specWith(), host);
    expect(entries.size).toBe(0);
    await lifecycle.deleted("report", null, host);
    const requested = "report cron";
    expect(told).toEqual([
      ...[requested, "report saved", "report disabled", requested, "report enabled", "report saved", "report deleted"],
    ]);
  });

  it("is not told as saved when the scheduler fails", async () => {
    const hooks = createHooks();
    const told: string[] = [];
    hooks.on("workflowSaved", ({ id }) => told.push(id));
    const scheduler = { ...createTimetable().scheduler, unschedule: () => Promise.reject(new Error("no queue")) };
    await expect(lifecycle.saved(specWith(monday), { scheduler, hooks })).rejects.toThrow("no queue");
    expect(told).toEqual([]);
  });

  it("begins when the workflow is registered", async () => {
    const { entries, scheduler } = createTimetable();
    await createMemoryWorkflows({ scheduler }).register(specWith(monday).raw);
    expect(entries.get("report")).toEqual(["0 9 * * 1"]);
  });
});
