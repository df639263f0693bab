// Options that are numbers: commander hands on what was typed.
import { Refusal } from "./refusal.ts";

/** Undefined when it was not given. Throws what was typed when it is no whole number. */
export function whole(flag: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Refusal({ code: "usage", message: `${flag} must be a whole number, not ${String(value)}.` });
}

/** What was typed, as JSON where it is some, and as text where it is not. */
export function readJson(value: unknown): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return value;
  }
}
