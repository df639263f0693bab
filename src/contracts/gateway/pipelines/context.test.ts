import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../json.ts";
import { accreteContext, baggagePathProblem, collectClaims, MAX_CONTEXT_BYTES, visibleContext } from "./context.ts";

describe("a context", () => {
  it("gains paths at any depth and keeps those it has", () => {
    expect(
      accreteContext({ run_id: "R1", web: { url: "u" } }, { web: { hash: "h", meta: { n: 1 } }, x: null }),
    ).toEqual({
      run_id: "R1",
      web: { url: "u", hash: "h", meta: { n: 1 } },
      x: null,
    });
  });

  it("takes an equal value again, whatever the order of its keys", () => {
    const parent = { a: [1, { x: 1, y: 2 }], n: null };
    expect(accreteContext(parent, { a: [1, { y: 2, x: 1 }], n: null })).toEqual(parent);
  });

  it.each<[string, JsonMap, JsonMap]>([
    ["run_id", { run_id: "R1" }, { run_id: "R2" }],
    ["web.url", { web: { url: "u" } }, { web: { url: "v" } }],
    ["a.b.c", { a: { b: { c: [1] } } }, { a: { b: { c: [1, 2] } } }],
    ["web", { web: { url: "u" } }, { web: "u" }],
    ["web", { web: "u" }, { web: { url: "u" } }],
    ["n", { n: null }, { n: 0 }],
    ["n", { n: 0 }, { n: null }],
  ])("never changes a value: %s", (path, parent, claims) => {
    expect(() => accreteContext(parent, claims)).toThrow(new RegExp(`^context_conflict: .* at ${path}\\.$`));
  });

  it("changes neither the parent nor the claims", () => {
    const parent = Object.freeze({ web: Object.freeze({ url: "u" }) });
    const claims = Object.freeze({ web: Object.freeze({ hash: "h" }) });
    expect(accreteContext(parent, claims)).toEqual({ web: { url: "u", hash: "h" } });
  });

  it("takes one mebibyte of JSON at most", () => {
    const text = "x".repeat(MAX_CONTEXT_BYTES - '{"a":""}'.length);
    expect(accreteContext({}, { a: text })).toEqual({ a: text });
    expect(() => accreteContext({ b: 1 }, { a: text })).toThrow("context_too_large");
  });

  it("keeps keys such as __proto__ and constructor as keys, and pollutes nothing", () => {
    const claims = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as JsonMap;
    const context = accreteContext({ a: 1 }, claims);
    expect(Object.keys(context)).toEqual(["a", "__proto__", "constructor"]);
    expect(Object.getPrototypeOf(context)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(accreteContext(context, claims)).toEqual(context);
  });
});

describe("the claims of a step", () => {
  const scope = { payload: { url: "u", meta: { n: 1 }, none: null }, context: { run_id: "R1" } };

  it("take values from the event and the context before it", () => {
    expect(
      collectClaims(
        [
          { path: "web.url", from: "payload.url" },
          { path: "web.none", from: "payload.none" },
          { path: "origin", from: "context.run_id" },
          { namespace: "whisper", from: "payload.meta" },
          { namespace: "all", from: "payload" },
        ],
        scope,
      ),
    ).toEqual({ web: { url: "u", none: null }, origin: "R1", whisper: { n: 1 }, all: scope.payload });
  });

  it("scenario 41: fail when a source is missing, or is no map where a namespace needs one", () => {
    for (const from of ["payload.missing", "payload.url.length", "config.a", "state", "context.constructor"]) {
      expect(() => collectClaims([{ path: "a", from }], scope)).toThrow(/^invalid_baggage: .*is not there/);
    }
    expect(() => collectClaims([{ namespace: "n", from: "payload.url" }], scope)).toThrow("invalid_baggage");
  });

  it("do not contradict each other", () => {
    const claims = [
      { path: "a.b", from: "payload.url" },
      { path: "a.b", from: "context.run_id" },
    ];
    expect(() => collectClaims(claims, scope)).toThrow(/context_conflict.*a\.b/);
  });

  it("are made under names joined by dots, outside of what belongs to the gateway", () => {
    for (const path of ["a", "_a1.b_2", "constructor"]) expect(baggagePathProblem(path)).toBeUndefined();
    for (const path of ["", "a.", ".a", "1a", "a-b", "a b", "a.__proto__", "ductile", "ductile.x", "ductile_plugin"]) {
      expect(baggagePathProblem(path)).toContain("no baggage path");
    }
  });
});

describe("what a plugin sees as context", () => {
  it("is the accumulated values, its own name and its place", () => {
    expect(visibleContext({ run_id: "R1" }, { plugin: "fetch", place: null })).toEqual({
      run_id: "R1",
      ductile_plugin: "fetch",
    });
    const place = { pipeline: "p", step_id: "s", instance_id: "i", depth: 1 };
    expect(visibleContext({}, { plugin: "fetch", place, max_depth: 3 })).toEqual({
      ductile_plugin: "fetch",
      ductile_pipeline: "p",
      ductile_step_id: "s",
      ductile_pipeline_instance_id: "i",
      ductile_route_depth: 1,
      ductile_route_max_depth: 3,
    });
    expect(visibleContext({}, { plugin: "fetch", place, max_depth: null })).not.toHaveProperty(
      "ductile_route_max_depth",
    );
  });
});
