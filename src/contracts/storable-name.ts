// What something can be stored under, in every database alike.

/** Below what an index of PostgreSQL takes in one entry, with room for the other columns of a key. */
export const LONGEST_NAME_BYTES = 2_000;

/** True for text that databases keep as it is: PostgreSQL has no place for zeros, and neither has for half a character. */
export function isStorable(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0") && value.isWellFormed();
}

/** True for what an index can hold in one entry, all of it together. */
export function isIndexable(...parts: readonly (string | null)[]): boolean {
  return parts.reduce((bytes, part) => bytes + Buffer.byteLength(part ?? ""), 0) <= LONGEST_NAME_BYTES;
}

/** True for what can name something: text that is not blank, and that databases can keep and find again. */
export function isName(value: unknown): value is string {
  return isStorable(value) && value.trim() !== "" && isIndexable(value);
}
