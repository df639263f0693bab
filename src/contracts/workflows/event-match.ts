// Paths into the payload of an event.
import { isMap, type Json } from "../json.ts";

/** The value at a dotted path; null where there is none. Only own fields and positions of lists are found. */
export function valueAt(payload: Json, path: string): Json {
  let value: Json = payload;
  for (const key of path.split(".")) {
    if (Array.isArray(value)) value = /^\d+$/.test(key) ? ((value as readonly Json[])[Number(key)] ?? null) : null;
    else if (isMap(value) && Object.hasOwn(value, key)) value = (value as Record<string, Json>)[key] ?? null;
    else return null;
  }
  return value;
}
