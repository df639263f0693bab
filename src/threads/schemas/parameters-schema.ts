// From a JSON Schema to the `parameters` of a tool declaration. The contracts read `required` and secrets in a way of
// their own, so a few schemas are written differently there, with the same meaning.
import { isMap, type Json, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { referenced } from "./json-schema-problems.ts";

const COMBINING = ["properties", "additionalProperties", "anyOf", "oneOf", "allOf", "$ref"];

/** The declared form of a schema; undefined when it does not describe a map, and so cannot describe parameters. */
export function declaredParameters(schema: JsonMap): JsonMap | undefined {
  const { $schema: _dialect, type = impliedType(schema), ...rest } = schema;
  if (type !== "object") return undefined;
  // Without properties the contracts, and some providers, take every keyword for a parameter.
  const properties = isMap(rest.properties) ? (rest.properties as JsonMap) : {};
  const required = Array.isArray(rest.required) ? (rest.required as readonly Json[]) : [];
  const declared = Object.entries(properties).map(([name, property]) => [
    name,
    required.includes(name) ? property : optional(property),
  ]);
  // The contracts count null as missing. What may be null is asked for when the parameters are checked instead.
  const demanded = required.filter((name) => typeof name === "string" && !acceptsNull(properties[name]));
  return snapshotMap({
    type,
    ...rest,
    properties: Object.fromEntries(declared),
    required: demanded.length > 0 ? demanded : undefined,
  });
}

function impliedType(schema: JsonMap): Json | undefined {
  const keywords = Object.keys(schema).filter((keyword) => keyword !== "$schema");
  return keywords.length === 0 || keywords.some((keyword) => COMBINING.includes(keyword)) ? "object" : undefined;
}

/** The contracts take a property with a `required` of its own for a required one, so that moves a level down. */
function optional(property: Json): Json {
  if (!isMap(property) || !Array.isArray(property.required)) return property;
  const { description, ...schema } = property as JsonMap;
  return { ...(description !== undefined && { description }), anyOf: [schema] };
}

function acceptsNull(property: Json | undefined): boolean {
  if (!isMap(property)) return false;
  const { type, anyOf, oneOf, enum: choices, const: constant } = property as JsonMap;
  if (constant === null || listed(choices).includes(null)) return true;
  return type === "null" || listed(type).includes("null") || [anyOf, oneOf].flatMap(listed).some(acceptsNull);
}

/**
 * The paths of the properties that a schema marks as secret, also where the contracts do not look for such marks: in
 * alternatives and behind references. What repeats itself inside a secret-bearing schema is hidden whole.
 */
export function markedSecrets(schema: JsonMap): readonly string[] {
  const marked = new Set<string>();
  const repeating: string[] = [];
  const visit = (node: Json | undefined, path: readonly string[], followed: readonly string[]): void => {
    if (!isMap(node)) return;
    if (path.length > 0 && isMarked(node)) marked.add(path.join("."));
    const { $ref, properties, items, additionalProperties, prefixItems, anyOf, oneOf, allOf } = node as JsonMap;
    if (typeof $ref === "string") {
      if (followed.includes($ref)) repeating.push(path.join("."));
      else visit(referenced(schema, $ref), path, [...followed, $ref]);
    }
    if (isMap(properties)) {
      for (const [name, property] of Object.entries(properties)) visit(property as Json, [...path, name], followed);
    }
    for (const each of [items, additionalProperties, ...listed(prefixItems)]) visit(each, [...path, "*"], followed);
    for (const branch of [anyOf, oneOf, allOf].flatMap(listed)) visit(branch, path, followed);
  };
  visit(schema, [], ["#"]);
  return marked.size > 0 ? [...marked, ...repeating] : [];
}

/** The same for what a tool returns, which may be marked as a whole: that is the path of no letters. */
export function markedOutput(schema: JsonMap): readonly string[] {
  return isMarked(schema) ? [""] : markedSecrets(schema);
}

/** The marks are those of the contract. */
function isMarked(node: Readonly<Record<string, unknown>>): boolean {
  const { sensitive, secret, writeOnly, format } = node;
  return [sensitive, node["x-sensitive"], secret, writeOnly].includes(true) || format === "password";
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
