import { describe, expect, it } from "vitest";
import * as runRecord from "./run-record.ts";

describe("the record of a workflow run", () => {
  it("has every field, whatever it is read from", () => {
    const empty = runRecord.read({});
    expect(empty).toEqual({
      run_id: "",
      workflow_id: "",
      status: "pending",
      inputs: {},
      output: {},
      steps: [],
      error: {},
      started_at: 0,
      ended_at: 0,
      metadata: {},
      evidence_refs: [],
      replay: {},
      artifacts: [],
      logs: [],
    });
    expect(runRecord.read("nonsense")).toEqual(empty);
    expect(runRecord.read({ started_at: "10.9", ended_at: "soon", status: ["failed"], output: 1 })).toEqual({
      ...empty,
      started_at: 10,
    });
  });

  it("keeps references as they are, and of artifacts and logs only maps with something in them", () => {
    const run = runRecord.read({
      evidence_refs: ["x", {}],
      artifacts: [{}, [], "x", { id: "a" }],
      logs: [{ l: 1 }, null],
    });
    expect(run).toMatchObject({ evidence_refs: ["x", {}], artifacts: [{ id: "a" }], logs: [{ l: 1 }] });
  });

  it("is changed by fields of the right kind alone", () => {
    const run = runRecord.read({ run_id: "r", status: "running", output: { a: 1 }, logs: [{ l: 1 }], started_at: 5 });
    const changes = {
      run_id: 9,
      status: null,
      output: "no",
      steps: [{ id: "s" }],
      started_at: "x",
      ended_at: "7",
      logs: 1,
    };
    expect(runRecord.patch(run, changes)).toEqual({ ...run, run_id: "9", steps: [{ id: "s" }], ended_at: 7 });
  });

  it("shows what a suspended run waits for", () => {
    const suspended = runRecord.read({ status: "suspended", metadata: { _suspension: { step_index: 1 } } });
    expect(runRecord.isSuspended(suspended)).toBe(true);
    expect(runRecord.suspensionOf(suspended)).toEqual({ step_index: 1 });
    expect(runRecord.suspensionOf(runRecord.read({ metadata: ["x"] }))).toEqual({});
  });

  it("goes into the envelope of all runs, where a suspended one is running", () => {
    const run = runRecord.read({
      run_id: "r",
      workflow_id: "w",
      status: "suspended",
      inputs: { a: 1 },
      output: { b: 2 },
      started_at: 5,
      metadata: { steps: "mine" },
      artifacts: [{ id: " a " }],
    });
    expect(runRecord.envelope(run)).toMatchObject({
      status: "running",
      outputs: { b: 2 },
      artifact_refs: [{ id: "a" }],
      provenance: { workflow_id: "w" },
      timestamps: { started_at: "5", ended_at: "0" },
      metadata: { steps: "mine", inputs: { a: 1 } },
    });
  });
});
