import { describe, expect, it } from "vitest";
import * as identicalFailure from "./identical-failure.ts";
import * as toolResult from "./result.ts";

const code = (result: object) => identicalFailure.signature("t", {}, result as Record<string, unknown>).error_code;

describe("identicalFailure", () => {
  it("takes the first code that is not blank", () => {
    expect(code({ error_code: "  ", code: null, metadata: { error_type: " Rate Limited!! " } })).toBe("rate_limited_");
    expect(code({ error_code: [], code: false, metadata: { code: 7 } })).toBe("7");
    expect(code({ metadata: "x", error: "e" })).toMatch(/^error_[0-9a-f]{12}$/);
    expect(code({ error: "" })).not.toBe(code({}));
    expect(code({ error: null })).toBe(code({}));
  });

  it("has no letters outside ASCII in a code, nor their lower case", () => {
    expect(code({ code: "\u212Aelvin-É" })).toBe("_elvin-_");
  });

  it("reads a normalised failure by its error type, else by its words", () => {
    expect(code(toolResult.failure("t", "boom", { error_type: "executor_exception" }))).toBe("executor_exception");
    expect(code(toolResult.failure("t", "a", {}))).not.toBe(code(toolResult.failure("t", "b", {})));
  });

  it("nudges from the threshold on, naming the tool, the count and the code", () => {
    const failure = identicalFailure.signature("save", { a: 1 }, { code: "locked" });
    const first = identicalFailure.record(undefined, failure, 2);
    const second = identicalFailure.record(first.state, failure, 2);
    const third = identicalFailure.record(second.state, failure, 2);
    expect(first.nudge).toBeUndefined();
    expect(second.nudge).toMatchObject({ ...failure, repeat_count: 2, threshold: 2 });
    expect(third.nudge?.message).toMatch(/save.*3 times.*locked/);
  });

  it("begins again with a different failure", () => {
    const one = identicalFailure.signature("save", {}, { code: "a" });
    const other = identicalFailure.signature("save", {}, { code: "b" });
    const { state } = identicalFailure.record(identicalFailure.record(undefined, one, 2).state, other, 2);
    expect(state.count).toBe(1);
  });

  it("tells at the second failure unless told otherwise, and never at the first", () => {
    expect([undefined, 1, "3"].map(identicalFailure.normalizeThreshold)).toEqual([2, 2, 3]);
  });
});
