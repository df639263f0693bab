// What a heading is in markdown, and where the headings of a text are. Only lines of `#` count. Code fences are not
// looked at, so a comment in a shell script may open a section too; taken apart and put together, the text is the same.
import { trim, wholeNumber } from "../coerce.ts";

/** A heading; its line, line end included, is `markdown.slice(start, end)`. */
export type Heading = {
  readonly level: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

const DEEPEST = 6;

/** A longer line is a paragraph that begins with a hash. Every section repeats the headings above it. */
const LONGEST = 1000;

/** The headings of a text in order. A line ends after LF, CRLF or a lone CR. */
export function* headings(markdown: string): Generator<Heading> {
  let start = markdown.indexOf("#");
  while (start !== -1) {
    const heading = startsLine(markdown, start) ? headingAt(markdown, start) : undefined;
    if (heading) yield heading;
    start = markdown.indexOf("#", heading?.end ?? start + 1);
  }
}

/** The line of a heading. Line ends inside the text become spaces, for the rest would not be part of the heading. */
export function headingLine(level: number, text: string): string {
  return `${"#".repeat(level)} ${oneLine(text)}\n`;
}

/** The text with every run of line ends replaced by a space. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}

/** A level that exists, 1 to 6; the fallback when the value is no number. */
export function headingLevel(value: unknown, fallback: number): number {
  return Math.min(DEEPEST, wholeNumber(value, 1) ?? fallback);
}

function startsLine(markdown: string, index: number): boolean {
  return index === 0 || isLineEnd(markdown.charAt(index - 1));
}

function headingAt(markdown: string, start: number): Heading | undefined {
  let level = 1;
  while (level <= DEEPEST && markdown.charAt(start + level) === "#") level++;
  const next = markdown.charAt(start + level);
  if (level > DEEPEST || !(next === "" || isBlank(next) || isLineEnd(next))) return undefined;

  let lineEnd = start + level;
  while (lineEnd < markdown.length && !isLineEnd(markdown.charAt(lineEnd))) lineEnd++;
  if (lineEnd - start > LONGEST) return undefined;
  const text = withoutClosingHashes(trim(markdown.slice(start + level, lineEnd)));
  const isPair = markdown.startsWith("\r\n", lineEnd);
  return { level, text, start, end: Math.min(markdown.length, lineEnd + (isPair ? 2 : 1)) };
}

/** `## Title ##` is titled "Title"; `# C#` is titled "C#", because its hash belongs to the word, and `## ##` is "##". */
function withoutClosingHashes(text: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === "#") end--;
  return end > 0 && isBlank(text.charAt(end - 1)) ? trim(text.slice(0, end)) : text;
}

function isBlank(character: string): boolean {
  return character === " " || character === "\t";
}

function isLineEnd(character: string): boolean {
  return character === "\n" || character === "\r";
}
