// How sentences for operators are worded: times, and what others have said, on one line.

const LONGEST_WORDS = 300;

/** The words of others, on one line. */
export function onOneLine(words: string): string {
  const line = words.replace(/\s+/g, " ").trim();
  return line.length > LONGEST_WORDS ? `${line.slice(0, LONGEST_WORDS)}…` : line;
}

export function asSentence(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** From microseconds since 1970. */
export function timeText(microseconds: number): string {
  return new Date(microseconds / 1_000).toISOString();
}
