// What callers hand to tokens, grants and approvals, checked before it reaches a database: a mistake is told in words, and
// not in SQL.
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import type { UnknownMap } from "../contracts/json.ts";
import { isIndexable, isName, isStorable, LONGEST_NAME_BYTES } from "../contracts/storable-name.ts";
import { readFields } from "../contracts/trust/record-fields.ts";

/** Makes an error from a detail that begins with a field. */
type Refuse = (detail: string, cause?: unknown) => HoldfastError;

export const invalidArgument: Refuse = (detail, cause) => holdfastError("invalid_argument", `${detail}.`, cause);

/** Runs code that only reads what was given; whatever that sets off is the giver's mistake. */
export function reading<Value>(read: () => Value, refuse: Refuse = invalidArgument): Value {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof HoldfastError) throw thrown;
    throw refuse("what is given cannot be read", thrown);
  }
}

/** The fields of a map. Any that is not among the known ones is refused: a misspelt limit would be none at all. */
export function readOptions(value: unknown, known: readonly string[], refuse: Refuse = invalidArgument): UnknownMap {
  const given = readFields(value, (_, cause) => refuse("the options must be a map that can be read", cause));
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  if (unknown !== undefined) throw refuse(`there is no ${unknown}; there are ${known.join(", ")}`);
  return given;
}

/** Refuses a record with a text that no database keeps as it is. */
export function checkStorable(record: object, refuse: Refuse): void {
  for (const [field, value] of Object.entries(record)) {
    if (typeof value === "string" && !isStorable(value)) {
      throw refuse(`${field} must hold whole characters, and no zero`);
    }
  }
}

/** Refuses names that are too long for one entry of an index. */
export function checkIndexable(what: string, parts: readonly (string | null)[], refuse: Refuse): void {
  if (!isIndexable(...parts)) throw refuse(`${what} must not be longer than ${LONGEST_NAME_BYTES} bytes`);
}

/** The text as it is. Whether there can be anything of that name is another question. */
export function readText(argument: string, value: unknown): string {
  if (typeof value !== "string") throw invalidArgument(`${argument} must be a text`);
  return value;
}

/** A text that something can be stored under. */
export function readName(argument: string, value: unknown): string {
  const name = readText(argument, value);
  if (isName(name)) return name;
  throw invalidArgument(
    `${argument} must be a text of whole characters without zeros, not blank, of at most ${LONGEST_NAME_BYTES} bytes`,
  );
}

/** A number by which something is known, from `least` on. */
export function readNumber(argument: string, value: unknown, least: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw invalidArgument(`${argument} must be a whole number from ${least}`);
}
