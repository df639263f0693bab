// Schemas of what comes in, and what they say about it. While a workflow waits they stand in the spec, as JSON Schema.
import { errorMessage } from "../../contracts/error.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import {
  type ReadSchema,
  readSchema,
  type StandardSchema,
  type ToolSchema,
} from "../../threads/schemas/tool-schema.ts";
import { invalid } from "./place.ts";
import type { AsOutput } from "./values.ts";

/** What fits a schema, as steps find it. Nothing changes what comes in: what a schema would make of it plays no part. */
export type Fitting<Schema extends ToolSchema> = Schema extends StandardSchema
  ? AsOutput<NonNullable<Schema["~standard"]["types"]>["input"]>
  : Schema extends { readonly type: infer Type }
    ? Type extends keyof Scalars
      ? { readonly value: Scalars[Type] }
      : Type extends "array"
        ? readonly Json[]
        : ByJsonSchema<Schema>
    : ByJsonSchema<Schema>;

// As much as can be told at a glance: the names, and the types of those that are a single scalar.
export type ByJsonSchema<Schema> = Schema extends { readonly properties: infer Properties }
  ? { readonly [Name in keyof Properties]: ByType<Properties[Name]> }
  : JsonMap;

type ByType<Property> = Property extends { readonly type: infer Type }
  ? Type extends keyof Scalars
    ? Scalars[Type]
    : Json
  : Json;

type Scalars = { string: string; number: number; integer: number; boolean: boolean; null: null };

/** A schema as a spec has it. */
export function schemaInSpec(given: unknown, what: string): JsonMap {
  const { $schema: _, ...json } = readSchemaOf(given, what).json;
  if (JSON.stringify(json).includes("${")) throw invalid(`${what} cannot hold \${, which begins a binding`);
  return json;
}

export function readSchemaOf(given: unknown, what: string): ReadSchema {
  let read: ReadSchema | undefined;
  try {
    read = readSchema(given);
  } catch (thrown) {
    throw invalid(`${what} cannot be read: ${errorMessage(thrown)}`, thrown);
  }
  if (!read) throw invalid(`${what} must be a zod schema, a Standard Schema or a JSON Schema`);
  return read;
}
