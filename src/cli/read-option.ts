// What was typed, as it is meant: commander hands every option and argument on as text.
import { isMap, type JsonMap } from "../contracts/json.ts";
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

/** Throws what was typed when it is none of these. */
export function checkChoice(flag: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(String(value))) return;
  throw new Refusal({ code: "usage", message: `${flag} must be ${inWords(choices)}, not ${String(value)}.` });
}

/** `one, two or three`. */
export function inWords(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join("") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

/** Undefined when it was not given. Throws what was typed when it is no time, or one without a time zone. */
export function time(flag: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  if (/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  const message = `${flag} must be a time such as 2027-01-31T12:00:00Z, not ${text}.`;
  throw new Refusal({ code: "usage", message });
}

/** An object that was typed as JSON; an empty one when nothing was. */
export function readMap(what: string, value: unknown): JsonMap {
  const map = value === undefined ? {} : readJson(value);
  if (isMap(map)) return map as JsonMap;
  throw new Refusal({ code: "usage", message: `${what} must be a JSON object.` });
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
