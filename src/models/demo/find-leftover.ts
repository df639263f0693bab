// Values that nothing names: a place behind "in", a name behind "for", the one quotation, the number that is left, and
// for what may be any text, the text.
import { isInHundredths, isNamedAs } from "./field.ts";
import type { Finder } from "./find-formed.ts";
import { isCapital, toEndOfSentence, wordsAt } from "./find-named.ts";
import { fits } from "./schema.ts";
import type { Token } from "./tokens.ts";
import type { Found, Unread } from "./unread.ts";

const WHERE: ReadonlySet<string> = new Set(["in", "at", "to", "from", "near", "for", "around"]);
const WHOM: ReadonlySet<string> = new Set(["to", "for", "from", "by", "with", "am", "is", "of"]);

/** A place behind "in", a person behind "for". */
export const findBehindPreposition: Finder = (field, text) => {
  if (field.type !== "string") return undefined;
  const [isPlace, isPerson] = [isNamedAs(field, "place"), isNamedAs(field, "person")];
  const prepositions = isPlace ? WHERE : isPerson ? WHOM : undefined;
  if (!prepositions) return undefined;
  // Names first: "for a friend in Oslo" is about Oslo. A place may be written small, a person hardly.
  for (const mayBeSmall of isPlace ? [false, true] : [false]) {
    const found = firstPlace(text, (token, index) => {
      if (token.kind !== "word" || !prepositions.has(token.text.toLowerCase())) return undefined;
      const from = wordsAt(text, index + 1, mayBeSmall);
      return from.length === 0 ? undefined : { value: text.words(from), from };
    });
    if (found && fits(field.schema, found.value)) return found;
  }
  return undefined;
};

/** A quotation is meant for somebody; so is the number or code for a parameter that is one. */
export const findLeftOver: Finder = (field, text) => {
  const isNumber = field.type === "number" || field.type === "integer";
  // How many cents is no guess to make from a number that could be anything.
  if (isNumber && isInHundredths(field)) return undefined;
  const isIdentifier = isNamedAs(field, "identifier");
  return firstPlace(text, (token) => {
    const value = isNumber ? plainAmount(token) : stringOf(token, field.type, isIdentifier);
    return value !== undefined && fits(field.schema, value) ? { value, from: [token] } : undefined;
  });
};

function plainAmount({ kind, amount }: Token): number | undefined {
  return kind === "number" || kind === "word" ? amount : undefined;
}

function stringOf(token: Token, type: string | undefined, isIdentifier: boolean): string | undefined {
  if (type !== "string") return undefined;
  const isMeant = token.kind === "quotation" || (isIdentifier && (token.kind === "code" || token.kind === "number"));
  return isMeant ? token.text : undefined;
}

/** A name in the middle of a sentence. */
export const findProperName: Finder = (field, text) => {
  if (field.type !== "string" || isNamedAs(field, "identifier") || isNamedAs(field, "prose")) return undefined;
  return firstPlace(text, (token, index) => {
    const before = text.reading.tokens[index - 1];
    const isFirst = !before || (before.kind === "mark" && /^[.!?:\n]$/.test(before.text));
    if (!isCapital(token) || isFirst || token.text === "I") return undefined;
    const from = wordsAt(text, index, false);
    const value = text.words(from);
    return from.length > 0 && fits(field.schema, value) ? { value, from } : undefined;
  });
};

const ABOUT: ReadonlySet<string> = new Set([
  "for",
  "about",
  "on",
  "that",
  "saying",
  "says",
  "regarding",
  "titled",
  "to",
]);

/** What may be any text is all that follows a colon, the sentence behind a word such as "about", or all that was said. */
export const findProse: Finder = (field, text) => {
  if (field.type !== "string" || !isNamedAs(field, "prose")) return undefined;
  const { tokens, text: whole } = text.reading;
  const colon = tokens.find(({ text: mark }) => mark === ":");
  const about = tokens.findIndex(({ text: word }) => ABOUT.has(word.toLowerCase()));
  const values = [
    colon && whole.slice(colon.end).trim(),
    about === -1 ? undefined : toEndOfSentence(text, about + 1)?.value,
    whole.trim(),
  ];
  const value = values.find((each) => each !== undefined && each !== "" && fits(field.schema, each));
  return value === undefined ? undefined : { value, from: [] };
};

function firstPlace(text: Unread, read: (token: Token, index: number) => Found | undefined): Found | undefined {
  for (let index = 0; index < text.reading.tokens.length; index++) {
    const token = text.at(index);
    const found = token && read(token, index);
    if (found) return found;
  }
  return undefined;
}
