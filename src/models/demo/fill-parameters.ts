// Fills the parameters of a tool from a text, by the tool's schema: what is found for sure first, guesses last.
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import type { ToolDeclaration } from "../../contracts/tools/declaration.ts";
import { modelSchema } from "../../contracts/tools/parameters.ts";
import { type Field, fieldOf } from "./field.ts";
import { type Finder, findByFormat, findChoice, findCurrency, findFlag, findMoney } from "./find-formed.ts";
import { findBehindPreposition, findLeftOver, findProperName, findProse } from "./find-leftover.ts";
import { findAssigned, findNamed, valueAt } from "./find-named.ts";
import { acceptsNull, listed, mapOf, resolved } from "./schema.ts";
import type { Reading, Token } from "./tokens.ts";
import { type Found, type Unread, unread } from "./unread.ts";

export type Filled = {
  readonly parameters: JsonMap;
  /** Required parameters that the text has nothing for. */
  readonly missing: readonly string[];
};

/** What the text says for the tool's parameters. */
export function fillParameters(tool: ToolDeclaration, reading: Reading): Filled {
  const schema = parametersOf(tool);
  const given = new Set([
    ...Object.keys(mapOf(tool.parameter_defaults)),
    ...Object.keys(mapOf(tool.parameter_bindings as Json)),
  ]);
  const filled = fillMap(schema, schema, unread(reading), 0);
  return { ...filled, missing: filled.missing.filter((name) => !given.has(name)) };
}

/** The parameters of a tool as one schema. Contracts may also write them without `properties` around them. */
export function parametersOf(tool: ToolDeclaration): JsonMap & { readonly properties: JsonMap } {
  const declared = mapOf(modelSchema(tool));
  const whole = resolved(declared, declared);
  if (isMap(whole.properties)) return { ...declared, ...whole, properties: mapOf(whole.properties) };
  const flagged = Object.entries(declared).filter(([, each]) => isMap(each) && each.required === true);
  const isSchema = typeof declared.type === "string";
  return isSchema ? { properties: {} } : { properties: declared, required: flagged.map(([name]) => name) };
}

/** Sure finds before guesses, for every parameter, so that no guess takes what another one is sure of. */
const sure: readonly Finder[] = [findAssigned, findMoney, findCurrency, findByFormat, findChoice, findFlag, findNamed];
/** Guesses are only made for what is required. */
const guesses: readonly Finder[] = [findBehindPreposition, findLeftOver, findProperName, findProse];

const DEEPEST = 5;

/** What the text says for a schema of a map, at any depth. */
export function fillMap(schema: JsonMap, root: JsonMap, text: Unread, depth: number): Filled {
  const required = new Set(listed(schema.required));
  const properties = Object.entries(mapOf(schema.properties));
  const fields = properties
    .map(([name, property]) =>
      fieldOf(name, resolved(property, root), required.has(name) && !acceptsNull(property, root)),
    )
    .toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired));
  const found = new Map<string, Json>();
  const search = (field: Field, finders: readonly Finder[]) => {
    if (found.has(field.name)) return;
    const value = find(field, finders, text, root);
    if (value !== undefined) found.set(field.name, value);
  };
  for (const finder of sure) for (const field of fields) search(field, [finder]);
  for (const field of fields) if (field.isRequired) search(field, guesses);
  for (const field of fields) {
    const nested = depth < DEEPEST && !found.has(field.name) ? findMap(field, root, text, depth + 1) : undefined;
    if (nested !== undefined) found.set(field.name, nested);
  }
  for (const { name, isRequired } of fields) {
    if (!found.has(name) && required.has(name) && !isRequired) found.set(name, null);
  }
  // In the order of the schema, because a person reads them.
  const parameters = Object.fromEntries(
    properties.flatMap(([name]) => (found.has(name) ? [[name, found.get(name) as Json]] : [])),
  );
  const isOpen = ({ name, schema: own }: Field) => required.has(name) && !found.has(name) && !("default" in own);
  return { parameters, missing: fields.filter(isOpen).map(({ name }) => name) };
}

function find(field: Field, finders: readonly Finder[], text: Unread, root: JsonMap): Json | undefined {
  if ("const" in field.schema) return field.schema.const;
  if (field.type === "array") return findList(field, finders, text, root);
  return findOne(field, finders, text)?.value;
}

function findOne(field: Field, finders: readonly Finder[], text: Unread): Found | undefined {
  for (const finder of finders) {
    const found = finder(field, text);
    if (found) text.take(found);
    if (found) return found;
  }
  return undefined;
}

/** A list of plain values is filled with as many as are found: each by itself, or one behind the other with commas. */
function findList(field: Field, finders: readonly Finder[], text: Unread, root: JsonMap): Json | undefined {
  const items = resolved(field.schema.items, root);
  const item = { ...fieldOf(field.name, items, field.isRequired), described: field.described };
  if (item.type === "object" || item.type === "array") return undefined;
  const { maxItems, minItems = 0 } = field.schema;
  const values: Json[] = [];
  let last: Found | undefined;
  while (values.length < (typeof maxItems === "number" ? maxItems : MOST_ITEMS)) {
    last = (last && findNext(item, last, text)) ?? findOne(item, finders, text);
    if (last === undefined || values.includes(last.value)) break;
    values.push(last.value);
  }
  return values.length === 0 || values.length < Number(minItems) ? undefined : values;
}

const MOST_ITEMS = 20;

/** The value behind a comma or an "and". */
function findNext(item: Field, { from }: Found, text: Unread): Found | undefined {
  const { tokens } = text.reading;
  const behind = from.length === 0 ? tokens.length : tokens.indexOf(from.at(-1) as Token) + 1;
  let at = behind;
  while (/^(?:,|&|and|or)$/i.test(tokens[at]?.text ?? "")) at++;
  const found = at > behind ? valueAt(item, text, at) : undefined;
  if (found) text.take(found);
  return found;
}

/** A map, or a list with one map, where the text has everything that it requires. */
function findMap(field: Field, root: JsonMap, text: Unread, depth: number): Json | undefined {
  const inner = field.type === "array" ? resolved(field.schema.items, root) : field.schema;
  if (!isMap(inner.properties)) return undefined;
  const { parameters, missing } = fillMap(inner, root, text, depth);
  if (missing.length > 0 || Object.keys(parameters).length === 0) return undefined;
  return field.type === "array" ? [parameters] : parameters;
}
