// The schemas that a tool is defined with: zod, any Standard Schema, or JSON Schema. Each is read into the JSON form that
// models are shown, and into one way to check a value.
import { z } from "zod";
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../../contracts/json.ts";
import { isThenable, whenReady } from "../../contracts/when-ready.ts";
import { jsonSchemaProblems, memberPath, type Problem } from "./json-schema-problems.ts";

/** What schema libraries have in common; see standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** A schema as a tool may be given it. A plain map is JSON Schema. */
export type ToolSchema = StandardSchema | UnknownMap;

/** What a value is once a schema has accepted it. */
export type Accepted<Schema extends ToolSchema> = Schema extends StandardSchema
  ? NonNullable<Schema["~standard"]["types"]>["output"]
  : JsonMap;

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks a value. A promise only where the schema itself needs time; it never throws or rejects. */
export type Validate = (value: unknown) => Validated | Promise<Validated>;

export type ReadSchema = {
  /** The schema of a value that comes in; of any value where a library does not tell. */
  readonly json: JsonMap;
  readonly validate: Validate;
};

/** Undefined for what is no schema at all. */
export function readSchema(given: unknown): ReadSchema | undefined {
  if (isStandard(given)) return { json: jsonForm(given), validate: (value) => standardCheck(given, value) };
  if (!isMap(given)) return undefined;
  const json = snapshotMap(given);
  return { json, validate: (value) => jsonCheck(json, value) };
}

function isStandard(given: unknown): given is StandardSchema {
  // Some libraries make their schemas functions.
  if ((typeof given !== "object" && typeof given !== "function") || given === null) return false;
  const standard: unknown = (given as UnknownMap)["~standard"];
  return isMap(standard) && typeof standard.validate === "function";
}

function standardCheck(schema: StandardSchema, value: unknown): Validated | Promise<Validated> {
  try {
    const result = whenReady(schema["~standard"].validate(value), readResult);
    return isThenable(result) ? result.catch(notChecked) : result;
  } catch (thrown) {
    return notChecked(thrown);
  }
}

function readResult(result: StandardResult<unknown>): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const problems = result.issues.map(({ message, path = [] }) => ({ path: path.reduce(extended, ""), message }));
  return { ok: false, problems };
}

function extended(path: string, segment: PropertyKey | { readonly key: PropertyKey }): string {
  return memberPath(path, typeof segment === "object" ? segment.key : segment);
}

function jsonCheck(schema: JsonMap, value: unknown): Validated {
  let copied: Json;
  try {
    copied = snapshot(value);
  } catch (thrown) {
    return notChecked(thrown);
  }
  const problems = jsonSchemaProblems(schema, copied);
  return problems.length === 0 ? { ok: true, value: copied } : { ok: false, problems };
}

function notChecked(thrown: unknown): Validated {
  return { ok: false, problems: [{ path: "", message: errorMessage(thrown) }] };
}

type JsonSchemaOf = (options: { readonly target: string }) => unknown;

/** The JSON form by the library's own word, asked in the ways that there are; a library without one says nothing. */
function jsonForm(schema: StandardSchema): JsonMap {
  const { jsonSchema } = schema["~standard"] as { jsonSchema?: { input?: JsonSchemaOf } };
  const ways = [
    // What has no JSON form, such as a date, would otherwise leave the whole schema without one.
    () => ("_zod" in schema ? z.toJSONSchema(schema as z.ZodType, { io: "input", unrepresentable: "any" }) : undefined),
    () => jsonSchema?.input?.({ target: "draft-2020-12" }),
    () => jsonSchema?.input?.({ target: "draft-07" }),
  ];
  for (const way of ways) {
    try {
      const form = way();
      if (isMap(form)) return snapshotMap(form);
    } catch {
      // It said that it cannot; the next way may.
    }
  }
  return snapshotMap({ type: "object" });
}
