import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import { lookUp, parsePath } from "./paths.ts";

const find = (path: string, scope: { payload?: JsonMap; context?: JsonMap }) => {
  const parsed = parsePath(path, ["payload", "context"]);
  return parsed === undefined ? "no path" : lookUp(scope, parsed);
};

describe("a dotted path", () => {
  it("has a root and at least one key below it", () => {
    expect(parsePath(" payload.user.name ")).toEqual({ root: "payload", keys: ["user", "name"] });
    for (const text of ["payload", "", "payload.", "payload..a", ".payload.a", " .a", "payload. .a", 7, null]) {
      expect(parsePath(text)).toBeUndefined();
    }
  });

  it("is limited to the roots that are allowed", () => {
    expect(parsePath("config.a")).toEqual({ root: "config", keys: ["a"] });
    expect(parsePath("config.a", ["payload", "context"])).toBeUndefined();
  });

  it("finds own keys of maps, null included, and nothing else", () => {
    const scope = { payload: { a: { b: null }, list: ["x"], text: "abc" } };
    expect(find("payload.a.b", scope)).toEqual({ found: true, value: null });
    for (const path of ["payload.b", "payload.a.b.c", "payload.list.0", "payload.list.length", "payload.text.length"]) {
      expect(find(path, scope)).toEqual({ found: false });
    }
    expect(find("context.a", scope)).toEqual({ found: false });
  });

  it("never reaches what every object inherits", () => {
    for (const path of ["payload.__proto__", "payload.constructor.name", "payload.toString", "payload.a.__proto__.x"]) {
      expect(find(path, { payload: { a: {} } })).toEqual({ found: false });
    }
    const own = { payload: JSON.parse('{"__proto__":{"x":1},"constructor":2}') as JsonMap };
    expect(find("payload.__proto__.x", own)).toEqual({ found: true, value: 1 });
    expect(find("payload.constructor", own)).toEqual({ found: true, value: 2 });
  });
});
