// Values that are known by their form wherever they stand: money, dates, addresses, choices and flags.
import type { Json, JsonMap } from "../../contracts/json.ts";
import { type Field, isInHundredths, isMoney, isNamedAs } from "./field.ts";
import { fits, listed } from "./schema.ts";
import { stemsOf } from "./stem.ts";
import { meanTheSame } from "./synonyms.ts";
import type { Token } from "./tokens.ts";
import type { Found, Unread } from "./unread.ts";

export type Finder = (field: Field, text: Unread) => Found | undefined;

/** "12 euros" for an amount in cents is 1200. */
export const findMoney: Finder = (field, text) => {
  if (field.type === "boolean" || !isMoney(field)) return undefined;
  const scale = isInHundredths(field) ? 100 : 1;
  return firstOf(text, field.schema, (token) => {
    if (token.kind !== "money" || token.amount === undefined) return undefined;
    // Rounded to thousandths of the unit, because 12.29 * 100 is not 1229 here.
    const amount = Math.round(token.amount * scale * 1000) / 1000;
    return field.type === "string" ? String(amount) : amount;
  });
};

/** The currency is told by the amount, and leaves it for whoever wants to know how much. */
export const findCurrency: Finder = (field, text) => {
  if (!isNamedAs(field, "currency")) return undefined;
  const currency = text.reading.tokens.find((token) => token.currency !== undefined)?.currency;
  const value = [currency, currency?.toLowerCase()].find((each) => each !== undefined && fits(field.schema, each));
  return value === undefined ? undefined : { value, from: [] };
};

/** Dates, times and addresses, for parameters whose format or name asks for one. */
export const findByFormat: Finder = (field, text) => {
  if (field.type !== "string") return undefined;
  const { format } = field.schema;
  for (const [kind, formats, names] of shapes) {
    const isAsked =
      typeof format === "string" ? formats.includes(format) : names.some((each) => isNamedAs(field, each));
    const found =
      isAsked && firstOf(text, field.schema, (token) => (token.kind === kind ? shaped(token, format) : undefined));
    if (found) return found;
  }
  return undefined;
};

type Named = Parameters<typeof isNamedAs>[1];

const shapes: readonly (readonly [kind: Token["kind"], formats: readonly string[], names: readonly Named[]])[] = [
  ["date", ["date", "date-time"], ["date"]],
  ["time", ["time"], ["time"]],
  ["email", ["email", "idn-email"], ["email"]],
  ["url", ["uri", "url", "iri", "uri-reference"], ["url"]],
];

function shaped({ kind, text }: Token, format: Json | undefined): string {
  if (kind === "date" && format === "date") return text.slice(0, 10);
  if (kind === "date" && format === "date-time") return text.length === 10 ? `${text}T00:00:00Z` : dateTime(text);
  return kind === "time" && format === "time" ? `${text.padStart(5, "0")}${text.length < 6 ? ":00" : ""}` : text;
}

function dateTime(text: string): string {
  const joined = text.replace(" ", "T");
  const whole = /T\d{2}:\d{2}$/.test(joined) ? `${joined}:00` : joined;
  return /(?:Z|[+-]\d{2}:\d{2})$/.test(whole) ? whole : `${whole}Z`;
}

/** One of a few values, by its words or by words that mean the same. The first in the text counts. */
export const findChoice: Finder = (field, text) => {
  const choices = listed(field.schema.enum);
  if (choices.length === 0) return undefined;
  const { tokens } = text.reading;
  for (let index = 0; index < tokens.length; index++) {
    if (!text.at(index)) continue;
    for (const isMatch of [(left: string, right: string) => left === right, meanTheSame]) {
      for (const choice of byLength(choices)) {
        const words = typeof choice === "number" ? [String(choice)] : stemsOf(String(choice));
        const from = tokens.slice(index, index + words.length);
        const isHere = words.length > 0 && words.every((word, place) => isMatch(from[place]?.stem ?? "", word));
        if (isHere && choice !== null) return { value: choice, from };
      }
    }
  }
  return undefined;
};

/** Of "pending" and "pending review" the longer one is meant where both stand. */
function byLength(choices: readonly Json[]): readonly Json[] {
  return choices.toSorted((left, right) => String(right).length - String(left).length);
}

/** A flag is true where the text names it, unless it is denied: "urgent", "not urgent", "urgent: no". */
export const findFlag: Finder = (field, text) => {
  if (field.type !== "boolean") return undefined;
  const { tokens } = text.reading;
  const words = field.stems.filter((word) => !auxiliary.has(word));
  const place = tokens.findIndex((_token, index) =>
    words.every((word, offset) => {
      const token = tokens[index + offset];
      return token !== undefined && meanTheSame(token.stem, word);
    }),
  );
  if (place === -1 || words.length === 0) return undefined;
  const before = tokens.slice(Math.max(0, place - 3), place).map(({ text: word }) => word.toLowerCase());
  const behind = tokens
    .slice(place + words.length, place + words.length + 2)
    .map(({ text: word }) => word.toLowerCase());
  const isDenied = before.some((word) => denials.has(word)) || (behind[0] !== undefined && denies(behind));
  return { value: !isDenied, from: tokens.slice(place, place + words.length) };
};

const auxiliary: ReadonlySet<string> = new Set(["is", "ha", "has", "should", "with", "can", "be"]);
const denials: ReadonlySet<string> = new Set(["not", "no", "never", "without", "don't", "don’t", "isn't", "isn’t"]);

function denies([mark = "", word = ""]: readonly string[]): boolean {
  const said = mark === ":" || mark === "=" || mark === "is" ? word : mark;
  return ["no", "false", "off"].includes(said);
}

function firstOf(text: Unread, schema: JsonMap, read: (token: Token) => Json | undefined): Found | undefined {
  for (let index = 0; index < text.reading.tokens.length; index++) {
    const token = text.at(index);
    const value = token && read(token);
    if (token && value !== undefined && fits(schema, value)) return { value, from: [token] };
  }
  return undefined;
}
