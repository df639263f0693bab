// An answer asked for as JSON: the request for one, and the check that it has the shape that was asked for.
import { trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { isContainer, isMap, type Json, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";
import { isOfType } from "../json-schema-type.ts";

export type StructuredOutputRequest = {
  readonly format: "json_schema";
  readonly schema: JsonMap;
  readonly strict: boolean;
  readonly name?: string;
};

export type StructuredOutputMismatch =
  | "type_mismatch"
  | "enum_mismatch"
  | "required_property_missing"
  | "additional_property_forbidden";

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

// Requests are checked once and then pass through every turn.
const produced = new WeakSet<object>();

/** The request in full; one made here is returned as it is. Throws `invalid_agent_structured_output_request`. */
export function request(value: unknown): StructuredOutputRequest {
  if (!isContainer(value)) throw invalid("structured_output must be a map");
  if (isProduced(value)) return value;
  const { format, schema, strict, name } = value as UnknownMap;
  if (!isContainer(schema)) throw invalid("schema must be a JSON schema");
  if (strict !== undefined && typeof strict !== "boolean") throw invalid("strict must be true or false");
  if (format !== undefined && format !== "json_schema") throw invalid("format must be json_schema");
  const made: StructuredOutputRequest = seal({
    format: "json_schema",
    schema: snapshotMap(schema),
    strict: strict ?? true,
    ...(name == null ? {} : { name: nameOf(name) }),
  });
  produced.add(made);
  return made;
}

/** The first way in which a value misses its schema, or null. Keywords beyond the contract's six are not looked at. */
export function validate(schema: JsonMap, value: Json): StructuredOutputMismatch | null {
  const { type, items } = schema;
  if (!hasType(value, type)) return "type_mismatch";
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => isEqual(allowed, value))) return "enum_mismatch";
  if (isJsonMap(value)) return validateProperties(schema, value);
  if (!Array.isArray(value) || !isJsonMap(items)) return null;
  for (const item of value) {
    const mismatch = validate(items, item);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

function validateProperties(schema: JsonMap, value: JsonMap): StructuredOutputMismatch | null {
  const { required, additionalProperties } = schema;
  if (Array.isArray(required) && required.some((name) => typeof name === "string" && !Object.hasOwn(value, name))) {
    return "required_property_missing";
  }
  const properties = isJsonMap(schema.properties) ? schema.properties : {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonMap(property) || !Object.hasOwn(value, name)) continue;
    const mismatch = validate(property, value[name] ?? null);
    if (mismatch !== null) return mismatch;
  }
  const isClosed = additionalProperties === false;
  if (isClosed && Object.keys(value).some((name) => !Object.hasOwn(properties, name))) {
    return "additional_property_forbidden";
  }
  return null;
}

function hasType(value: Json, type: Json | undefined): boolean {
  if (typeof type === "string") return isOfType(value, type);
  return Array.isArray(type) ? type.some((one) => isOfType(value, one)) : true;
}

/** Same kind, same content; the order of a map's keys does not count. */
function isEqual(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index] ?? null));
  }
  if (!isJsonMap(left) || !isJsonMap(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key] ?? null, right[key] ?? null));
}

function nameOf(value: unknown): string {
  const name = trimmed(value);
  if (name === undefined || !NAME.test(name)) throw invalid("name must be a letter and up to 63 of A-Z a-z 0-9 _ -");
  return name;
}

function isProduced(value: object): value is StructuredOutputRequest {
  return produced.has(value);
}

function isJsonMap(value: Json | undefined): value is JsonMap {
  return isMap(value);
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_structured_output_request", detail);
}
