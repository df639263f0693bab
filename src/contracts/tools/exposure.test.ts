import { describe, expect, it } from "vitest";
import { stableHash } from "../canonical-json.ts";
import type { JsonMap } from "../json.ts";
import { expose, exposeShown, redact, sensitivePaths } from "./exposure.ts";

describe("redaction", () => {
  it("hides sensitive keys at any depth, with everything below them", () => {
    const parameters = { list: [{ Password: ["a", "b"], user: { authToken: { a: 1 } } }] };
    expect(redact(parameters, null)).toEqual({
      list: [{ Password: "[redacted]", user: { authToken: "[redacted]" } }],
    });
  });

  it("hides the items of a list, or every key of a map, behind a wildcard", () => {
    expect(redact({ pins: [1, { a: 2 }], m: { a: 1 } }, { sensitive_parameters: ["pins.*", "m.*"] })).toEqual({
      pins: ["[redacted]", "[redacted]"],
      m: { a: "[redacted]" },
    });
    expect(redact({ a: 1, b: {} }, { sensitive_parameters: ["*"] })).toEqual({ a: "[redacted]", b: "[redacted]" });
  });

  it("hides a parameter whose binding is sensitive", () => {
    const definition = { parameter_bindings: { account: { source: "context", path: "iban", sensitive: true } } };
    expect(redact({ account: "DE00", amount: 5 }, definition)).toEqual({ account: "[redacted]", amount: 5 });
  });

  it("copies and freezes, sorts keys at every depth and keeps lists in order", () => {
    const parameters = { b: [{ d: 1, c: 2 }, 1], a: { f: 1, e: 2 } };
    const redacted = redact(parameters, {});
    expect(JSON.stringify(redacted)).toBe('{"a":{"e":2,"f":1},"b":[{"c":2,"d":1},1]}');
    expect(Object.isFrozen(redacted.a)).toBe(true);
    expect(parameters).toEqual({ b: [{ d: 1, c: 2 }, 1], a: { f: 1, e: 2 } });
  });

  it("survives keys that name a prototype, and refuses what is no JSON with a code", () => {
    const parameters = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"token":1}}');
    expect(JSON.stringify(redact(parameters, null))).toBe('{"constructor":{"token":"[redacted]"}}');
    expect(() => redact({ a: 1n } as unknown as JsonMap, null)).toThrow("not_json");
  });

  it("gets through deep and long keys", () => {
    let parameters: JsonMap = { leaf: 1 };
    for (let depth = 0; depth < 400; depth++) parameters = { [`${depth}`.padEnd(50_000, "k")]: parameters };
    expect(redact(parameters, { sensitive_parameters: ["a.b"] })).toEqual(parameters);
  });
});

describe("what is shown of parameters", () => {
  it("puts what a filter returned in order before it is shown and hashed", () => {
    const exposure = exposeShown({ b: 1, a: { d: 1, c: 2 } });
    expect(JSON.stringify(exposure.parameters)).toBe('{"a":{"c":2,"d":1},"b":1}');
    expect(exposure).toEqual(expose({ a: { c: 2, d: 1 }, b: 1 }, null));
  });

  it("is hashed as everything else is, also when keys look like numbers", () => {
    const parameters = { "9": 0, "10": 0, b: 1, a: 1 };
    expect(expose(parameters, null).parameters_sha256).toBe(stableHash(parameters));
  });

  it("shows the redacted parameters themselves, so that hash and content always agree", () => {
    const redacted = redact({ token: "t", a: 1 }, null);
    const exposure = exposeShown(redacted);
    expect(exposure.parameters).toBe(redacted);
    expect(exposure.parameters_sha256).toBe(stableHash({ a: 1, token: "[redacted]" }));
  });
});

describe("sensitive paths", () => {
  it("come from items of items and from the definition itself when it has no parameters", () => {
    const definition = { properties: { grid: { items: { items: { writeOnly: true } } } } };
    expect(sensitivePaths(definition)).toEqual(["grid.*.*"]);
  });

  it("include a sensitive node and what is sensitive below it", () => {
    const card = { secret: true, properties: { number: { "x-sensitive": true }, holder: {} } };
    expect(sensitivePaths({ parameters: { properties: { card } } })).toEqual(["card", "card.number"]);
  });

  it("ignore malformed lists, flags and bindings", () => {
    const definition = {
      sensitive_parameters: "a",
      parameter_sensitivity: [true, 1, " "],
      parameter_bindings: { a: 1 },
    };
    expect(sensitivePaths(definition)).toEqual([]);
  });
});
