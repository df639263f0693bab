// The few things the demo model asks of a JSON Schema: what is behind a reference, of which type, and does a value fit.
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { isOfType } from "../../contracts/json-schema-type.ts";

/** A schema behind its references, its one alternative that is not null, and its parts joined. */
export function resolved(schema: Json | undefined, root: JsonMap, depth = 0): JsonMap {
  if (!isMap(schema) || depth > 20) return {};
  const { $ref, allOf, ...rest } = schema as JsonMap;
  const parts = [typeof $ref === "string" ? referenced(root, $ref) : undefined, ...listed(allOf)];
  const joined = parts.reduce<JsonMap>(
    (whole, part) => (part === undefined ? whole : join(resolved(part, root, depth + 1), whole)),
    rest,
  );
  const { anyOf, oneOf, ...own } = joined;
  const alternatives = [...listed(anyOf), ...listed(oneOf)].filter((each) => !isMap(each) || each.type !== "null");
  if (alternatives.length === 0) return joined;
  // The first of several is as good as any: whoever checks the value says so if it is not.
  return join(resolved(alternatives[0], root, depth + 1), own);
}

function join(left: JsonMap, right: JsonMap): JsonMap {
  const properties = { ...mapOf(left.properties), ...mapOf(right.properties) };
  const required = [...new Set([...listed(left.required), ...listed(right.required)])];
  return {
    ...left,
    ...right,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function referenced(root: JsonMap, reference: string): Json | undefined {
  if (!reference.startsWith("#")) return undefined;
  let part: Json | undefined = root;
  for (const segment of reference.split("/").slice(1)) {
    const key = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    part = isMap(part) && Object.hasOwn(part, key) ? (part[key] as Json) : undefined;
  }
  return part;
}

/** True when a schema lets null stand for "none". */
export function acceptsNull(schema: Json | undefined, root: JsonMap, depth = 0): boolean {
  if (!isMap(schema) || depth > 20) return false;
  const { type, anyOf, oneOf, $ref } = schema as JsonMap;
  if (type === "null" || listed(type).includes("null") || listed(schema.enum as Json).includes(null)) return true;
  if (typeof $ref === "string") return acceptsNull(referenced(root, $ref), root, depth + 1);
  return [...listed(anyOf), ...listed(oneOf)].some((each) => acceptsNull(each, root, depth + 1));
}

/** The first type that is not null; what the keywords imply where no type is given. */
export function typeOf(schema: JsonMap): string | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  const named = listed(type).find((each) => typeof each === "string" && each !== "null");
  if (typeof named === "string") return named;
  if (isMap(schema.properties)) return "object";
  return "items" in schema || "prefixItems" in schema ? "array" : undefined;
}

/** True for a text, number or flag that the schema accepts, as far as its common keywords say. */
export function fits(schema: JsonMap, value: Json): boolean {
  const { type, pattern, multipleOf } = schema;
  const types = typeof type === "string" ? [type] : listed(type);
  if (types.length > 0 && !types.some((each) => isOfType(value, each))) return false;
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return false;
  if ("const" in schema && schema.const !== value) return false;
  if (typeof value === "number") {
    const { least, most } = boundsOf(schema);
    if (typeof multipleOf === "number" && !Number.isInteger(value / multipleOf)) return false;
    return value >= least && value <= most && value !== schema.exclusiveMinimum && value !== schema.exclusiveMaximum;
  }
  if (typeof value !== "string") return true;
  const { minLength = 0, maxLength = Infinity } = schema;
  const { length } = [...value];
  if (length < Number(minLength) || length > Number(maxLength)) return false;
  return typeof pattern !== "string" || matches(pattern, value);
}

/** The bounds of a number; one that is exclusive is not itself within them. */
export function boundsOf(schema: JsonMap): { readonly least: number; readonly most: number } {
  const of = (keyword: string, otherwise: number) => {
    const bound = schema[keyword];
    return typeof bound === "number" ? bound : otherwise;
  };
  return {
    least: Math.max(of("minimum", -Infinity), of("exclusiveMinimum", -Infinity)),
    most: Math.min(of("maximum", Infinity), of("exclusiveMaximum", Infinity)),
  };
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true; // a pattern that is none says nothing about a value
  }
}

export function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? (value as JsonMap) : {};
}

export function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
