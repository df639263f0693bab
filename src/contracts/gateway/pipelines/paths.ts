// Dotted paths such as `payload.user.name`: how they are written, and what they find.
import { isMap, type Json, type JsonMap } from "../../json.ts";

export const pathRoots = ["payload", "context", "config"] as const;
export type PathRoot = (typeof pathRoots)[number];

export type DottedPath = { readonly root: PathRoot; readonly keys: readonly string[] };

/** What paths are looked up in. A root that is absent holds nothing. */
export type PathScope = { readonly [root in PathRoot]?: JsonMap };

export type PathLookup = { readonly found: true; readonly value: Json } | { readonly found: false };

/** A path below one of the roots; undefined for anything else, a root alone included. */
export function parsePath(text: unknown, roots: readonly PathRoot[] = pathRoots): DottedPath | undefined {
  if (typeof text !== "string") return undefined;
  const [first, ...keys] = text.trim().split(".");
  const root = roots.find((each) => each === first);
  if (root === undefined || keys.length === 0 || keys.some((key) => key.trim() === "")) return undefined;
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
