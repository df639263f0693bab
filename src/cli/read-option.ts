// What was typed, as it is meant: commander hands every option and argument on as text.
import { jsonOrText } from "../contracts/json-or-text.ts";
import { Refusal } from "./refusal.ts";

/** Undefined when it was not given. Throws what was typed when it is no whole number, or one that is too large. */
export function whole(flag: string, value: unknown, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0 && number <= most) return number;
  const bound = most === Number.MAX_SAFE_INTEGER ? "" : ` up to ${most}`;
  throw new Refusal({ code: "usage", message: `${flag} must be a whole number${bound}, not ${String(value)}.` });
}

/** What was typed, as JSON where it is some, and as text where it is not. Undefined when it was not given. */
export function readJson(value: unknown): unknown {
  return typeof value === "string" ? jsonOrText(value) : undefined;
}

/** A message of several words, with or without quotes around them. Throws when it says nothing. */
export function spoken(words: unknown): string {
  const message = [words].flat().join(" ");
  if (message.trim() !== "") return message;
  throw new Refusal({ code: "usage", message: "There is nothing to say." });
}
