import { describe, expect, it } from "vitest";
import { normalizeCancelResult, normalizeEventsResult, normalizeStatusResult } from "./run-control-results.ts";

describe("what a host's handlers report about a run", () => {
  it("is refused with the code of whoever asked when it is no run", () => {
    const cycle: Record<string, unknown> = { run_id: "r" };
    cycle.metadata = cycle;
    for (const nonsense of [undefined, "r", [], { status: "running" }, { run_id: " " }, cycle]) {
      expect(normalizeStatusResult(nonsense, "my_code")).toMatchObject({ code: "my_code" });
      expect(normalizeCancelResult(nonsense, "my_code")).toMatchObject({ code: "my_code" });
      expect(normalizeEventsResult(nonsense, "my_code")).toMatchObject({ code: "my_code" });
    }
  });

  it("is cancelled by what it says, and else by its status", () => {
    expect(normalizeCancelResult({ run_id: "r", status: " Cancelled " }, "c")).toMatchObject({ cancelled: true });
    expect(normalizeCancelResult({ run_id: "r", status: "running" }, "c")).toMatchObject({ cancelled: false });
    expect(normalizeCancelResult({ run_id: "r", status: "cancelling", cancelled: 0 }, "c")).toMatchObject({
      status: "cancelling",
      cancelled: false,
    });
  });

  it("has whole events, a cursor and a flag, also where the host left them out", () => {
    expect(normalizeEventsResult({ run_id: "r", events: "none" }, "c")).toMatchObject({
      events: [],
      cursor: "",
      has_more: false,
    });
    expect(normalizeEventsResult({ run_id: "r", events: [null, [1], { id: 0, message: "" }] }, "c")).toMatchObject({
      events: [{ id: "0", type: "", created_at: "", metadata: {}, message: "" }],
    });
  });
});
