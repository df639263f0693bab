// Lists of capabilities, as ceilings and tokens state them.
import { trimmed } from "../coerce.ts";
import { seal, snapshot } from "../json.ts";

/** Makes the error of the record that the list is in, from a detail that begins with a field. */
type Refuse = (detail: string, cause?: unknown) => Error;

/**
 * What is allowed: null allows whatever is not denied, an empty list nothing. What is no list, or no name in one, can
 * allow nothing and is left out; a blank name is refused.
 */
export function allowList(value: unknown, field: string, refuse: Refuse): readonly string[] | null {
  if (value == null) return null;
  const names = entriesOf(value, field, refuse).filter((name) => name !== undefined);
  return withoutBlanks(names, field, refuse);
}

/** What is denied. To leave out what was meant to be denied would allow it, so everything but a list of names is refused. */
export function denyList(value: unknown, field: string, refuse: Refuse): readonly string[] | null {
  if (value == null) return null;
  const names = entriesOf(value, field, refuse);
  if (!Array.isArray(value) || !names.every((name) => name !== undefined))
    throw refuse(`${field} must be a list of names`);
  return withoutBlanks(names, field, refuse);
}

/** The entries of a list as texts, and undefined for those that are none. What is not a list has no entries. */
function entriesOf(value: unknown, field: string, refuse: Refuse): (string | undefined)[] {
  if (!Array.isArray(value)) return [];
  try {
    return (snapshot(value) as readonly unknown[]).map(nameOf);
  } catch (thrown) {
    throw refuse(`${field} cannot be read`, thrown);
  }
}

// Some hosts number their capabilities; the number is a name all the same. False is a name that was not there.
function nameOf(value: unknown): string | undefined {
  if (value === false) return "";
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

function withoutBlanks(names: string[], field: string, refuse: Refuse): readonly string[] {
  if (names.some((name) => trimmed(name) === undefined)) throw refuse(`${field} must not hold a blank name`);
  return seal(names);
}
