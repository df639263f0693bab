// An error as it may be reported: whoever looks into one finds more than its message, and clients keep requests in theirs.
import { isMap, type Json, snapshot } from "../../contracts/json.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { createKnownSecrets, type KnownSecrets } from "./known-secrets.ts";

/** A cause has a cause; nobody reads further than this. */
const DEEPEST = 10;

/**
 * The very error when nothing of it is hidden. Otherwise one of the same kind with the same fields, without the secrets
 * and without what is no plain value, since nobody can tell what that holds.
 */
export function shownError(error: unknown, known: KnownSecrets): unknown {
  // What the error itself gives away is nobody's business beyond it.
  return shownWithin(error, createKnownSecrets(known), 0);
}

function shownWithin(error: unknown, secrets: KnownSecrets, depth: number): unknown {
  if (typeof error === "string") return secrets.clean(error);
  if (typeof error !== "object" || error === null) return error;
  if (!(error instanceof Error)) return plain(error, secrets);
  const copy = new Error();
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error));
  let isChanged = false;
  for (const name of new Set(["message", "stack", "name", ...Object.getOwnPropertyNames(error)])) {
    const field = fieldOf(error, name);
    if (!field) continue;
    const { value, isOwn, enumerable } = field;
    const shown = isOfErrors(name, value) ? below(value, secrets, depth) : plain(value, secrets, name);
    if (shown !== value) isChanged = true;
    if (isOwn || shown !== value) {
      Object.defineProperty(copy, name, { value: shown, enumerable, configurable: true, writable: true });
    }
  }
  return isChanged ? copy : error;
}

/** What it was caused by, or put together from. */
function isOfErrors(name: string, value: unknown): boolean {
  const isList = Array.isArray(value) && value.some((item) => item instanceof Error);
  return name === "cause" || value instanceof Error || isList;
}

function below(value: unknown, secrets: KnownSecrets, depth: number): unknown {
  if (depth >= DEEPEST) return undefined;
  if (!Array.isArray(value)) return shownWithin(value, secrets, depth + 1);
  const shown = value.map((item) => shownWithin(item, secrets, depth + 1));
  return shown.some((item, index) => item !== value[index]) ? shown : value;
}

type Field = { readonly value: unknown; readonly isOwn: boolean; readonly enumerable: boolean };

/** What cannot even be read tells nothing. */
function fieldOf(error: Error, name: string): Field | undefined {
  try {
    const own = Object.getOwnPropertyDescriptor(error, name);
    const value: unknown = (error as unknown as Record<string, unknown>)[name];
    return { value, isOwn: own !== undefined, enumerable: own?.enumerable ?? false };
  } catch {
    return undefined;
  }
}

/** A plain value without secrets; undefined for what is something else. `name`: where it stands. */
function plain(value: unknown, secrets: KnownSecrets, name = ""): unknown {
  if (typeof value === "function") return undefined;
  if (typeof value !== "object" && typeof value !== "string" && typeof value !== "number") return value;
  if (typeof value === "object" && value !== null && !isPlain(value)) return undefined;
  try {
    const kept = snapshot(value);
    const shown = name === "" ? hideSecrets(kept, secrets) : shownAt({ [name]: kept }, secrets, name);
    return shown === kept && isPlainBelow(value) ? value : shown;
  } catch {
    return undefined;
  }
}

function shownAt(around: { readonly [key: string]: Json }, secrets: KnownSecrets, name: string): Json | undefined {
  const shown = hideSecrets(around, secrets);
  return isMap(shown) ? (shown[name] as Json) : undefined;
}

/** True when nothing stands in it that its copy has not. */
function isPlainBelow(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol") return false;
  if (typeof value !== "object" || value === null) return true;
  return isPlain(value) && Object.values(value).every(isPlainBelow);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}
