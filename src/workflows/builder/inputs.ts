// What a workflow takes in: a schema as tools have it, and how the spec declares it.
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import {
  type Accepted,
  type ReadSchema,
  readSchema,
  type StandardSchema,
  type ToolSchema,
} from "../../threads/schemas/tool-schema.ts";
import { invalid } from "./place.ts";
import type { Stored } from "./values.ts";

/** The inputs as steps find them. */
export type AcceptedInputs<Schema extends ToolSchema> = Schema extends StandardSchema
  ? Stored<Accepted<Schema>>
  : ByJsonSchema<Schema>;

/** The inputs as a run is started with them. */
export type GivenInputs<Schema extends ToolSchema> = Schema extends StandardSchema
  ? NonNullable<Schema["~standard"]["types"]>["input"]
  : JsonMap;

// As much as can be told at a glance: the names, and the types of those that are a single scalar.
type ByJsonSchema<Schema> = Schema extends { readonly properties: infer Properties }
  ? { readonly [Name in keyof Properties]: ByType<Properties[Name]> }
  : JsonMap;

type ByType<Property> = Property extends { readonly type: infer Type }
  ? Type extends keyof Scalars
    ? Scalars[Type]
    : Json
  : Json;

type Scalars = { string: string; number: number; integer: number; boolean: boolean; null: null };

export function readInputs(given: unknown): ReadSchema {
  const read = readOrThrow(given);
  if (!read) throw invalid("inputs must be a zod schema, a Standard Schema or a JSON Schema");
  const { type = "object" } = read.json;
  if (type !== "object") throw invalid("inputs must describe a map");
  return read;
}

function readOrThrow(given: unknown): ReadSchema | undefined {
  try {
    return readSchema(given);
  } catch (thrown) {
    throw invalid(`inputs cannot be read: ${errorMessage(thrown)}`, thrown);
  }
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
