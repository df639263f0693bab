import { describe, expect, it } from "vitest";
import * as runResult from "./run-result.ts";

describe("run result", () => {
  it("takes a run with an unknown status for running, because nothing says that it ended", () => {
    expect(runResult.normalize({ status: " SKIPPED\n" }).status).toBe("skipped");
    expect(runResult.normalize({ status: "done" }).status).toBe("running");
    expect(runResult.normalize("nonsense")).toMatchObject({ run_id: "", status: "running", outputs: {} });
  });

  it("reads output only where outputs is absent", () => {
    expect(runResult.normalize({ outputs: null, output: { a: 1 } }).outputs).toEqual({ a: 1 });
    expect(runResult.normalize({ outputs: "text", output: { a: 1 } }).outputs).toEqual({});
  });

  it("fills a blank time with the one written beside it, and counts zero as a time", () => {
    const timestamps = { started_at: " ", ended_at: 0, other: "x" };
    expect(runResult.normalize({ timestamps, started_at: " flat ", ended_at: "flat" }).timestamps).toEqual({
      started_at: "flat",
      ended_at: "0",
    });
  });

  it("drops a reference that says nothing and keeps what it does not know", () => {
    const artifact_refs = [{ id: " ", label: null, url: ["u"] }, { sha256: 5, size: "" }, [], "path", null];
    expect(runResult.normalize({ artifact_refs, evidence_refs: { id: "x" } })).toMatchObject({
      artifact_refs: [{ sha256: "5", size: "" }],
      evidence_refs: [],
    });
  });

  it("stays the same when it is normalised again", () => {
    const once = runResult.normalize({ run_id: 7, logs: [{ line: 1 }, {}], started_at: "t0", error: { code: "c" } });
    expect(runResult.normalize(once)).toEqual(once);
  });
});
