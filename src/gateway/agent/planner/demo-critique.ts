// Two paragraphs about a page, by rules: what the demo planner writes where no model is configured.

/** A page as it was read: HTML or plain text. */
export type PageText = {
  readonly text: string;
  /** True when this is only the beginning of the page. */
  readonly isPart: boolean;
};

const LONG_SENTENCE = 25;
const OFTEN = 4;
const SHORTEST_NOTABLE_WORD = 5;
const LONGEST_QUOTATION = 160;

/** What the page says, then what would improve it. The same page always yields the same two paragraphs. */
export function writeCritique({ text, isPart }: PageText): string {
  const lines = linesOf(visibleText(text));
  const sentences = lines.flatMap(sentencesOf);
  const words = sentences.reduce((sum, sentence) => sum + wordsOf(sentence).length, 0);
  if (words === 0) {
    return "The page has no sentence that could be read.\n\nSo there is nothing to judge; the first thing it needs is text.\n";
  }
  const [title] = lines.filter(isHeading);
  const name = title === undefined ? "The page" : `The page ${quoted(title)}`;
  const length = `${count(words, "word")} in ${count(sentences.length, "sentence")}`;
  const average = Math.round(words / sentences.length);
  const opening = isPart ? `The part of it that was read has ${length}.` : `It has ${length}.`;
  const praise =
    average > LONG_SENTENCE
      ? `A sentence has ${average} words on average, which asks for patience.`
      : `A sentence has ${count(average, "word")} on average, which is easy to follow.`;
  const first = `${name} begins with ${quoted(sentences[0] ?? "")}. ${opening} ${praise}`;
  return `${first}\n\n${improvements(sentences).join(" ")}\n`;
}

function improvements(sentences: readonly string[]): readonly string[] {
  const found = [longestSentence(sentences), repeatedWord(sentences), missingFigures(sentences)];
  const said = found.filter((each) => each !== undefined);
  return said.length > 0 ? said : ["There is little to improve: the sentences are short, varied and name figures."];
}

function longestSentence(sentences: readonly string[]): string | undefined {
  const longest = sentences.reduce((one, other) => (wordsOf(other).length > wordsOf(one).length ? other : one));
  const words = wordsOf(longest);
  if (words.length <= LONG_SENTENCE) return undefined;
  return `Its longest sentence has ${words.length} words, from ${quoted(words.slice(0, 5).join(" "))} on; two shorter ones would be easier to read.`;
}

function repeatedWord(sentences: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const word of sentences.flatMap(wordsOf)) {
    const bare = word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
    if (bare.length >= SHORTEST_NOTABLE_WORD) counts.set(bare, (counts.get(bare) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  if (!most || most[1] < OFTEN) return undefined;
  return `It uses the word ${quoted(most[0])} ${most[1]} times, and would gain by saying it less often.`;
}

function missingFigures(sentences: readonly string[]): string | undefined {
  if (sentences.some((sentence) => /\d/.test(sentence))) return undefined;
  return "It gives no figures, such as a price, a date or a time, so that a reader who wants to act has to ask first.";
}

/** Text between tags, a line for each block; scripts and styles are left out. Text without tags stays as it is. */
function visibleText(page: string): string {
  const [start = "", ...pieces] = page.split("<");
  if (pieces.length === 0) return page;
  const parts = [start];
  let hidden: string | undefined;
  for (const piece of pieces) {
    const [tag] = /^[!/]?[a-z]{1,20}\d?/i.exec(piece) ?? [];
    const name = tag?.toLowerCase();
    if (name === undefined) {
      if (hidden === undefined) parts.push("<", oneLine(piece));
    } else if (hidden === undefined) {
      if (name === "script" || name === "style") hidden = name;
      else parts.push(INLINE.has(name.replace("/", "")) ? "" : "\n", oneLine(piece.slice(endOfTag(piece))));
    } else if (name === `/${hidden}`) {
      hidden = undefined;
      parts.push("\n", oneLine(piece.slice(endOfTag(piece))));
    }
  }
  return parts.join("");
}

const INLINE: ReadonlySet<string> = new Set(["a", "abbr", "b", "code", "em", "i", "small", "span", "strong"]);

function endOfTag(piece: string): number {
  const end = piece.indexOf(">");
  return end === -1 ? piece.length : end + 1;
}

/** Lines without those that are empty. One that begins in lower case goes on with the sentence before. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split("\n").map((each) => oneLine(each).trim())) {
    const before = lines.at(-1);
    if (before !== undefined && !isSentence(before) && /^\p{Ll}/u.test(line))
      lines[lines.length - 1] = `${before} ${line}`;
    else if (line !== "") lines.push(line);
  }
  return lines;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function isHeading(line: string): boolean {
  return !isSentence(line) && wordsOf(line).length <= 12;
}

function sentencesOf(line: string): readonly string[] {
  return line.split(/(?<=[.!?]) /).filter(isSentence);
}

function isSentence(text: string): boolean {
  return /[.!?]$/.test(text);
}

function wordsOf(text: string): readonly string[] {
  return text.split(" ");
}

function quoted(text: string): string {
  const short = text.length > LONGEST_QUOTATION ? `${text.slice(0, LONGEST_QUOTATION).toWellFormed()}…` : text;
  return `"${short.replace(/[.]$/, "")}"`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
