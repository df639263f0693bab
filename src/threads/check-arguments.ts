// What callers pass in, checked before it reaches a database: a mistake is told in words, and not in SQL.
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { isName, LONGEST_NAME_BYTES } from "../contracts/storable-name.ts";
import { isWholeNumber } from "./whole-number.ts";

/** Throws `invalid_argument` with the name of the argument. */
export function checkName(argument: string, value: unknown): void {
  if (isName(value)) return;
  throw invalid(argument, `a text of 1 to ${LONGEST_NAME_BYTES} bytes that is not blank`);
}

export function checkText(argument: string, value: unknown): void {
  if (typeof value !== "string") throw invalid(argument, "a text");
}

/** A number of something that is counted from 0. */
export function checkNumber(argument: string, value: unknown): void {
  if (!isWholeNumber(value, 0)) throw invalid(argument, "a whole number from 0");
}

/** Throws `invalid_argument` for what is no map, and for a field that there is not: a slip must not go unnoticed. */
export function checkFields(argument: string, value: unknown, known: readonly string[]): void {
  if (!isMap(value)) throw invalid(argument, "a map");
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) throw holdfastError("invalid_argument", `${argument} has no field ${unknown}.`);
}

/** What is listed: how many, and the names that narrow it down; an owner has two, and a parent may be nobody. */
export function checkQuery(query: Readonly<Record<string, unknown>>): void {
  for (const [argument, value] of Object.entries(query)) {
    if (value === undefined || (argument === "parent" && value === null)) continue;
    if (argument === "limit") checkNumber(argument, value);
    else if (argument === "owner") checkOwner(value);
    else if (argument === "behind") checkPlace(value);
    else checkName(argument, value);
  }
}

function checkPlace(value: unknown): void {
  checkFields("behind", value, ["created_at", "id"]);
  const { created_at, id } = value as Readonly<Record<string, unknown>>;
  checkNumber("behind.created_at", created_at);
  checkName("behind.id", id);
}

function checkOwner(value: unknown): void {
  checkFields("owner", value, ["type", "key", "audience"]);
  const { type, key, audience } = value as Readonly<Record<string, unknown>>;
  checkName("owner.type", type);
  checkName("owner.key", key);
  if (audience !== undefined) checkName("owner.audience", audience);
}

/** What the runtime itself keeps beside threads has keys that begin with this. */
const RESERVED = "holdfast:";

export function checkThreadKey(key: unknown): void {
  if (!isName(key)) {
    const detail = `The key of a thread must be a text of 1 to ${LONGEST_NAME_BYTES} bytes that is not blank.`;
    throw holdfastError("invalid_thread_key", detail);
  }
  if (!key.startsWith(RESERVED)) return;
  throw holdfastError("invalid_thread_key", `The key of a thread cannot begin with "${RESERVED}".`);
}

function invalid(argument: string, kind: string) {
  return holdfastError("invalid_argument", `${argument} must be ${kind}.`);
}
