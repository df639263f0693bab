// The types of JSON Schema, as they apply to JSON values.
import { isMap, type Json } from "./json.ts";

/** True for a value of that type; false for a type that there is not. */
export function isOfType(value: Json, type: unknown): boolean {
  switch (type) {
    case "object":
      return isMap(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return false;
  }
}
