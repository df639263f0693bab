import { describe, expect, it } from "vitest";
import { isOperationError, operationError } from "./operation-error.ts";

describe("operation error", () => {
  it("is recognised by its shape, so that a host may return its own", () => {
    expect(isOperationError(operationError("run_not_found", "There is no such run."))).toBe(true);
    expect(isOperationError({ code: "x", message: "y", data: { run_id: "r" } })).toBe(true);
  });

  it("is not confused with a record that also has a code and a message", () => {
    expect(isOperationError({ code: "x", message: "y", run_id: "r" })).toBe(false);
    expect(isOperationError(new Error("y"))).toBe(false);
    expect(isOperationError(undefined)).toBe(false);
  });

  it("leaves data out when there is none", () => {
    expect(Object.keys(operationError("x", "y"))).toEqual(["code", "message"]);
  });
});
