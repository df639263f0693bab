// How the names of sources, sections, modes and policies are written, so that two spellings of one name meet.
import { trim } from "../coerce.ts";

/** A word of a vocabulary: small letters, digits, `_` and `-`, with `_` for each run of anything else. */
export function cleanWord(text: string): string {
  return clean(text, /[^A-Za-z0-9_-]+/g, "_", "_");
}

/** The name of a context, a section or a mode: as a word, with `-` for each run of anything else. */
export function cleanSlug(text: string): string {
  return clean(text, /[^A-Za-z0-9_-]+/g, "-", "-");
}

/** The id of a source: as a slug, in which `/` and `.` may stand too. */
export function cleanId(text: string): string {
  return clean(text, /[^A-Za-z0-9_./-]+/g, "-", "-/");
}

/** A name for people: `workspace/instructions.md` as `Workspace Instructions Md`. */
export function titleOf(name: string): string {
  return name.replace(/[-_/.]/g, " ").replace(/(?<=^| )[a-z]/g, (letter) => letter.toUpperCase());
}

function clean(text: string, others: RegExp, stand: string, edges: string): string {
  // Lowered last, because lowering turns some letters beyond ASCII into ASCII ones.
  return trim(text.replace(others, stand), edges).toLowerCase();
}
