import { describe, expect, it } from "vitest";
import { normalizeBindings, normalizeDefaults } from "./bindings.ts";

const bind = (parameter_bindings: unknown) => normalizeBindings({ parameter_bindings });

describe("bindings", () => {
  it("lets parameter_bindings override the client context binding of the same parameter", () => {
    const bindings = normalizeBindings({
      client_context_bindings: { site: "site_id", page: "page.id" },
      parameter_bindings: { site: "runtime_context.site" },
    });
    expect(bindings).toEqual({
      site: { source: "runtime_context", path: "site" },
      page: { source: "context", path: "page.id" },
    });
  });

  it("keeps a null default, which differs from none", () => {
    expect(bind({ a: { source: "context", path: "a", default: null } })).toHaveProperty("a.default", null);
    expect(bind({ a: { source: "context", path: "a" } })).not.toHaveProperty("a.default");
  });

  it.each([
    ["an unknown field", { source: "context", path: "a", required: true }],
    ["a flag that is no boolean", { source: "context", path: "a", sensitive: 1 }],
    ["a null flag", { source: "context", path: "a", authoritative: null }],
    ["a blank path", { source: "context", path: "  " }],
    ["a blank path after the dot", "context.  "],
    ["no source before the dot", ".a"],
    ["an unknown source", "constructor.name"],
    ["a null", null],
    ["a list", ["context", "a"]],
  ])("refuses %s", (_what, binding) => {
    expect(() => bind({ p: binding })).toThrow("invalid_parameter_bindings: parameter_bindings.p");
  });

  it("refuses null in place of the bindings, and takes an empty list for an empty map", () => {
    expect(() => bind(null)).toThrow("invalid_parameter_bindings: parameter_bindings");
    expect(() => normalizeBindings({ client_context_bindings: null })).toThrow(
      "invalid_parameter_bindings: client_context_bindings",
    );
    expect(bind([])).toEqual({});
  });

  it.each([[[""]], [["a", 1]], [{ " ": "a" }], [{ a: " " }], ["site_id"]])(
    "refuses the client context bindings %j",
    (client_context_bindings) => {
      expect(() => normalizeBindings({ client_context_bindings })).toThrow(
        "invalid_parameter_bindings: client_context_bindings",
      );
    },
  );

  it("cannot be made to carry a prototype", () => {
    const bindings = normalizeBindings({ client_context_bindings: ["__proto__", "constructor"] });
    expect(Object.keys(bindings)).toEqual(["constructor"]);
    expect(Object.getPrototypeOf(bindings)).toBe(Object.prototype);
  });
});

describe("defaults", () => {
  it("are none when the field is absent", () => {
    expect(normalizeDefaults({ parameter_defaults: undefined })).toEqual({});
    expect(normalizeDefaults("no definition")).toEqual({});
  });

  it("refuse null and a blank name", () => {
    for (const parameter_defaults of [null, { " ": 1 }]) {
      const refused = "invalid_parameter_bindings: parameter_defaults";
      expect(() => normalizeDefaults({ parameter_defaults })).toThrow(refused);
    }
  });
});
