// What operations take has an end: every text and every list in every input says how long it may be. Only what people and
// models write is as long as the body of a request may be.
import { describe, expect, it } from "vitest";
import { isMap, type UnknownMap } from "../src/contracts/json.ts";
import { says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { deskWorld } from "./desk-world.ts";

/** What somebody has written, or made, and brings along. */
const contents: ReadonlySet<string> = new Set([
  ...["message", "content", "data", "error", "history[].content", "attachments[].data", "checkpoints[].statement"],
]);

describe("the inputs of operations", () => {
  it("have a longest text and a longest list wherever there is one", async () => {
    const { holdfast } = await deskWorld({ agents: [agent({ slug: "a", model: () => says("Yes.") })] });
    const unbounded = holdfast.abilities
      .list()
      .flatMap(({ name, inputSchema }) =>
        endless(inputSchema, "").flatMap((field) => (contents.has(field) ? [] : [`${name}: ${field}`])),
      );
    expect(unbounded).toEqual([]);
  });

  it("would be found without", () => {
    const schema = {
      properties: { a: { type: "string" }, b: { type: "array", items: { type: "string", maxLength: 1 } } },
    };
    expect(endless(schema, "")).toEqual(["a", "b[]"]);
  });
});

/** The fields without an end, by their paths. What may be any JSON is content. */
function endless(schema: unknown, path: string): readonly string[] {
  if (!isMap(schema) || "$ref" in schema) return [];
  const { type, properties, additionalProperties, items, anyOf, oneOf, allOf } = schema;
  const choices = [anyOf, oneOf, allOf].flatMap((each) => (Array.isArray(each) ? (each as readonly unknown[]) : []));
  return [
    ...(type === "string" && !hasEnd(schema) ? [path] : []),
    ...(type === "array" && schema.maxItems === undefined ? [`${path}[]`] : []),
    ...choices.flatMap((choice) => endless(choice, path)),
    ...endless(items, `${path}[]`),
    ...endless(additionalProperties, `${path}.*`),
    ...Object.entries(isMap(properties) ? properties : {}).flatMap(([field, each]) =>
      endless(each, path === "" ? field : `${path}.${field}`),
    ),
  ];
}

function hasEnd({ maxLength, enum: names, const: name, format }: UnknownMap): boolean {
  return maxLength !== undefined || names !== undefined || name !== undefined || format === "date-time";
}
