import { describe, expect, it } from "vitest";
import { z } from "zod";
import { judge, type Output, readOutput } from "./output.ts";
import type { StandardSchema } from "./schemas/tool-schema.ts";

function output(schema: unknown): Output {
  const read = readOutput(schema);
  if (!read) throw new Error("That is no schema.");
  return read;
}

/** A schema of a library that we do not know. */
function standard<Value>(validate: (value: unknown) => unknown): StandardSchema<unknown, Value> {
  return { "~standard": { version: 1, vendor: "somebody", validate: validate as never } };
}

const refund = z.object({ order: z.int(), cents: z.int().positive() });
const asJsonSchema = {
  type: "object",
  properties: { order: { type: "integer" }, cents: { type: "integer", minimum: 1 } },
  required: ["order", "cents"],
};

describe("the form of last words", () => {
  it.each<[string, unknown]>([
    ["zod", refund],
    ["JSON Schema", asJsonSchema],
  ])("is a schema that providers can be told: %s", (_title, schema) => {
    const { name, schema: told } = output(schema);
    expect(name).toBe("answer");
    expect(told).toMatchObject({ type: "object", required: ["order", "cents"] });
    expect(told).not.toHaveProperty("$schema");
  });

  it("has the name that its schema gives it, if a provider takes it", () => {
    expect(output({ ...asJsonSchema, title: "Refund_1" }).name).toBe("Refund_1");
    for (const title of ["A refund", "1st", "x".repeat(65), 7]) {
      expect(output({ ...asJsonSchema, title }).name).toBe("answer");
    }
  });

  it.each([[undefined], [null], ["json"], [5], [[]]])("is nothing else: %j", (given) => {
    expect(readOutput(given)).toBeUndefined();
  });
});

describe("last words", () => {
  it.each<[string, unknown]>([
    ["zod", refund],
    ["JSON Schema", asJsonSchema],
    ["another library", standard((value) => refund["~standard"].validate(value))],
    ["one that takes its time", standard(async (value) => refund["~standard"].validate(value))],
  ])("are accepted or not, by %s", async (_title, schema) => {
    expect(await judge(output(schema), '{"order": 7, "cents": 1200}')).toEqual({
      ok: true,
      value: { order: 7, cents: 1_200 },
    });
    const refused = await judge(output(schema), '{"order": "7", "cents": 0}');
    expect(refused).toMatchObject({ ok: false, problems: expect.stringMatching(/^order: .+; cents: .+\.$/) });
  });

  it.each([
    ["with space around it", ' \n{"n": 1}\n '],
    ["in a fence", '```json\n{"n": 1}\n```'],
    ["in a fence without a name", '```\n{"n": 1}\n```'],
    ["in a fence with space around it", '\n\n```json  \n\n{"n": 1}\n\n```  \n'],
    ["in a fence that ends on the line", '```JSON\r\n{"n": 1}```'],
    ["with a fence inside", '{"n": 1, "code": "```json"}'],
  ])("may be JSON %s", async (_title, text) => {
    expect(await judge(output({ type: "object" }), text)).toMatchObject({ ok: true, value: { n: 1 } });
  });

  it.each(["", "Five.", 'Here it is: {"n": 1}', '{"n": 1', "```json\n```", "```", '```js\n{"n": 1}\n```', "undefined"])(
    "are told what they are not, when they are no JSON: %j",
    async (text) => {
      const judged = await judge(output({ type: "object" }), text);
      expect(judged).toMatchObject({ ok: false, problems: expect.stringMatching(/^it is no JSON \(.+\)\.$/s) });
    },
  );

  it("are read at once, however much space and however many fences they are made of", async () => {
    const filling = ["\n".repeat(100_000), " \n".repeat(100_000), "```\n".repeat(100_000), "`".repeat(100_000)];
    for (const long of filling) {
      for (const text of [`\`\`\`\n${long}x`, `\`\`\`json${long}`, `\`\`\`\n{"n": 1}${long}`]) {
        expect(await judge(output({ type: "object" }), text)).toMatchObject({ ok: false });
      }
    }
  });

  it.each<[string, unknown, unknown]>([
    ["a list", z.array(z.int()), [1, 2]],
    ["a number", { type: "number" }, 5],
    ["null", { type: "null" }, null],
    ["text", z.string(), "yes"],
  ])("may be %s", async (_title, schema, value) => {
    expect(await judge(output(schema), JSON.stringify(value))).toEqual({ ok: true, value });
  });

  it("are what the schema makes of them, as long as that is JSON", async () => {
    const trimmed = z.object({ name: z.string().trim(), note: z.string().default("none") });
    expect(await judge(output(trimmed), '{"name": " Ana "}')).toEqual({
      ok: true,
      value: { name: "Ana", note: "none" },
    });
    // A date that was stored and read again would be a text all of a sudden.
    for (const made of [new Date(0), new Map([["n", 1]]), 5n, () => 5]) {
      const schema = standard(() => ({ value: made }));
      expect(await judge(output(schema), '"1970-01-01"')).toEqual({ ok: true, value: "1970-01-01" });
    }
  });

  it("are told no more than a few problems", async () => {
    const many = z.array(z.int());
    const judged = await judge(output(many), JSON.stringify(Array(50).fill("x")));
    expect(judged.ok ? "" : judged.problems.split("; ")).toHaveLength(10);
  });

  it("are refused, in words, when the schema itself fails", async () => {
    const broken = standard(() => {
      throw new Error("A bug.");
    });
    expect(await judge(output(broken), "{}")).toMatchObject({ ok: false, problems: expect.stringContaining("A bug.") });
  });

  it("are refused when they are too deep to be stored", async () => {
    const text = `${"[".repeat(600)}${"]".repeat(600)}`;
    expect(await judge(output({ type: "array" }), text)).toMatchObject({ ok: false });
  });
});
