// What stands as `${...}` in a step, replaced by what it names. Only fields that a value has itself are found, results are
// not looked through again, and every text is read once from start to end.
import { scalarText, trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { isContainer, isMap, type Json, type JsonMap, seal } from "../json.ts";

/** What a binding can name: what the run was given, what steps before came to, and what stands around the step. */
export type BindingContext = {
  readonly inputs: JsonMap;
  /** Step id to `{ output }`. */
  readonly steps: JsonMap;
  readonly vars: JsonMap;
};

/**
 * The value with every binding in it replaced, in maps and lists at any depth; keys stay. A text that is one binding and
 * nothing else becomes the very value, null where there is none. Value and context are JSON as `snapshot` makes it.
 */
export function expand(value: Json, context: BindingContext): Json {
  if (typeof value === "string") return expandText(value, context);
  if (!isContainer(value)) return value;
  const items = Object.values(value);
  const expanded = items.map((item) => expand(item, context));
  if (items.every((item, index) => item === expanded[index])) return value;
  if (!isMap(value)) return seal(expanded);
  return seal(Object.fromEntries(Object.keys(value).map((key, index) => [key, expanded[index] ?? null])));
}

/** What the bindings in a value can find at all: the roots, and the steps whose output is named. */
export type References = { readonly roots: ReadonlySet<keyof BindingContext>; readonly steps: ReadonlySet<string> };

/** Which parts of a context `expand` would look into. */
export function references(value: Json): References {
  const roots = new Set<keyof BindingContext>();
  const steps = new Set<string>();
  const waiting: Json[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop() ?? null;
    if (isContainer(next)) for (const item of Object.values(next)) waiting.push(item);
    if (typeof next !== "string") continue;
    for (const part of partsOf(next)) {
      const place = part.path === undefined ? undefined : placeOf(part.path);
      if (place === undefined) continue;
      roots.add(place.root);
      if (place.root === "steps") steps.add(place.path[0] ?? "");
    }
  }
  return { roots, steps };
}

function expandText(text: string, context: BindingContext): Json {
  if (!text.includes("${")) return text;
  const parts = [...partsOf(text)];
  const [only] = parts;
  if (parts.length === 1 && only?.path !== undefined) return resolve(only.path, context);
  let length = 0;
  const pieces = parts.map(({ text: plain, path }) => {
    const piece = path === undefined ? plain : written(resolve(path, context));
    length += piece.length;
    if (length > LONGEST_TEXT) throw holdfastError("workflow_text_too_long", `${LONGEST_TEXT} characters are the most`);
    return piece;
  });
  return pieces.join("");
}

/** Of a text with bindings in it: steps that double a text would soon take all of the memory. */
const LONGEST_TEXT = 16_777_216;

/** A piece of a text: as it stands there, and its path where it is a binding. */
type Part = { readonly text: string; readonly path?: string };

function* partsOf(text: string): Generator<Part> {
  let from = 0;
  for (let at = text.indexOf("${"); at !== -1; ) {
    const end = text.indexOf("}", at);
    if (end === -1) break;
    // Without anything between the braces it is no binding.
    if (end > at + 2) {
      if (at > from) yield { text: text.slice(from, at) };
      yield { text: text.slice(at, end + 1), path: text.slice(at + 2, end) };
      from = end + 1;
    }
    at = text.indexOf("${", end + 1);
  }
  if (from < text.length) yield { text: text.slice(from) };
}

type Place = { readonly root: keyof BindingContext; readonly path: readonly string[] };

/** Where a path leads; undefined when it can lead nowhere. */
function placeOf(path: string): Place | undefined {
  const [root, ...rest] = trim(path)
    .split(".")
    .filter((segment) => segment !== "");
  if (rest.length === 0) return undefined;
  if (root === "steps") return rest[1] === "output" ? { root, path: rest } : undefined;
  return root === "inputs" || root === "vars" ? { root, path: rest } : undefined;
}

function resolve(path: string, context: BindingContext): Json {
  const place = placeOf(path);
  if (place === undefined) return null;
  let value: Json | undefined = context[place.root];
  for (const segment of place.path) value = fieldOf(value, segment);
  return value ?? null;
}

const INDEX = /^(?:0|[1-9]\d*)$/;

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  if (!isContainer(value) || name === "__proto__") return undefined;
  if (!isMap(value)) return INDEX.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function written(value: Json): string {
  if (typeof value === "boolean") return String(value);
  // Fractions are written with 14 digits: 0.1 + 0.2 is 0.3.
  const rounded = typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(14)) : value;
  return scalarText(rounded) ?? "";
}
