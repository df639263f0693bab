// The text of one file, and the YAML files of a folder.
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../contracts/compare-text.ts";
import { MOST_BYTES, TOO_LARGE } from "./yaml-document.ts";

/** With a line, the problem stands in the file; without, there is no such file to point into. */
export type FileProblem = {
  readonly problem: string;
  readonly code: "unreadable" | "too_large" | "not_text";
  readonly line?: number;
  readonly column?: number;
};

/** Never reads more than the limit, and never waits: a pipe or a device is refused. */
export function readTextFile(path: string): { readonly text: string } | FileProblem {
  let bytes: Buffer | FileProblem;
  try {
    bytes = readBytes(path);
  } catch (thrown) {
    return unreadable(whyUnreadable(thrown));
  }
  return "problem" in bytes ? bytes : decode(bytes);
}

/** The YAML files right in a folder, sorted by name. */
export function listYamlFiles(folder: string): readonly string[] | FileProblem {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/i.test(name) && !name.startsWith("."));
    return names.sort(compareText).map((name) => join(folder, name));
  } catch (thrown) {
    return unreadable(whyUnreadable(thrown));
  }
}

/** False for what cannot be looked at; reading it says why. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** One name for one file, whatever links lead to it. */
export function identify(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The content, or why it is not read. */
function readBytes(path: string): Buffer | FileProblem {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) return unreadable("This is a folder, not a file.");
    if (!stat.isFile()) return unreadable("This is not a regular file.");
    const buffer = Buffer.alloc(Math.min(stat.size, MOST_BYTES) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(file, buffer, length, buffer.length - length, null);
    }
    if (stat.size > MOST_BYTES || length > MOST_BYTES) return { problem: TOO_LARGE, code: "too_large" };
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function unreadable(problem: string): FileProblem {
  return { problem, code: "unreadable" };
}

function decode(bytes: Buffer): { readonly text: string } | FileProblem {
  const strict = new TextDecoder("utf-8", { fatal: true });
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { problem: "The file is not UTF-8 from here on.", code: "not_text", ...brokenPlace(bytes) };
  }
}

function brokenPlace(bytes: Buffer): { line: number; column: number } {
  // An intact part can only end between characters, and lines do.
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    if (!isUtf8(bytes.subarray(start, end))) break;
    start = end + 1;
    line++;
  }
  const rest = new TextDecoder("utf-8").decode(bytes.subarray(start));
  return { line, column: rest.indexOf("\ufffd") + 1 };
}

function whyUnreadable(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
  if (code === "ENOENT" || code === "ENOTDIR") return "There is no such file or folder.";
  if (code === "EACCES" || code === "EPERM") return "It may not be read by this process.";
  return `It cannot be read (${code}).`;
}
