import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import { build, modelSchema, validateRequired } from "./parameters.ts";

describe("building parameters", () => {
  it("lets defaults, offered bindings, the model and authoritative bindings win in that order", () => {
    const definition = {
      parameter_defaults: { a: "default", b: "default", c: "default", d: "default" },
      parameter_bindings: {
        b: "context.value",
        c: "context.value",
        d: { source: "context", path: "value", authoritative: true },
      },
    };
    expect(build({ c: "model", d: "model" }, { value: "context" }, definition)).toEqual({
      a: "default",
      b: "context",
      c: "model",
      d: "context",
    });
  });

  it("lets an authoritative binding overrule the model even with null or an empty string", () => {
    const definition = { parameter_bindings: { a: { source: "context", path: "a", authoritative: true, default: 1 } } };
    expect(build({ a: "model" }, { a: null }, definition)).toEqual({ a: null });
    expect(build({ a: "model" }, { a: "" }, definition)).toEqual({ a: "" });
  });

  it("falls back from an authoritative binding to its default, even null, then to the declared default", () => {
    const authoritative = { source: "context", path: "gone", authoritative: true };
    const definition = {
      parameter_defaults: { a: "declared", b: "declared" },
      parameter_bindings: { a: { ...authoritative, default: null }, b: authoritative, constructor: authoritative },
    };
    expect(build({ b: "model", constructor: "model" }, {}, definition)).toEqual({ a: null, b: "declared" });
  });

  it("skips an empty context value without turning to the binding's default", () => {
    const definition = { parameter_bindings: { a: { source: "context", path: "a", default: "d" } } };
    expect(build({}, { a: "" }, definition)).toEqual({});
    expect(build({}, { a: null }, definition)).toEqual({});
    expect(build({}, {}, definition)).toEqual({ a: "d" });
  });

  it.each(["a..b", "a.", "list.length", "list.01", "a.constructor", "__proto__.x", "text.0", "run"])(
    "finds nothing under the path %s",
    (path) => {
      const context = { a: { b: 1 }, list: [1, 2], text: "abc", run: () => 1 } as unknown as JsonMap;
      expect(build({}, context, { client_context_bindings: { found: path } })).toEqual({});
    },
  );

  it("reads the other sources only from their own map", () => {
    const definition = { parameter_bindings: { a: "caller_context.id" } };
    expect(build({}, { id: 1, caller_context: { id: 2 } }, definition)).toEqual({ a: 2 });
    expect(build({}, { id: 1, caller_context: "x" }, definition)).toEqual({});
  });

  it("ignores malformed defaults and bindings apart from each other", () => {
    const definition = { parameter_defaults: "x", client_context_bindings: ["a"] };
    expect(build({}, { a: 1 }, definition)).toEqual({ a: 1 });
  });

  it("returns a frozen copy and copies of the context only what is bound", () => {
    const context: Record<string, unknown> = { site: { ids: [1] } };
    context.self = context;
    const built = build({ q: { a: 1 } }, context as JsonMap, { client_context_bindings: ["site"] });
    expect(built).toEqual({ q: { a: 1 }, site: { ids: [1] } });
    expect(Object.isFrozen(built) && Object.isFrozen(built.site) && Object.isFrozen(built.q)).toBe(true);
    expect(() => build({}, context as JsonMap, { client_context_bindings: ["self"] })).toThrow("not_json");
  });
});

describe("required parameters", () => {
  it("are not satisfied by what every object inherits", () => {
    const definition = { parameters: { required: ["constructor", "toString"] } };
    expect(validateRequired({}, definition).missing).toEqual(["constructor", "toString"]);
  });

  it("are none when the schema is no map", () => {
    expect(validateRequired({}, { parameters: "x" })).toEqual({ valid: true, required: [], missing: [] });
    expect(validateRequired({}, {})).toEqual({ valid: true, required: [], missing: [] });
  });

  it("are not read from an empty nested list", () => {
    const definition = { parameters: { properties: { filter: { type: "object", required: [] } } } };
    expect(validateRequired({}, definition).required).toEqual([]);
  });
});

describe("the schema a model sees", () => {
  it("hides authoritative parameters in nested branches too", () => {
    const definition = {
      parameters: {
        properties: { s: {}, a: {} },
        allOf: [{ oneOf: [{ properties: { s: {}, b: {} }, required: ["s", "b"] }, true] }],
      },
      parameter_bindings: { s: { source: "context", path: "s", authoritative: true }, a: "context.a" },
    };
    expect(modelSchema(definition)).toEqual({
      properties: { a: {} },
      allOf: [{ oneOf: [{ properties: { b: {} }, required: ["b"] }, true] }],
    });
  });

  it("is empty when none was declared", () => {
    expect(modelSchema({ parameters: "x" })).toEqual({});
  });
});
