// What may be stored and sent: plain JSON values, and the copy that makes a caller's value one of them.
import { createBrand } from "./brand.ts";
import { HoldfastError, holdfastError } from "./error.ts";

export type Scalar = string | number | boolean | null;
export type Json = Scalar | readonly Json[] | JsonMap;
export type JsonMap = { readonly [key: string]: Json };

/** A map whose values have not been looked at yet. */
export type UnknownMap = Readonly<Record<string, unknown>>;

/** Deeper values are refused, so that no walk over a value can exhaust the stack. */
const DEEPEST = 512;

/** True for a JSON object: not a list, not null. */
export function isMap(value: unknown): value is UnknownMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a list or a map: what the contracts call an array. */
export function isContainer(value: unknown): value is UnknownMap | readonly unknown[] {
  return typeof value === "object" && value !== null;
}

/** True when a list or map holds nothing; the contracts treat `[]` and `{}` as the same empty value. */
export function isEmpty(value: UnknownMap | readonly unknown[]): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

// Copies made here are frozen all the way down, so seeing one again is enough to know that it needs no second copy.
const snapshots = createBrand();

/**
 * A deep, frozen copy of a value as JSON would carry it: what JSON leaves out is left out, `NaN` becomes null, and
 * `toJSON` is honoured. A cycle, a bigint or a value nested deeper than 512 levels throws `not_json`. A `__proto__`
 * key is dropped: no reader of the copy can be handed one safely.
 */
export function snapshot(value: unknown, deepest: number = DEEPEST): Json {
  try {
    return copy(value, deepest, []) ?? null;
  } catch (thrown) {
    if (thrown instanceof HoldfastError) throw thrown;
    throw notJson("it refuses to be read", thrown);
  }
}

/** `snapshot`, except that a number which JSON cannot write throws `not_json` too: for what must not change in the copy. */
export function exactSnapshot(value: unknown): Json {
  const copied = snapshot(value);
  if (losesNumber(value, copied)) throw notJson("it holds a number that is none, or infinite");
  return copied;
}

/**
 * Freezes a map or list whose parts are all frozen JSON already, and lets `snapshot` know it again. For values built
 * here, not for what a caller hands in.
 */
export function seal<Sealed extends object>(built: Sealed): Readonly<Sealed> {
  snapshots.mark(built);
  return Object.freeze(built);
}

/** Freezes what was just parsed all the way down. Nothing is copied: nobody else has seen it yet. */
export function sealParsed<Parsed extends object>(parsed: Parsed): Readonly<Parsed> {
  for (const item of Object.values(parsed)) if (typeof item === "object" && item !== null) sealParsed(item);
  return seal(parsed);
}

export const emptyMap: JsonMap = seal({});

/** A map as it is, and an empty list as the empty map: the contracts write both as `[]`. Undefined for anything else. */
export function asMap(value: unknown): UnknownMap | undefined {
  if (isMap(value)) return value;
  return Array.isArray(value) && value.length === 0 ? emptyMap : undefined;
}

/** `snapshot` of a map; anything that is not a map gives an empty one. */
export function snapshotMap(value: unknown): JsonMap {
  const copied = isMap(value) ? snapshot(value) : emptyMap;
  return isMap(copied) ? copied : emptyMap;
}

function copy(value: unknown, levels: number, ancestors: object[]): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : null; // the sum of -0 and 0 is 0, as JSON has it
    case "bigint":
      throw notJson("a bigint has no JSON form");
    case "object":
      return value === null ? null : copyObject(value, levels, ancestors);
    default:
      return undefined;
  }
}

function copyObject(value: object, levels: number, ancestors: object[]): Json | undefined {
  if (snapshots.has(value)) return value as Json;
  if (levels === 0) throw notJson("it is nested too deep");
  if (ancestors.includes(value)) throw notJson("it contains itself");
  if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON(), levels - 1, ancestors);
  ancestors.push(value);
  const copied = Array.isArray(value) ? copyList(value, levels, ancestors) : copyMap(value, levels, ancestors);
  ancestors.pop();
  return seal(copied as object) as Json;
}

function copyList(list: readonly unknown[], levels: number, ancestors: object[]): Json {
  const copied: Json[] = new Array(list.length);
  for (let index = 0; index < list.length; index++) copied[index] = copy(list[index], levels - 1, ancestors) ?? null;
  return copied;
}

function copyMap(map: object, levels: number, ancestors: object[]): Json {
  const copied: Record<string, Json> = {};
  for (const key of Object.keys(map)) {
    if (key === "__proto__") continue;
    const item = copy((map as UnknownMap)[key], levels - 1, ancestors);
    if (item !== undefined) copied[key] = item;
  }
  return copied;
}

// A copy writes NaN and infinity as null.
function losesNumber(given: unknown, copied: unknown): boolean {
  if (copied === null) return typeof given === "number";
  if (copied === given || !isContainer(copied) || !isContainer(given)) return false;
  return Object.entries(copied).some(([key, item]) => losesNumber((given as UnknownMap)[key], item));
}

function notJson(why: string, cause?: unknown) {
  return holdfastError("not_json", `The value cannot be written as JSON: ${why}.`, cause);
}
