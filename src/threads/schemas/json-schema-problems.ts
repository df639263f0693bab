// Checks a value against a JSON Schema and names every place where it does not fit, so that a model can put all of them
// right at once. No sentence here repeats a value: it may be a secret.
import { isDeepStrictEqual } from "node:util";
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { isOfType } from "../../contracts/json-schema-type.ts";

/** One place that does not fit: a path such as `lines[0].cents`, which is `""` for the value as a whole. */
export type Problem = { readonly path: string; readonly message: string };

/**
 * Every problem of a value, none when it fits. Keywords that are not known here, such as `format`, are passed over, and
 * so is a `$ref` that leaves the schema.
 */
export function jsonSchemaProblems(schema: JsonMap, value: Json): readonly Problem[] {
  return check(schema, value, { path: "", root: schema, followed: [] });
}

/** The path of a member: `.name` in a map, `[0]` in a list. */
export function memberPath(path: string, member: PropertyKey): string {
  if (typeof member === "number") return `${path}[${member}]`;
  return path === "" ? String(member) : `${path}.${String(member)}`;
}

/** The part of a schema that a local `$ref` such as `#/$defs/line` points to. */
export function referenced(root: JsonMap, reference: string): Json | undefined {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let part: Json | undefined = root;
  for (const segment of reference.split("/").slice(1)) {
    const key = unescaped(segment);
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, key)) return undefined;
    part = (part as JsonMap)[key];
  }
  return part;
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return segment;
  }
}

type Place = {
  readonly path: string;
  readonly root: JsonMap;
  /** References that led here without a step into the value: to follow one of them again would never end. */
  readonly followed: readonly string[];
};

type Check = (schema: JsonMap, value: Json, place: Place) => readonly Problem[];

const checks: readonly Check[] = [
  checkReference,
  checkChoices,
  checkBounds,
  checkLength,
  checkMap,
  checkList,
  checkBranches,
];

function check(schema: Json | undefined, value: Json, place: Place): readonly Problem[] {
  if (schema === false) return [{ path: place.path, message: "must not be there" }];
  if (!isMap(schema)) return [];
  const { type } = schema;
  // What is of another type altogether would break every other keyword too.
  if (!hasType(value, type)) return [{ path: place.path, message: `must be ${typesOf(type)}` }];
  return checks.flatMap((each) => each(schema as JsonMap, value, place));
}

function checkReference({ $ref }: JsonMap, value: Json, place: Place): readonly Problem[] {
  if (typeof $ref !== "string" || place.followed.includes($ref)) return [];
  return check(referenced(place.root, $ref), value, { ...place, followed: [...place.followed, $ref] });
}

function checkChoices(schema: JsonMap, value: Json, { path }: Place): readonly Problem[] {
  const choices = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const as Json] : undefined;
  if (choices === undefined || choices.some((choice: Json) => isDeepStrictEqual(choice, value))) return [];
  const words = choices.map((choice: Json) => JSON.stringify(choice)).join(", ");
  return [{ path, message: `must be ${choices.length > 1 ? "one of " : ""}${words}` }];
}

type Bound = readonly [keyword: string, words: string, isWithin: (value: number, bound: number) => boolean];

const bounds: readonly Bound[] = [
  ["minimum", "at least", (value, bound) => value >= bound],
  ["exclusiveMinimum", "more than", (value, bound) => value > bound],
  ["maximum", "at most", (value, bound) => value <= bound],
  ["exclusiveMaximum", "less than", (value, bound) => value < bound],
];

function checkBounds(schema: JsonMap, value: Json, { path }: Place): readonly Problem[] {
  if (typeof value !== "number") return [];
  return bounds.flatMap(([keyword, words, isWithin]) => {
    const bound = schema[keyword];
    return typeof bound !== "number" || isWithin(value, bound) ? [] : [{ path, message: `must be ${words} ${bound}` }];
  });
}

function checkLength(schema: JsonMap, value: Json, { path }: Place): readonly Problem[] {
  const { minLength, maxLength, minItems, maxItems, pattern } = schema;
  if (Array.isArray(value)) return sizeProblems(value.length, minItems, maxItems, "items", path);
  if (typeof value !== "string") return [];
  const problems = sizeProblems([...value].length, minLength, maxLength, "characters", path);
  if (typeof pattern !== "string" || (regularExpression(pattern)?.test(value) ?? true)) return problems;
  return [...problems, { path, message: `must match ${pattern}` }];
}

function sizeProblems(size: number, least: unknown, most: unknown, unit: string, path: string): readonly Problem[] {
  if (typeof least === "number" && size < least) return [{ path, message: `must have at least ${least} ${unit}` }];
  if (typeof most === "number" && size > most) return [{ path, message: `must have at most ${most} ${unit}` }];
  return [];
}

/** Undefined for a pattern that is none; the schema's author meant something, but no value can be blamed for it. */
function regularExpression(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

function checkMap(schema: JsonMap, value: Json, place: Place): readonly Problem[] {
  if (!isJsonMap(value)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isJsonMap(schema.properties) ? schema.properties : {};
  const missing = required.filter((name): name is string => typeof name === "string" && !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => ({ path: memberPath(place.path, name), message: "is required" })),
    ...Object.entries(value).flatMap(([name, member]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      return check(known, member, inside(place, name));
    }),
  ];
}

function checkList(schema: JsonMap, value: Json, place: Place): readonly Problem[] {
  if (!Array.isArray(value)) return [];
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  return value.flatMap((item: Json, index) =>
    check(index < first.length ? first[index] : schema.items, item, inside(place, index)),
  );
}

function checkBranches({ allOf, anyOf, oneOf }: JsonMap, value: Json, place: Place): readonly Problem[] {
  const all = Array.isArray(allOf) ? allOf.flatMap((branch: Json) => check(branch, value, place)) : [];
  return [...all, ...alternatives(anyOf, value, place), ...alternatives(oneOf, value, place, 1)];
}

/** A value that fits none of the alternatives is told what keeps it from the one that it comes closest to. */
function alternatives(branches: Json | undefined, value: Json, place: Place, most = Infinity): readonly Problem[] {
  if (!Array.isArray(branches) || branches.length === 0) return [];
  const tried = branches.map((branch: Json) => ({ branch, problems: check(branch, value, place) }));
  const fitting = tried.filter(({ problems }) => problems.length === 0).length;
  if (fitting > most) return [{ path: place.path, message: "must fit exactly one of the alternatives" }];
  if (fitting > 0) return [];
  const distances = tried.map(({ branch, problems }) => distance(branch, problems, value, place));
  return tried[distances.indexOf(Math.min(...distances))]?.problems ?? [];
}

/** To be of another kind, by its type or by a constant that tells kinds apart, is further off than any other misfit. */
function distance(branch: Json, problems: readonly Problem[], value: Json, { path }: Place): number {
  const properties = isJsonMap(branch) && isJsonMap(branch.properties) ? branch.properties : {};
  const isOther = Object.entries(properties).some(([name, property]) => {
    if (!isJsonMap(property) || !("const" in property) || !isJsonMap(value)) return false;
    return !Object.hasOwn(value, name) || !isDeepStrictEqual(property.const, value[name]);
  });
  return problems.length + (isOther || problems.some((problem) => problem.path === path) ? FAR : 0);
}

const FAR = 1_000_000;

function inside({ path, root }: Place, member: string | number): Place {
  return { path: memberPath(path, member), root, followed: [] };
}

function hasType(value: Json, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(value, one));
  return type === undefined || isOfType(value, type);
}

function typesOf(type: unknown): string {
  return Array.isArray(type) ? type.join(" or ") : `of type ${String(type)}`;
}

function isJsonMap(value: Json | undefined): value is JsonMap {
  return isMap(value);
}
