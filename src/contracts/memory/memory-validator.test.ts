import { describe, expect, it } from "vitest";
import { error, stale, unsupported, valid } from "./memory-validator.ts";

describe("the result of a validation", () => {
  it("is valid for what was found valid, and for nothing else", () => {
    expect(valid(0.9, "seen")).toEqual({ valid: true, status: "valid", message: "seen", confidence: 0.9 });
    expect(stale("changed", 0.2)).toEqual({ valid: false, status: "stale", message: "changed", confidence: 0.2 });
    expect(unsupported()).toEqual({ valid: false, status: "unsupported", message: null, confidence: null });
    expect(error("broken")).toEqual({ valid: false, status: "error", message: "broken", confidence: null });
  });
});
