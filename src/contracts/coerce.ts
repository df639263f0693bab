// The few plain coercions that contracts name when they normalise a value. Each says what it takes; nothing here
// imitates loose typing.
import { isContainer, isEmpty } from "./json.ts";

// The contracts trim exactly these, not every Unicode space.
const TRIMMED = " \t\n\r\0\v";

/** The text without surrounding space, tab, line end, NUL or vertical tab, or without other characters that are named. */
export function trim(text: string, characters: string = TRIMMED): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text.charAt(start))) start++;
  while (end > start && characters.includes(text.charAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** The text without the named characters at its end. A pattern such as `/x+$/` looks for that end from every x on. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The text with its ASCII letters lowered. Some others turn into ASCII ones when lowered, and would then match a name. */
export function lowered(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The trimmed text, or undefined when the value is not a string or nothing is left. */
export function trimmed(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return trim(value) || undefined;
}

/** `trimmed`, and without space of any other kind: for contracts that say "blank" and do not list characters. */
export function nonBlank(value: unknown): string | undefined {
  return typeof value === "string" ? trimmed(value.trim()) : undefined;
}

/** The value when it is a string other than `""`. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A string as it is and a finite number written out, because hosts number their things; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined;
  return typeof value === "string" ? value : undefined;
}

/** A name without space around it, or the number that a host gives for one; undefined when nothing is left. */
export function identifier(value: unknown): string | undefined {
  return trimmed(scalarText(value));
}

// Each character can be read in one way only: a pattern that tries several blocks the process on a long text.
const NUMBER = /^[ \t\n\r\v\f]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?[ \t\n\r\v\f]*$/i;

/** A finite number, or the number that a wholly numeric string spells. */
export function numeric(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !NUMBER.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A numeric value cut to a whole number and raised to the floor; undefined when it is not numeric. */
export function wholeNumber(value: unknown, floor: number): number | undefined {
  const number = numeric(value);
  return number === undefined ? undefined : Math.max(floor, Math.trunc(number));
}

/** What the contracts call truthy: as in JavaScript, except that "0" and an empty list or map are not. */
export function truthy(value: unknown): boolean {
  return isContainer(value) ? !isEmpty(value) : value !== "0" && Boolean(value);
}

/** A string that the contracts call truthy: neither empty nor "0". */
export function isTruthyText(value: unknown): value is string {
  return typeof value === "string" && truthy(value);
}

/** A string, or a list of them, as trimmed non-empty strings without repeats. */
export function stringList(value: unknown): string[] {
  const items = Array.isArray(value) ? value : [value];
  return [...new Set(items.map(trimmed).filter((item) => item !== undefined))];
}
