// How the fields of a trust record are read. A record that cannot be read at all, or holds what JSON cannot carry, is
// refused with the error of that record.
import { scalarText } from "../coerce.ts";
import { asMap, emptyMap, exactSnapshot, isMap, type Json, type JsonMap, type UnknownMap } from "../json.ts";

/** Makes the error of a record from a detail that begins with a field. */
type Refuse = (detail: string, cause?: unknown) => Error;

/** The fields of a record, read once: what reading them sets off happens here. */
export function readFields(value: unknown, refuse: Refuse): UnknownMap {
  const given = asMap(value);
  if (given === undefined) throw refuse("the record must be a map");
  try {
    return { ...given };
  } catch (thrown) {
    throw refuse("the record cannot be read", thrown);
  }
}

/** The text of a field, or `""` for what is none. */
export function textField(value: unknown): string {
  return scalarText(value) ?? "";
}

/** Null for what is not there. Something of the wrong kind is still something, and not its absence. */
export function optionalText(value: unknown): string | null {
  return value == null ? null : textField(value);
}

/** A frozen copy of a map; anything that is not a map gives an empty one. */
export function mapField(given: UnknownMap, field: string, refuse: Refuse): JsonMap {
  const value = isMap(given[field]) ? jsonField(given, field, refuse) : emptyMap;
  return isMap(value) ? value : emptyMap;
}

/** A frozen copy of whatever JSON can carry. */
export function jsonField(given: UnknownMap, field: string, refuse: Refuse): Json {
  try {
    return exactSnapshot(given[field]);
  } catch (thrown) {
    throw refuse(`${field} cannot be written as JSON`, thrown);
  }
}
