import { describe, expect, it } from "vitest";
import { text } from "../canonical-json.ts";
import * as toolResult from "./result.ts";
import * as truncation from "./truncation.ts";

const large = (fields: object) => toolResult.normalize({ success: true, tool_name: "t", ...fields });

describe("truncation", () => {
  it("leaves a result of exactly the limit alone and cuts one a byte longer", () => {
    const result = large({ result: { a: "12345" } });
    const size = text(result).length;
    expect(truncation.truncate(result, size)).toEqual({
      result,
      truncated: false,
      metadata: { original_bytes: size },
    });
    expect(truncation.truncate(result, size).result).toBe(result);
    expect(truncation.truncate(result, size - 1).truncated).toBe(true);
  });

  it("gives a failed result an excerpt beside its error", () => {
    const failed = toolResult.failure("t", "e".repeat(100), { error_type: "x" }, { a: 1 });
    const { result } = truncation.truncate(failed, 20);
    expect(result).toMatchObject({
      success: false,
      error: "e".repeat(100),
      runtime: { a: 1 },
      metadata: { error_type: "x", truncated: true },
      result: { truncated: true, excerpt: '{"success":false,"to', excerpt_bytes: 20 },
    });
  });

  it("writes the excerpt block in the order the model reads it", () => {
    const citations = [{ source: "a" }, { source: "b".repeat(90) }];
    const { result } = truncation.truncate(large({ result: { citations } }), 60);
    expect(Object.keys(result.result ?? {})).toEqual([
      "truncated",
      "excerpt",
      "original_bytes",
      "excerpt_bytes",
      "citations",
      "citations_dropped",
    ]);
  });

  it("drops every citation behind the first that does not fit, though a later one would", () => {
    const citations = [{ source: "a" }, { source: "b".repeat(90) }, { source: "c" }];
    const { result, metadata } = truncation.truncate(large({ metadata: { citations }, result: { citations } }), 60);
    expect(result).toMatchObject({
      metadata: { citations: [{ source: "a" }] },
      result: { citations: [{ source: "a" }] },
    });
    expect(metadata.citations_dropped).toBe(4);
  });

  it("keeps citations whose list is exactly as long as the limit", () => {
    const citations = [{ source: "a" }, { source: "b" }];
    const limit = text(citations).length;
    const result = large({ result: { citations, body: "x".repeat(100) } });
    expect(truncation.truncate(result, limit).result.result).toMatchObject({ citations });
    expect(truncation.truncate(result, limit - 1).result.result).toMatchObject({ citations: [{ source: "a" }] });
  });

  it("forgets a count of dropped citations from an earlier truncation", () => {
    const result = large({ metadata: { citations_dropped: 9 }, result: "x".repeat(100) });
    expect(truncation.truncate(result, 30).result.metadata).not.toHaveProperty("citations_dropped");
  });

  it("has a limit of 8192 bytes unless told, and never below one", () => {
    expect([undefined, "x", 0, -5, "12", 9.9].map(truncation.normalizeLimit)).toEqual([8192, 8192, 1, 1, 12, 9]);
  });

  it("cuts fifty megabytes in one pass", () => {
    const result = large({ result: { text: "x".repeat(50_000_000) } });
    const { truncated, metadata } = truncation.truncate(result, 8192);
    expect(truncated).toBe(true);
    expect(metadata).toEqual({ excerpt_bytes: 8192, original_bytes: 50_000_067 });
  });
});
