// A text cut into what the demo model tells apart: words, numbers, money, quotations, dates and other things with a form.
import { stem } from "./stem.ts";

export type Token = {
  readonly kind: "word" | "number" | "money" | "quotation" | "date" | "time" | "email" | "url" | "code" | "mark";
  /** As it stands in the text; without its marks for a quotation. */
  readonly text: string;
  /** Where it stands in the text, and where it ends. */
  readonly start: number;
  readonly end: number;
  /** What a word is compared by; the text itself in small letters for anything else. */
  readonly stem: string;
  /** The value of a number, or of an amount of money in whole units. */
  readonly amount?: number;
  /** The currency of an amount of money, where the text names it. */
  readonly currency?: string;
};

/** Longer texts are read from their end: what is wanted stands there, and no text may keep the process busy. */
const LONGEST = 4_000;

// Every alternative begins with characters of its own or is of bounded length, so that none is tried twice over a long text.
const forms: readonly (readonly [kind: Token["kind"], pattern: string])[] = [
  ["quotation", String.raw`"[^"\n]{1,500}"|“[^”\n]{1,500}”|«[^»\n]{1,500}»|(?<![\p{L}\p{N}])'[^'\n]{1,500}'(?!\p{L})`],
  ["url", String.raw`https?:\/\/[^\s"<>]{1,500}[^\s"<>.,;:!?)]`],
  ["email", String.raw`[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}`],
  ["date", String.raw`\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w-])`],
  ["time", String.raw`\d{1,2}:\d{2}(?::\d{2})?(?![\w:])`],
  [
    "code",
    String.raw`(?=[\p{L}-]{0,20}\d)[\p{L}\p{N}]{1,40}(?:[-_\/][\p{L}\p{N}]{1,40}){1,8}|\p{L}{1,20}\d[\p{L}\p{N}]{0,40}|\d{1,20}\p{L}[\p{L}\p{N}]{0,40}`,
  ],
  ["number", String.raw`(?<![\p{L}\p{N}])[-+]?\d(?:[\d.,]{0,30}\d)?`],
  ["word", String.raw`\p{L}[\p{L}\p{M}’']{0,60}(?:-\p{L}[\p{L}\p{M}]{0,60}){0,3}`],
  ["mark", String.raw`[^\s\p{L}\p{N}]`],
];

const FORM = new RegExp(forms.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "giu");

/** A text with its tokens in order; space and what has no form is between them. */
export type Reading = { readonly text: string; readonly tokens: readonly Token[] };

export function readText(given: string): Reading {
  const text = given.slice(-LONGEST).normalize("NFC");
  return { text, tokens: withMoney([...text.matchAll(FORM)].map(readToken), text) };
}

function readToken({ 0: text, index: start = 0, groups = {} }: RegExpMatchArray): Token {
  const kind = (Object.keys(groups).find((name) => groups[name] !== undefined) ?? "mark") as Token["kind"];
  const place = { start, end: start + text.length };
  if (kind === "quotation") return { kind, text: text.slice(1, -1), ...place, stem: text.toLowerCase() };
  if (kind === "number") return { kind, text, ...place, stem: text, amount: readNumber(text) };
  if (kind === "word") {
    const amount = numberWords.get(text.toLowerCase());
    return { kind, text, ...place, stem: stem(text), ...(amount !== undefined && { amount }) };
  }
  return { kind, text, ...place, stem: text.toLowerCase() };
}

/** Written out as people do; "one" is left out, because it mostly counts nothing. */
const numberWords: ReadonlyMap<string, number> = new Map(
  ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"].map((word, index) => [
    word,
    index + 2,
  ]),
);

/** A number with any of the separators in use: the last one parts the decimals, unless three digits follow a comma. */
function readNumber(text: string, { isMoney = false } = {}): number {
  const last = Math.max(text.lastIndexOf(","), text.lastIndexOf("."));
  if (last === -1) return Number(text);
  const mark = text[last];
  const decimals = text.slice(last + 1);
  const hasBoth = text.includes(",") && text.includes(".");
  const isRepeated = text.indexOf(mark ?? "") !== last;
  // Money has no thousandths.
  const isThousands = decimals.length === 3 && !hasBoth && (isRepeated || mark === "," || isMoney);
  const whole = text.slice(0, last).replaceAll(/[.,]/g, "");
  return Number(isThousands || (isRepeated && !hasBoth) ? `${whole}${decimals}` : `${whole}.${decimals}`);
}

const currencies: ReadonlyMap<string, string> = new Map([
  ...["€", "eur", "euro", "euros"].map((name) => [name, "EUR"] as const),
  ...["$", "usd", "dollar", "dollars", "buck", "bucks"].map((name) => [name, "USD"] as const),
  ...["£", "gbp", "pound", "pounds", "quid"].map((name) => [name, "GBP"] as const),
  ...["¥", "jpy", "yen"].map((name) => [name, "JPY"] as const),
  ...["chf", "franc", "francs"].map((name) => [name, "CHF"] as const),
]);

const hundredths: ReadonlySet<string> = new Set(["cent", "cents", "¢", "penny", "pence"]);

/** Joins a number with the currency before or behind it. */
function withMoney(tokens: readonly Token[], text: string): readonly Token[] {
  const joined: Token[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const [token, next] = [tokens[index] as Token, tokens[index + 1]];
    // In "order 7, cents: 5" and on another line, the word is no unit of what stands before it.
    const isApart =
      !next || /\n/.test(text.slice(token.end, next.start)) || /^[:=]$/.test(tokens[index + 2]?.text ?? "");
    const money = isApart ? undefined : (moneyOf(token, next) ?? moneyOf(next, token));
    if (money) index++;
    const place = { start: token.start, end: next?.end ?? token.end };
    joined.push(money ? { kind: "money", text: String(money.amount), stem: "", ...money, ...place } : token);
  }
  return joined;
}

function moneyOf(number: Token, unit: Token): Pick<Token, "amount" | "currency"> | undefined {
  if (number.amount === undefined || unit.amount !== undefined) return undefined;
  const name = unit.text.toLowerCase();
  const currency = currencies.get(name);
  if (currency === undefined && !hundredths.has(name)) return undefined;
  const amount = number.kind === "number" ? readNumber(number.text, { isMoney: true }) : number.amount;
  return currency === undefined ? { amount: amount / 100 } : { amount, currency };
}
