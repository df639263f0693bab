import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json, JsonMap } from "../../contracts/json.ts";
import { jsonSchemaProblems } from "../../threads/schemas/json-schema-problems.ts";
import { fillOutput } from "./fill-output.ts";

function fill(schema: z.ZodType, text: string, results: readonly Json[] = []): Json {
  return fillOutput(z.toJSONSchema(schema) as JsonMap, text, results);
}

describe("an answer of a schema", () => {
  it("is filled from the text", () => {
    const schema = z.object({ order: z.string(), cents: z.int().positive(), urgent: z.boolean() });
    expect(fill(schema, "Order 7, 12 euros, and it is urgent")).toEqual({ order: "7", cents: 1200, urgent: true });
  });

  it("takes what the tools have returned before what the text says", () => {
    const schema = z.object({ city: z.string(), celsius: z.number() });
    expect(fill(schema, "How warm is it in Oslo?", [{ celsius: 20, city: "Oslo, Norway" }])).toEqual({
      city: "Oslo, Norway",
      celsius: 20,
    });
  });

  it("leaves out what is optional and not said, and what was returned under other names", () => {
    const schema = z.object({ city: z.string(), note: z.string().optional() });
    expect(fill(schema, "In Oslo", [{ celsius: 20 }, "a text"])).toEqual({ city: "Oslo" });
  });

  it.each<[what: string, schema: z.ZodType]>([
    ["a text", z.string()],
    ["a choice", z.enum(["yes", "no"])],
    ["bounds", z.object({ low: z.int().min(5), high: z.number().lt(-1), between: z.number().gt(0).lt(0.5) })],
    ["steps", z.object({ dozen: z.int().multipleOf(12).min(13) })],
    ["lengths", z.object({ code: z.string().length(6), long: z.string().min(40), list: z.array(z.string()).min(2) })],
    ["formats", z.object({ day: z.iso.date(), at: z.iso.datetime(), mail: z.email(), id: z.uuid(), link: z.url() })],
    [
      "digits",
      z.object({
        pin: z
          .string()
          .regex(/^\d{4}$/)
          .min(4),
      }),
    ],
    ["null", z.object({ none: z.string().nullable(), never: z.null() })],
    ["alternatives", z.union([z.object({ kind: z.literal("a"), n: z.int() }), z.object({ kind: z.literal("b") })])],
    ["a closed map", z.strictObject({ inner: z.strictObject({ word: z.string() }) })],
    ["a pair", z.tuple([z.string(), z.int()])],
    ["a list of maps", z.array(z.object({ sku: z.string(), quantity: z.int().min(1) })).min(1)],
  ])("is valid without any help from the text: %s", (_what, schema) => {
    const value = fill(schema, "");
    expect(schema.safeParse(value)).toMatchObject({ success: true });
  });

  it("ends where a schema holds itself", () => {
    const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), branches: z.array(tree) }));
    expect(tree.safeParse(fill(tree, "Name: oak")).success).toBe(true);
  });

  it("is valid for any schema, any text and whatever tools have returned", () => {
    fc.assert(
      fc.property(schemas, texts, fc.array(returned), (schema, text, results) => {
        expect(jsonSchemaProblems(schema, fillOutput(schema, text, results as Json[]))).toEqual([]);
      }),
    );
  });
});

const names = fc.constantFrom("order", "cents", "city", "note", "tags");
const texts = fc.oneof(
  fc.string(),
  fc.constant("Order 7, 12 euros, in Oslo, tags red, blue and 2, note: 2026-11-16, not order"),
);
const returned = fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue()));

const { schema: schemas } = fc.letrec<{ schema: JsonMap; leaf: JsonMap }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ type: fc.constant("string"), minLength: fc.option(fc.integer({ min: 0, max: 9 }), { nil: 0 }) }),
    fc.record({ type: fc.constant("string"), format: fc.constantFrom("date", "date-time", "email", "uuid", "uri") }),
    fc.record({ type: fc.constant("boolean") }),
    fc
      .tuple(fc.constantFrom("integer", "number"), fc.integer({ min: -20, max: 20 }), fc.integer({ min: 1, max: 20 }))
      .map(([type, minimum, size]) => ({ type, minimum, maximum: minimum + size })),
    fc.record({ enum: fc.array(fc.constantFrom("red", "blue", 1, 2, true), { minLength: 1 }) }),
    fc.record({ const: fc.constantFrom("fixed", 3, null) }),
  ) as never,
  schema: fc.oneof(
    { maxDepth: 3 },
    tie("leaf"),
    fc
      .tuple(
        fc.array(fc.tuple(names, tie("schema"), fc.boolean()), {
          maxLength: 4,
        }),
        fc.boolean(),
      )
      .map(([members, isClosed]) => ({
        type: "object",
        properties: Object.fromEntries(members.map(([name, member]) => [name, member])) as JsonMap,
        required: members.filter(([, , isRequired]) => isRequired).map(([name]) => name),
        ...(isClosed && { additionalProperties: false }),
      })),
    fc
      .tuple(tie("schema"), fc.integer({ min: 0, max: 3 }))
      .map(([items, minItems]) => ({ type: "array", items, minItems })),
    tie("schema").map((inner) => ({ anyOf: [inner, { type: "null" }] })),
  ) as never,
}));
