// Paths of a thread's files: absolute, in one spelling, and never out of the thread they belong to.
import { trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";

/** Where files stand that messages point to. */
export const ATTACHMENTS = "/attachments";

const LONGEST_PATH_BYTES = 1_024;
const LONGEST_STEM = 64;

// What some system or reader would take for something else than a letter of a name: it is refused and never guessed at.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const REFUSED = /[\\\u0000-\u001f\u007f]/;

/**
 * The one spelling of a path: `/a/b`, without `.`, `..`, doubled or trailing slashes; `/` for the root. Throws
 * `invalid_file_path` for what is no path or would leave the root.
 */
export function normalizePath(path: unknown): string {
  if (typeof path !== "string" || path.trim() === "") throw invalid(path, "is blank");
  if (!path.isWellFormed() || REFUSED.test(path)) throw invalid(path, "holds a character that no path may hold");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) throw invalid(path, "leads out of the thread's files");
  }
  const normal = `/${segments.join("/")}`;
  if (Buffer.byteLength(normal) > LONGEST_PATH_BYTES) throw invalid(path, `is longer than ${LONGEST_PATH_BYTES} bytes`);
  return normal;
}

/** The last segment of a normal path; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The directory that a normal path stands in; the root stands in itself. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** True when a normal path stands somewhere below a directory; no directory is below itself. */
export function isBelow(path: string, directory: string): boolean {
  return path !== "/" && path !== directory && path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

/** The path of a copy: `/attachments/<stem>-<random>.<extension>`, whatever the name of the original holds. */
export function attachmentPath(name: string, random: string): string {
  const { stem, extension } = split(name);
  const kept = [...stem.normalize("NFC").replaceAll(/[^\p{L}\p{N}_.-]+/gu, "-")].slice(0, LONGEST_STEM).join("");
  const tidy = trim(kept, "-.");
  return `${ATTACHMENTS}/${tidy || "file"}-${random}${extension && `.${extension}`}`;
}

/** The extension of a name, in small letters; empty when it has none. */
export function extensionOf(name: string): string {
  return split(name).extension;
}

/** A name of any system's path, cut at its last dot; a dot at the beginning hides a file and is no extension. */
function split(name: string): { stem: string; extension: string } {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const [, stem, extension] = /^(.+)\.([a-z0-9]{1,16})$/is.exec(last) ?? [];
  return { stem: stem ?? last, extension: extension?.toLowerCase() ?? "" };
}

function invalid(path: unknown, why: string) {
  const shown = typeof path === "string" ? JSON.stringify(path.slice(0, 200).toWellFormed()) : String(typeof path);
  return holdfastError("invalid_file_path", `${shown} ${why}.`);
}
