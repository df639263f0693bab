import { describe, expect, it } from "vitest";
import { createMemoryRunStore, normalizeRun } from "./run-control.ts";

const noon = () => new Date("2026-01-01T12:00:00Z");

describe("run record", () => {
  it("reads a status in any case and takes an unknown one for running", () => {
    expect(normalizeRun({ run_id: "r", status: " Budget_Exceeded " }).status).toBe("budget_exceeded");
    expect(normalizeRun({ run_id: "r", status: "pending" }).status).toBe("running");
  });

  it("has only the optional fields that were given", () => {
    expect(Object.keys(normalizeRun({ run_id: "r", session_id: null, extra: 1 }))).toEqual([
      "run_id",
      "status",
      "started_at",
      "updated_at",
      "metadata",
    ]);
  });

  it("writes out an id that is a number", () => {
    expect(normalizeRun({ run_id: 7, workflow_id: 8 })).toMatchObject({ run_id: "7", workflow_id: "8" });
  });

  it("has an empty name and a position of zero where something of another kind was given", () => {
    const names = { session_id: {}, workflow_id: true, executor_id: [], queued_message_id: [1] };
    expect(normalizeRun({ run_id: "r", ...names, position: "next" })).toMatchObject({
      session_id: "",
      workflow_id: "",
      executor_id: "",
      queued_message_id: "",
      position: 0,
    });
  });

  it("refuses a run without an id", () => {
    expect(() => normalizeRun(undefined)).toThrow("invalid_run_record: run_id");
  });
});

describe("run store", () => {
  it("cancels what waits, but not what has ended", () => {
    const store = createMemoryRunStore({ now: noon });
    for (const run_id of ["waits", "ended"]) store.start({ run_id });
    store.finish("waits", "approval_required");
    store.finish("ended", "stalled");
    expect(store.cancel("waits")).toMatchObject({ status: "cancelling", cancelled: true });
    expect(store.cancel("ended")).toMatchObject({ status: "stalled", cancelled: false });
  });

  it("keeps the start it is given and stamps each change", () => {
    const store = createMemoryRunStore({ now: noon });
    expect(store.start({ run_id: "r", started_at: "" }).started_at).toBe("");
    expect(store.start({ run_id: "r", started_at: null }).started_at).toBe(noon().toISOString());
    store.start({ run_id: "r", started_at: "yesterday", status: "failed" });
    expect(store.save({ run_id: "r", status: "queued" })).toMatchObject({ status: "queued", started_at: "" });
    expect(store.events("r")?.events.map((event) => event.type)).toEqual([
      "run_started",
      "run_started",
      "run_started",
      "run_updated",
    ]);
  });

  it("keeps the time a saved run states and fills in one that is missing", () => {
    const store = createMemoryRunStore({ now: noon });
    const now = noon().toISOString();
    expect(store.save({ run_id: "r", updated_at: "yesterday" }).updated_at).toBe("yesterday");
    expect(store.save({ run_id: "r", updated_at: "" }).updated_at).toBe(now);
    expect(store.events("r")?.events.map(({ created_at }) => created_at)).toEqual([now, now]);
    store.save({ run_id: "r", updated_at: "yesterday" });
    expect(store.cancel("r")?.updated_at).toBe(now);
  });

  it("pages through events and copes with any cursor and limit", () => {
    const store = createMemoryRunStore({ now: noon });
    store.start({ run_id: "r" });
    store.finish("r");
    expect(store.events("r", { limit: -5 })).toMatchObject({ events: [{ id: "r:0" }], cursor: "1", has_more: true });
    expect(store.events("r", { cursor: "nonsense", limit: 1e9 })).toMatchObject({ cursor: "", has_more: false });
    expect(store.events("r", { cursor: 99 })).toMatchObject({ events: [], cursor: "", has_more: false });
  });
});
