// Values that stand where the text names their parameter: "order 7", "city: Oslo", "3 nights", "with the note …".
import type { Json } from "../../contracts/json.ts";
import { type Field, isNamedAs, namings } from "./field.ts";
import type { Finder } from "./find-formed.ts";
import { fits } from "./schema.ts";
import { stem } from "./stem.ts";
import { meanTheSame, silentStems } from "./synonyms.ts";
import type { Token } from "./tokens.ts";
import type { Found, Unread } from "./unread.ts";

/** `name: value` and `name = value`, which leave no doubt. */
export const findAssigned: Finder = (field, text) => {
  const { tokens } = text.reading;
  for (const [, end] of placesOf(field, text)) {
    const mark = tokens[end]?.text;
    if (mark !== ":" && mark !== "=") continue;
    const found = valueAt(field, text, end + 1, { isCertain: true });
    if (found) return found;
  }
  return undefined;
};

/** What stands behind the parameter's name, or a number right before it. */
export const findNamed: Finder = (field, text) => {
  const places = placesOf(field, text);
  const isNumber = field.type === "integer" || field.type === "number";
  for (const [start, end] of places) {
    const counted = isNumber ? valueAt(field, text, start - 1) : undefined;
    const found = counted ?? valueAt(field, text, afterLinks(text, end));
    if (found) return found;
  }
  return undefined;
};

/** Where the text names the parameter: from which token to which, the most exact naming first. */
function placesOf(field: Field, text: Unread): readonly (readonly [start: number, end: number])[] {
  const { tokens } = text.reading;
  const isHere = (words: readonly string[], at: number, isMatch: (left: string, right: string) => boolean) =>
    words.every(
      (word, offset) => tokens[at + offset]?.kind === "word" && isMatch(tokens[at + offset]?.stem ?? "", word),
    );
  const isSame = (left: string, right: string) => left === right;
  const found: (readonly [number, number])[] = [];
  for (const isMatch of [isSame, meanTheSame]) {
    for (const words of namings(field)) {
      for (let at = 0; at < tokens.length; at++) if (isHere(words, at, isMatch)) found.push([at, at + words.length]);
    }
  }
  return found;
}

const links: ReadonlySet<string> = new Set(
  "is was are be of number no nr id named called as the a an to with that says saying".split(" ").map(stem),
);

/** The first token behind a name that can be its value: "order no. 7", "order (#7)", "my name is Ana". */
function afterLinks({ reading: { tokens } }: Unread, from: number): number {
  let at = from;
  for (; at < from + 4; at++) {
    const token = tokens[at];
    const isMark = token?.kind === "mark" && (/^[:=#(]$/.test(token.text) || (token.text === "." && at > from));
    if (!isMark && !(token?.kind === "word" && links.has(token.stem))) break;
  }
  return at;
}

/** The value that begins at a token, as the parameter's type has it. */
export function valueAt(field: Field, text: Unread, at: number, { isCertain = false } = {}): Found | undefined {
  const token = text.at(at);
  if (!token || token.kind === "mark") return undefined;
  const found =
    field.type === "string" || field.type === undefined ? textAt(field, text, at, isCertain) : single(field, token);
  return found && fits(field.schema, found.value) ? found : undefined;
}

function single(field: Field, token: Token): Found | undefined {
  if (field.type === "boolean") {
    const value = flags.get(token.text.toLowerCase());
    return value === undefined ? undefined : { value, from: [token] };
  }
  const isNumber = field.type === "integer" || field.type === "number";
  if (!isNumber || token.amount === undefined || token.kind === "money") return undefined;
  return { value: token.amount, from: [token] };
}

const flags: ReadonlyMap<string, Json> = new Map([
  ...["yes", "true", "on"].map((word) => [word, true] as const),
  ...["no", "false", "off"].map((word) => [word, false] as const),
]);

function textAt(field: Field, text: Unread, at: number, isCertain: boolean): Found | undefined {
  const token = text.at(at);
  if (!token) return undefined;
  // A reason or a note goes on to the end of its sentence, whatever its words are.
  if (isNamedAs(field, "prose") && token.kind !== "quotation") return toEndOfSentence(text, at);
  if (token.kind !== "word") return { value: token.text, from: [token] };
  const from = wordsAt(text, at, isCertain || !isPreposition(field));
  return from.length === 0 ? undefined : { value: text.words(from), from };
}

/** Parameters called `from` and `to`: those words stand everywhere, so only a name behind them is a value. */
function isPreposition({ stems }: Field): boolean {
  return stems.length === 1 && silentStems.has(stems[0] ?? "");
}

/** A name of one word or several: capitals as far as they go, otherwise words up to the next that only joins. */
export function wordsAt(text: Unread, at: number, mayBeSmall: boolean): readonly Token[] {
  const from: Token[] = [];
  const isName = isCapital(text.at(at));
  if (!isName && !mayBeSmall) return [];
  for (let index = at; from.length < 5; index++) {
    const token = text.at(index);
    if (token?.kind !== "word" || endings.has(token.stem) || silentStems.has(token.stem)) break;
    if (isName && !isCapital(token)) break;
    from.push(token);
  }
  return from;
}

export function isCapital(token: Token | undefined): boolean {
  return token?.kind === "word" && /^\p{Lu}/u.test(token.text);
}

/** Words behind a name that say something else about it. */
const endings: ReadonlySet<string> = new Set(
  "because since when while until after before which who today yesterday tomorrow tonight again already immediately soon"
    .split(" ")
    .map(stem),
);

export function toEndOfSentence(text: Unread, at: number): Found | undefined {
  const { tokens } = text.reading;
  const rest = tokens.slice(at);
  const end = rest.findIndex(({ kind, text: mark }) => kind === "mark" && /^[.!?;]$/.test(mark));
  const from = end === -1 ? rest : rest.slice(0, end);
  return from.length === 0 ? undefined : { value: text.words(from), from };
}
