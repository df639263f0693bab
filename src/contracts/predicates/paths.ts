// Dotted paths such as `payload.user.name`: how they are written, and what they find.
import { isMap, type Json, type JsonMap } from "../json.ts";

export type DottedPath = { readonly root: string; readonly keys: readonly string[] };

/** What paths are looked up in. A root that is absent holds nothing. */
export type PathScope<Root extends string = string> = { readonly [root in Root]?: JsonMap };

export type PathLookup = { readonly found: true; readonly value: Json } | { readonly found: false };

/** A path below one of the roots, or below any; undefined for anything else, a root alone included. */
export function parsePath(text: unknown, roots?: readonly string[]): DottedPath | undefined {
  if (typeof text !== "string") return undefined;
  const [root = "", ...keys] = text.trim().split(".");
  if (roots?.includes(root) === false || keys.length === 0) return undefined;
  if ([root, ...keys].some((key) => key.trim() === "")) return undefined;
  return { root, keys };
}

/** Follows own keys of maps only: neither lists nor what every object inherits is reachable. */
export function lookUp(scope: PathScope, { root, keys }: DottedPath): PathLookup {
  let value: Json | undefined = Object.hasOwn(scope, root) ? scope[root] : undefined;
  for (const key of keys) {
    if (!isMap(value) || !Object.hasOwn(value, key)) return { found: false };
    value = (value as JsonMap)[key];
  }
  return value === undefined ? { found: false } : { found: true, value };
}
