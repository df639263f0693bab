// The parameters of a tool call as transcripts, events and audits may show them: redacted, sorted and hashed.
import { sortBytewise, stableHash } from "../canonical-json.ts";
import { trimmed } from "../coerce.ts";
import { isContainer, isMap, type Json, type JsonMap, seal, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { usableBindings } from "./bindings.ts";
import { perDefinition } from "./per-definition.ts";
import { isSensitiveKey, REDACTED } from "./sensitive-keys.ts";

/** Parameters that are safe to store and show, with the hash that identifies them. */
export type Exposure = Readonly<{ parameters: JsonMap; parameters_sha256: string; parameters_redacted: true }>;

/** `exposeShown(redact(…))`: what may be shown of a call when nobody else has a say in it. */
export function expose(parameters: JsonMap, definition: UnknownMap | null): Exposure {
  return hashed(redact(parameters, definition));
}

/** The parameters with every sensitive key and declared sensitive path redacted, keys sorted, frozen. */
export function redact(parameters: JsonMap, definition: UnknownMap | null): JsonMap {
  return arrangeMap(snapshotMap(parameters), "", hiddenBy(definition));
}

/** Hashes redacted parameters; those that a filter has replaced since are put in order again. */
export function exposeShown(redacted: JsonMap): Exposure {
  return hashed(arrangeMap(snapshotMap(redacted), "", null));
}

function hashed(parameters: JsonMap): Exposure {
  return seal({ parameters, parameters_sha256: stableHash(parameters), parameters_redacted: true });
}

/** The dotted paths a definition declares sensitive, sorted; `*` stands for the items of a list. */
export function sensitivePaths(definition: UnknownMap | null): string[] {
  return [...hiddenBy(definition).paths];
}

type Hidden = { paths: ReadonlySet<string>; longest: number };

const hiddenBy = perDefinition((definition): Hidden => {
  const { parameters } = definition;
  const { properties, items } = isContainer(parameters) ? snapshotMap(parameters) : definition;
  const paths: string[] = [];
  collectListed(definition.sensitive_parameters, paths);
  collectListed(definition.parameter_sensitivity, paths);
  for (const [name, binding] of Object.entries(usableBindings(definition))) if (binding.sensitive) paths.push(name);
  collectNested(snapshotMap(properties), snapshot(items), "", paths);
  return {
    paths: new Set(sortBytewise(paths)),
    longest: paths.reduce((most, { length }) => Math.max(most, length), 0),
  };
});

/** Listed paths, or keys that are set to true; a map may mix the two. */
function collectListed(given: unknown, paths: string[]): void {
  const field = snapshot(given);
  if (!isContainer(field)) return;
  for (const [key, value] of Object.entries(field)) {
    const path = trimmed(value === true && isMap(field) ? key : value);
    if (path !== undefined) paths.push(path);
  }
}

function collectNode(node: Json, path: string, paths: string[]): void {
  if (!isMap(node)) return;
  if (isSensitiveNode(node)) paths.push(path);
  collectNested(node.properties, node.items, `${path}.`, paths);
}

function collectNested(properties: Json | undefined, items: Json | undefined, prefix: string, paths: string[]): void {
  if (isMap(properties)) {
    for (const [name, node] of Object.entries(properties)) collectNode(node, `${prefix}${name}`, paths);
  }
  if (items !== undefined) collectNode(items, `${prefix}*`, paths);
}

function isSensitiveNode(node: JsonMap): boolean {
  const isFlagged = [node.sensitive, node["x-sensitive"], node.secret, node.writeOnly].includes(true);
  return isFlagged || node.format === "password";
}

// Parameters decide how long a path grows, and a lookup has to write it out: one that cannot match is not looked up.
function hides({ paths, longest }: Hidden, path: string): boolean {
  return path.length <= longest && paths.has(path);
}

/**
 * The map in order and with what is hidden redacted; only in order when `hidden` is null. What needs no change is
 * returned as it is, because most calls hide nothing and are arranged more than once.
 */
function arrangeMap(map: JsonMap, prefix: string, hidden: Hidden | null): JsonMap {
  const keys = Object.keys(map);
  const ordered = sortBytewise([...keys]);
  const hidesAll = hidden !== null && hides(hidden, `${prefix}*`);
  const arranged: Record<string, Json> = {};
  let isChanged = false;
  for (let index = 0; index < ordered.length; index++) {
    const key = ordered[index] as string;
    const path = `${prefix}${key}`;
    const value = map[key] as Json;
    const isHidden = hidden !== null && (hidesAll || isSensitiveKey(key) || hides(hidden, path));
    const shown = isHidden ? REDACTED : arrange(value, path, hidden);
    if (shown !== value || key !== keys[index]) isChanged = true;
    arranged[key] = shown;
  }
  return isChanged ? seal(arranged) : map;
}

function arrange(value: Json, path: string, hidden: Hidden | null): Json {
  if (!isContainer(value)) return value;
  return isMap(value) ? arrangeMap(value, `${path}.`, hidden) : arrangeList(value, `${path}.*`, hidden);
}

function arrangeList(list: readonly Json[], itemPath: string, hidden: Hidden | null): readonly Json[] {
  if (hidden !== null && hides(hidden, itemPath)) return seal(list.map(() => REDACTED));
  const arranged = list.map((item) => arrange(item, itemPath, hidden));
  return arranged.some((item, index) => item !== list[index]) ? seal(arranged) : list;
}
