import { describe, expect, it } from "vitest";
import type { Json, JsonMap } from "../../contracts/json.ts";
import { jsonSchemaProblems } from "./json-schema-problems.ts";

const order: JsonMap = {
  type: "object",
  properties: {
    customer: { type: "string", minLength: 2 },
    lines: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: { sku: { type: "string" }, cents: { type: "integer", minimum: 1 } },
        required: ["sku", "cents"],
        additionalProperties: false,
      },
    },
    speed: { enum: ["slow", "fast"] },
  },
  required: ["customer", "lines"],
};

function paths(schema: JsonMap, value: Json): string[] {
  return jsonSchemaProblems(schema, value).map(({ path }) => path);
}

describe("the problems of a value under a JSON Schema", () => {
  it("are none when it fits", () => {
    expect(paths(order, { customer: "Ana", lines: [{ sku: "tea", cents: 250 }], note: "not in the schema" })).toEqual(
      [],
    );
  });

  it("name every place that does not fit", () => {
    const value = { lines: [{ sku: 7 }, { sku: "tea", cents: 0.5, colour: "red" }], speed: "medium" };
    expect(jsonSchemaProblems(order, value)).toEqual([
      { path: "customer", message: "is required" },
      { path: "lines[0].cents", message: "is required" },
      { path: "lines[0].sku", message: "must be of type string" },
      { path: "lines[1].cents", message: "must be of type integer" },
      { path: "lines[1].colour", message: "must not be there" },
      { path: "speed", message: 'must be one of "slow", "fast"' },
    ]);
  });

  it("never repeat a value, which may be a secret", () => {
    const schema = { properties: { pin: { type: "string", pattern: "^\\d+$", maxLength: 4 }, age: { maximum: 9 } } };
    const text = JSON.stringify(jsonSchemaProblems(schema, { pin: "hunter2", age: 31337 }));
    expect(text).toContain("must have at most 4 characters");
    expect(text).toContain("must match");
    expect(text).toContain("must be at most 9");
    expect(text).not.toMatch(/hunter2|31337/);
  });

  it.each<[JsonMap, Json, boolean]>([
    [{ type: ["string", "null"] }, null, true],
    [{ type: ["string", "null"] }, 1, false],
    [{ type: "number" }, 1, true],
    [{ type: "object" }, [], false],
    [{ const: { a: 1, b: [2] } }, { b: [2], a: 1 }, true],
    [{ exclusiveMinimum: 0 }, 0, false],
    [{ exclusiveMaximum: 1 }, 0.9, true],
    [{ minLength: 2 }, "\u{1F375}", false],
    [{ maxItems: 1 }, [1, 2], false],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a"], true],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a", "b"], false],
    [{ additionalProperties: { type: "number" } }, { a: "x" }, false],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, false],
    [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, false],
    [{ oneOf: [{ minimum: 2 }, { maximum: 1 }] }, 1, true],
    [{ properties: { constructor: { type: "string" } }, required: ["toString"] }, {}, false],
    [{ pattern: "(" }, "x", true],
  ])("under %j for %j: %s", (schema, value, fits) => {
    expect(jsonSchemaProblems(schema, value).length === 0).toBe(fits);
  });

  it("of alternatives are those that keep it from the closest one", () => {
    const payment = {
      anyOf: [
        { type: "null" },
        {
          type: "object",
          properties: { by: { const: "card" }, number: { type: "string" } },
          required: ["by", "number"],
        },
        { type: "object", properties: { by: { const: "iban" }, iban: { type: "string" } }, required: ["by", "iban"] },
      ],
    };
    expect(paths(payment, { by: "iban", iban: 5 })).toEqual(["iban"]);
    expect(paths(payment, { by: "card" })).toEqual(["number"]);
    expect(paths(payment, null)).toEqual([]);
  });

  it("are found behind references, also those that go round in circles", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, size: { type: "integer" } } } },
    };
    expect(paths(tree, { next: { next: { size: "big" } } })).toEqual(["next.next.size"]);
    expect(paths({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a", type: "string" } } }, 1)).toEqual([""]);
    expect(paths({ $ref: "https://example.org/other" }, 1)).toEqual([]);
  });
});
