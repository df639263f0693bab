// The words of a text as both databases index them. They are cut here and not by the databases, whose own rules differ
// from each other, between versions and between locales: a word that was written must be found again everywhere.

/** Letters, digits and the marks that belong to them. What is longer is cut, in a text and in a question alike. */
const WORD = /[\p{L}\p{N}\p{M}]{1,64}/gu;

/** Scripts that put no space between words: each sign is a word there, and so is each pair of neighbours. */
const UNSPACED = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const PARTS = new RegExp(`[${UNSPACED}]\\p{M}*|[^${UNSPACED}]+`, "gu");

/** How often a word counts in one text. */
const MOST_REPEATS = 16;

/** PostgreSQL takes a megabyte of words and their places in one text; what is further behind in it is not indexed. */
const MOST_BYTES = 1_000_000;

/** What is to be found: every word, and the last one also as the beginning of one while nothing follows it. */
export type Sought = { readonly words: readonly string[]; readonly isLastOpen: boolean };

/** The words to index, with a space between them, in the order of the texts. */
export function wordsOf(...texts: readonly string[]): string {
  const repeats = new Map<string, number>();
  const words: string[] = [];
  let bytes = 0;
  for (const word of allWords(texts)) {
    const seen = repeats.get(word) ?? 0;
    if (seen >= MOST_REPEATS) continue;
    // With its length and alignment, each place being two bytes.
    bytes += seen === 0 ? Buffer.byteLength(word) + 8 : 2;
    if (bytes > MOST_BYTES) break;
    repeats.set(word, seen + 1);
    words.push(word);
  }
  return words.join(" ");
}

/** The words of a question, each once. */
export function soughtWords(question: string): Sought {
  const text = folded(question);
  const words = [...text.matchAll(WORD)].flatMap(([word]) => soughtParts(word));
  // Repeats go from the front, so that the last word stays the last.
  const unique = [...new Set(words.toReversed())].reverse().slice(-MOST_SOUGHT);
  return { words: unique, isLastOpen: /[\p{L}\p{N}\p{M}]$/u.test(text) };
}

/** More would not find anything else, only cost time. */
const MOST_SOUGHT = 32;

function* allWords(texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    for (const [word] of folded(text).matchAll(WORD)) {
      const parts = partsOf(word);
      for (const [index, part] of parts.entries()) {
        yield part;
        const pair = pairAt(parts, index);
        if (pair !== undefined) yield pair;
      }
    }
  }
}

// A pair says more than its two signs, so a single sign is sought only where it stands alone.
function soughtParts(word: string): readonly string[] {
  const parts = partsOf(word);
  return parts.flatMap((part, index) => {
    const pair = pairAt(parts, index);
    if (pair !== undefined) return [pair];
    return index > 0 && pairAt(parts, index - 1) !== undefined ? [] : [part];
  });
}

function partsOf(word: string): readonly string[] {
  return HAS_UNSPACED.test(word) ? (word.match(PARTS) ?? []) : [word];
}

function pairAt(parts: readonly string[], index: number): string | undefined {
  const [one = "", next = ""] = parts.slice(index, index + 2);
  return IS_UNSPACED.test(one) && IS_UNSPACED.test(next) ? one + next : undefined;
}

/** Characters that mean the same are the same, whatever their case and width; accents tell words apart. */
function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
