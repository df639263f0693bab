// When two JSON values are the same value.
import { isMap, type Json, type JsonMap } from "../json.ts";

/** True for values that differ in nothing but the order of keys. */
export function jsonEqual(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (!isMap(left) || !isMap(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameItem(left, right, key));
}

function sameItem(left: JsonMap, right: JsonMap, key: string): boolean {
  return jsonEqual(left[key] ?? null, right[key] ?? null);
}
