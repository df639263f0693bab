import { describe, expect, it } from "vitest";
import { createKnownSecrets } from "../../threads/secrets/known-secrets.ts";
import { redactedJson } from "./redacted-json.ts";

const secrets = createKnownSecrets();
for (const secret of ["12345678", 'quoted"key', '","more":"']) secrets.add(secret);
const redact = (text: string) => secrets.clean(text);
const shown = (text: string) => JSON.parse(redactedJson(text, redact));

describe("JSON without secrets", () => {
  it.each([
    ["a number", { pin: 12345678 }, { pin: "[redacted]" }],
    ["a part of a number", { at: [1, 9123456780] }, { at: [1, "9[redacted]0"] }],
    ["a fraction", { a: 1.12345678, b: null, c: true }, { a: "1.[redacted]", b: null, c: true }],
    ["a key beside a number", { 12345678: 12345678 }, { "[redacted]": "[redacted]" }],
    ["a text beside a number", { a: 'quoted"key', b: 12345678 }, { a: "[redacted]", b: "[redacted]" }],
    ["what stands between two texts", { a: "x", more: "y", n: 12345678 }, { a: "x", more: "y", n: "[redacted]" }],
  ])("stays JSON where one is %s", (_what, value, expected) => {
    expect(shown(JSON.stringify(value))).toEqual(expected);
  });

  it("is the text that was printed where it can be", () => {
    expect(redactedJson('{ "a" : "12345678" }\n', redact)).toBe('{ "a" : "[redacted]" }\n');
    expect(redactedJson('{ "a" : 1.0 }', redact)).toBe('{ "a" : 1.0 }');
  });

  it("is redacted text where it never was JSON, or is nested without end", () => {
    expect(redactedJson("12345678 {", redact)).toBe("[redacted] {");
    const deep = `${"[".repeat(100_000)}12345678${"]".repeat(100_000)}`;
    expect(redactedJson(deep, redact)).not.toContain("12345678");
  });
});
