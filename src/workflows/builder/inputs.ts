// What a workflow takes in: a schema as tools have it, and how the spec declares it.
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import type { Accepted, ReadSchema, StandardSchema, ToolSchema } from "../../threads/schemas/tool-schema.ts";
import { invalid } from "./place.ts";
import { type ByJsonSchema, readSchemaOf } from "./schemas.ts";
import type { Stored } from "./values.ts";

/** The inputs as steps find them. */
export type AcceptedInputs<Schema extends ToolSchema> = Schema extends StandardSchema
  ? Stored<Accepted<Schema>>
  : ByJsonSchema<Schema>;

/** The inputs as a run is started with them. */
export type GivenInputs<Schema extends ToolSchema> = Schema extends StandardSchema
  ? NonNullable<Schema["~standard"]["types"]>["input"]
  : JsonMap;

export function readInputs(given: unknown): ReadSchema {
  const read = readSchemaOf(given, "inputs");
  const { type = "object" } = read.json;
  if (type !== "object") throw invalid("inputs must describe a map");
  return read;
}

/** Name to `{ type?, required? }`, as a spec has it. */
export function declaredInputs({ json }: ReadSchema): JsonMap {
  const { properties = null, required = null } = json;
  const names = Object.keys(isMap(properties) ? properties : {});
  return Object.fromEntries(
    names.map((name) => [name, declared((properties as JsonMap)[name], isRequired(required, name))]),
  );
}

function declared(schema: Json | undefined, required: boolean): JsonMap {
  const type = isMap(schema) && typeof schema.type === "string" ? { type: schema.type } : {};
  return { ...type, ...(required && { required }) };
}

function isRequired(required: Json, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}
