// What a memory is about, kept at the head of its own text: whoever erases the text erases that with it, and every store
// that keeps text keeps it.
import { trim } from "../contracts/coerce.ts";
import type { ConflictKind } from "../contracts/context/context-item.ts";

export type MemoryText = {
  readonly content: string;
  /** Memories about the same thing stand against each other, and one of them holds. */
  readonly about: string | null;
  readonly kind: ConflictKind | null;
};

const FENCE = "---";
const HEAD = /^---\n(?:about: ([^\n]+)\n)?(?:kind: (preference|authoritative_fact)\n)?---\n/;

/** The text to be stored. */
export function writeMemoryText({ content, about, kind }: MemoryText): string {
  const lines = [...(about === null ? [] : [`about: ${about}`]), ...(kind === null ? [] : [`kind: ${kind}`])];
  // A text that begins like a head gets one of its own, or it would be read as what it only says.
  if (lines.length === 0 && !content.startsWith(FENCE)) return content;
  return [FENCE, ...lines, FENCE, content].join("\n");
}

/** What was stored. A head that is not written exactly as above is part of the text. */
export function readMemoryText(text: string): MemoryText {
  const head = HEAD.exec(text);
  if (!head) return { content: text, about: null, kind: null };
  const [whole, about, kind] = head;
  return {
    content: text.slice(whole.length),
    about: about === undefined ? null : subjectName(about),
    kind: (kind as ConflictKind | undefined) ?? null,
  };
}

const LONGEST_NAME = 200;

/** One spelling for what a memory is about, so that those about the same thing meet; null when nothing is named. */
export function subjectName(given: string): string | null {
  const name = trim(given.replace(/\s+/g, " ")).slice(0, LONGEST_NAME).toLowerCase();
  return name === "" ? null : name;
}
