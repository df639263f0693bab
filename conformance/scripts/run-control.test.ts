import { describe, expect, it } from "vitest";
import { runSteps } from "./run-control.ts";

describe("a step of run control that is refused", () => {
  it("is told in the words of the contract, without the code that only we put before them", () => {
    const refused = { error: "run_id must be a non-empty string" };
    const steps = runSteps([
      { do: "start", run_id: " " },
      { do: "save", run_id: "", run: { status: "failed" } },
      { do: "cancel_requested", run_id: "r" },
    ]);
    expect(steps).toEqual([refused, refused, { value: false }]);
  });
});
