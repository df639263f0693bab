// Where a tool's parameters may come from besides the model: values of the run's context, and declared defaults.
// Nothing of the context reaches a tool by its name alone.
import { trim, trimmed } from "../coerce.ts";
import { type HoldfastError, holdfastError } from "../error.ts";
import { emptyMap, isEmpty, isMap, type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { perDefinition } from "./per-definition.ts";
import { isSensitiveKey, REDACTED } from "./sensitive-keys.ts";

const SOURCES = ["context", "client_context", "caller_context", "runtime_context"] as const;

/** One parameter's place in the context. An authoritative binding overrules the model and is hidden from it. */
export type Binding = Readonly<{
  source: (typeof SOURCES)[number];
  path: string;
  sensitive?: true;
  default?: Json;
  authoritative?: true;
}>;

export type Bindings = Readonly<Record<string, Binding>>;

type BindingEntry = [name: string, binding: Binding];

/**
 * The bindings of a tool by parameter name; `parameter_bindings` win over `client_context_bindings`. A malformed one
 * throws `invalid_parameter_bindings` with the field it stands in.
 */
export function normalizeBindings(definition: unknown): Bindings {
  const { client_context_bindings, parameter_bindings } = isMap(definition) ? definition : emptyMap;
  const entries = [...clientContextEntries(client_context_bindings), ...parameterEntries(parameter_bindings)];
  return snapshot(Object.fromEntries(entries)) as Bindings;
}

/** The defaults of a tool by parameter name, secrets redacted: a declaration is shown to models and stored in requests. */
export function normalizeDefaults(definition: unknown): JsonMap {
  const given = isMap(definition) ? definition.parameter_defaults : undefined;
  // A null that stands there was meant to say something, as it is with bindings.
  if (given === undefined) return emptyMap;
  const entries = mapEntries(given, "parameter_defaults").map(([key, value]) => {
    const name = trimmed(key) ?? fail("parameter_defaults must not have a blank name");
    return [name, isSensitiveKey(name) ? REDACTED : value] as const;
  });
  return snapshotMap(Object.fromEntries(entries));
}

/** The bindings a call may rely on: none of them when one is malformed. */
export const usableBindings = perDefinition((definition) => unlessMalformed(normalizeBindings, definition) ?? {});

/** The defaults a call may rely on: none of them when they are malformed. */
export const usableDefaults = perDefinition((definition) => unlessMalformed(normalizeDefaults, definition) ?? emptyMap);

/** True when reading the definition raises no complaint. */
export function isWellFormed(read: (definition: UnknownMap) => object, definition: UnknownMap): boolean {
  return unlessMalformed(read, definition) !== undefined;
}

function unlessMalformed<Answer extends object>(
  read: (definition: UnknownMap) => Answer,
  definition: UnknownMap,
): Answer | undefined {
  try {
    return read(definition);
  } catch {
    // A call goes on without what cannot be read; whoever declares the tool is told by its validation.
    return undefined;
  }
}

function clientContextEntries(given: unknown): BindingEntry[] {
  if (given === undefined) return [];
  const field = snapshot(given);
  // A listed key is parameter and path at once; the parameter keeps the spaces it was written with.
  const pairs: readonly (readonly [string, Json])[] = Array.isArray(field)
    ? field.map((key: Json) => [typeof key === "string" ? key : "", key])
    : mapEntries(field, "client_context_bindings").map(([key, path]) => [trim(key), path]);
  return pairs.map(([name, contextPath]) => {
    const path = trimmed(contextPath);
    if (name === "" || path === undefined) {
      throw malformed(`client_context_bindings must name a parameter and a context path, not ${JSON.stringify(name)}`);
    }
    return [name, { source: "context", path }];
  });
}

function parameterEntries(given: unknown): BindingEntry[] {
  if (given === undefined) return [];
  return mapEntries(given, "parameter_bindings").map(([key, binding]) => {
    const name = trimmed(key) ?? fail("parameter_bindings must not have a blank name");
    const read = typeof binding === "string" ? bindingFromText(binding) : bindingFromMap(binding);
    return [name, read ?? fail(`parameter_bindings.${name} must be '<source>.<path>' or { source, path }`)];
  });
}

function bindingFromText(text: string): Binding | undefined {
  const dotted = trim(text);
  const dot = dotted.indexOf(".");
  const path = trim(dotted.slice(dot + 1));
  const source = dotted.slice(0, Math.max(dot, 0));
  return isSource(source) && path !== "" ? { source, path } : undefined;
}

function bindingFromMap(given: Json): Binding | undefined {
  if (!isMap(given)) return undefined;
  const { source, path: givenPath, sensitive = false, authoritative = false, default: fallback, ...unknown } = given;
  const path = trimmed(givenPath);
  if (!isSource(source) || path === undefined || !isEmpty(unknown)) return undefined;
  if (typeof sensitive !== "boolean" || typeof authoritative !== "boolean") return undefined;
  return {
    source,
    path,
    ...(sensitive && { sensitive }),
    ...(fallback !== undefined && { default: fallback }),
    ...(authoritative && { authoritative }),
  };
}

function isSource(value: unknown): value is Binding["source"] {
  return (SOURCES as readonly unknown[]).includes(value);
}

/** The entries of a map; an empty list is an empty map on the wire. */
function mapEntries(given: unknown, field: string): [string, Json][] {
  const value = snapshot(given);
  if (isMap(value)) return Object.entries(value);
  if (Array.isArray(value) && value.length === 0) return [];
  throw malformed(`${field} must be a map of parameter names`);
}

function fail(detail: string): never {
  throw malformed(detail);
}

function malformed(detail: string): HoldfastError {
  return holdfastError("invalid_parameter_bindings", detail);
}
