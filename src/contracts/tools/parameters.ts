// What a tool is called with: the model's parameters, completed and overruled by what the declaration binds.
import { truthy } from "../coerce.ts";
import {
  emptyMap,
  isContainer,
  isEmpty,
  isMap,
  type Json,
  type JsonMap,
  seal,
  snapshot,
  snapshotMap,
  type UnknownMap,
} from "../json.ts";
import { type Binding, usableBindings, usableDefaults } from "./bindings.ts";
import { perDefinition } from "./per-definition.ts";

const planOf = perDefinition((definition) => {
  const defaults = usableDefaults(definition);
  const bindings = Object.entries(usableBindings(definition));
  return {
    defaults,
    offered: bindings.filter(([, binding]) => !binding.authoritative),
    authoritative: bindings.filter(([, binding]) => binding.authoritative),
    addsNothing: bindings.length === 0 && isEmpty(defaults),
  };
});

/**
 * The parameters to call a tool with, frozen. Later ones win: defaults, what bindings offer, what the model gave, what
 * authoritative bindings say. An authoritative parameter that nothing provides is removed, whatever the model gave.
 */
export function build(parameters: JsonMap, context: JsonMap, definition: UnknownMap): JsonMap {
  const { defaults, offered, authoritative, addsNothing } = planOf(definition);
  if (addsNothing) return snapshotMap(parameters);
  const built: Record<string, Json> = { ...defaults };
  for (const [name, binding] of offered) {
    const found = resolve(binding, context);
    // An empty value of the context says nothing, so a default may stand; a declared empty default is meant.
    if (found === null || found === "") continue;
    const value = found ?? binding.default;
    if (value !== undefined) built[name] = value;
  }
  Object.assign(built, snapshotMap(parameters));
  for (const [name, binding] of authoritative) {
    const value = firstDefined(resolve(binding, context), binding.default, own(defaults, name));
    if (value === undefined) delete built[name];
    else built[name] = value;
  }
  return seal(built);
}

/** Checks that every required parameter is there; an empty string or null counts as missing, zero and false do not. */
export function validateRequired(
  parameters: JsonMap,
  definition: UnknownMap,
): { valid: boolean; required: string[]; missing: string[] } {
  const required = [...requiredNames(definition)];
  const missing = required.filter((name) => {
    const value = own(parameters, name);
    return value === undefined || value === null || value === "";
  });
  return { valid: missing.length === 0, required, missing };
}

/** The declared schema as the model may see it: without the parameters that authoritative bindings decide. */
export function modelSchema(definition: UnknownMap): Json {
  return modelSchemaOf(definition);
}

const modelSchemaOf = perDefinition((definition): Json => {
  const schema = snapshot(definition.parameters);
  if (!isContainer(schema)) return emptyMap;
  const hidden = new Set(planOf(definition).authoritative.map(([name]) => name));
  return hidden.size === 0 || !isMap(schema) ? schema : snapshot(withoutParameters(schema, hidden));
});

const requiredNames = perDefinition((definition): readonly string[] => {
  const schema = snapshot(definition.parameters);
  if (!isMap(schema)) return [];
  const listed = Array.isArray(schema.required) ? schema.required : [];
  const configured = isContainer(schema.properties) ? schema.properties : schema;
  const flagged = Object.entries(configured).filter(([, config]) => isMap(config) && truthy(config.required));
  const names = [...listed, ...flagged.map(([name]) => name)];
  return [...new Set(names.filter((name) => typeof name === "string" && name !== ""))];
});

function withoutParameters(schema: JsonMap, hidden: ReadonlySet<string>): JsonMap {
  const visible: Record<string, Json> = isMap(schema.properties)
    ? { ...schema, properties: omit(schema.properties, hidden) }
    : omit(schema, hidden);
  if (Array.isArray(visible.required)) visible.required = visible.required.filter((name) => !hidden.has(name));
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const branches = own(visible, keyword);
    if (!Array.isArray(branches)) continue;
    visible[keyword] = branches.map((branch: Json) => (isMap(branch) ? withoutParameters(branch, hidden) : branch));
  }
  return visible;
}

function omit(map: JsonMap, hidden: ReadonlySet<string>): Record<string, Json> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !hidden.has(key)));
}

/** The value a binding points at, which may be null; undefined when there is none. */
function resolve({ source, path }: Binding, context: JsonMap): Json | undefined {
  let value: unknown = source === "context" ? context : own(context, source);
  // The context also carries what is no JSON, such as executors, so only what is bound gets copied.
  for (const segment of path.split(".")) {
    value = segment === "" ? undefined : own(value, segment);
    if (value === undefined) return undefined;
  }
  return typeof value === "function" ? undefined : snapshot(value);
}

/** The value under a key that somebody else chose: never what every object or list inherits or has besides its items. */
function own(container: unknown, key: string): Json | undefined {
  if (!isContainer(container) || !Object.hasOwn(container, key)) return undefined;
  if (Array.isArray(container) && key === "length") return undefined;
  return (container as JsonMap)[key];
}

function firstDefined(...values: (Json | undefined)[]): Json | undefined {
  return values.find((value) => value !== undefined);
}
