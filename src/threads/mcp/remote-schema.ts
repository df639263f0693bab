// The schemas of somebody else's tool: models are shown them as they are, and values are checked without their patterns. A
// pattern is a program in the hands of the server, and one that never ends would hold everybody up.
import { type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import { jsonSchemaProblems, type Problem } from "../schemas/json-schema-problems.ts";
import type { StandardSchema } from "../schemas/tool-schema.ts";

/** A schema that a tool can be defined with. */
export function remoteSchema(schema: JsonMap): StandardSchema {
  const standard = {
    version: 1,
    vendor: "mcp",
    validate(value: unknown) {
      const problems = remoteProblems(schema, value);
      if (problems.length === 0) return { value };
      return { issues: problems.map(({ path, message }) => ({ message, ...(path !== "" && { path: [path] }) })) };
    },
    jsonSchema: { input: () => schema },
  } as const;
  return { "~standard": standard };
}

/** Every place of a value that does not fit. */
export function remoteProblems(schema: JsonMap, value: unknown): readonly Problem[] {
  return jsonSchemaProblems(withoutPatterns(schema) as JsonMap, snapshot(value));
}

/** A property may well be called pattern: only where it is a text it is one. */
function withoutPatterns(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => key !== "pattern" || typeof value !== "string");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutPatterns(value as Json)]));
}
