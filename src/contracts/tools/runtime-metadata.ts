// The `runtime` field of tool declarations and results: product-neutral hints for the loop and the host. It travels
// into transcripts and policies, so it may hold no secrets.
import { emptyMap, isEmpty, isMap, type Json, type JsonMap, snapshotMap } from "../json.ts";
import { isSensitiveKey, REDACTED } from "./sensitive-keys.ts";

// The loop normalises the metadata of a declaration again with every result that carries it.
const normalized = new WeakSet<object>();

/** The metadata without nulls and with sensitive keys redacted at every depth; anything but a map gives an empty one. */
export function normalize(value: unknown): JsonMap {
  if (!isMap(value) || isEmpty(value)) return emptyMap;
  if (normalized.has(value)) return value as JsonMap;
  const { "": _unnamed, ...named } = cleanMap(snapshotMap(value), true);
  const metadata = snapshotMap(named);
  normalized.add(metadata);
  return metadata;
}

/** The value without nulls at any depth; undefined when it is itself null. Emptied lists and maps stay. */
export function withoutNulls(value: Json): Json | undefined {
  return clean(value, false);
}

function clean(value: Json, redacting: boolean): Json | undefined {
  if (value === null) return undefined;
  if (typeof value !== "object") return value;
  return isMap(value) ? cleanMap(value, redacting) : cleanList(value, redacting);
}

function cleanMap(map: JsonMap, redacting: boolean): Record<string, Json> {
  const cleaned: Record<string, Json> = {};
  for (const [key, item] of Object.entries(map)) {
    // Before the null check: whether a secret is set is part of what is hidden.
    const kept = redacting && isSensitiveKey(key) ? REDACTED : clean(item, redacting);
    if (kept !== undefined) cleaned[key] = kept;
  }
  return cleaned;
}

function cleanList(list: readonly Json[], redacting: boolean): Json {
  return list.map((item) => clean(item, redacting)).filter((item) => item !== undefined);
}
