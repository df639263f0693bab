// A file that is about to be stored: its bytes are looked at once, and what is too large is refused before anything else.
import { createHash } from "node:crypto";
import type { NewFile } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { nameOf } from "../../contracts/standard/file-path.ts";
import { typeOfName } from "../../contracts/standard/mime-type.ts";
import { isWholeNumber } from "../whole-number.ts";

const MOST_BYTES = 32 * 1024 * 1024;
const MOST_FILES = 10_000;

type About = {
  readonly name?: string;
  readonly mimeType?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly metadata?: JsonMap | undefined;
};

/** The file with this content under a normal path. Text is stored as UTF-8. Throws `file_too_large`. */
export function newFile(path: string, given: string | Uint8Array, about: About = {}): NewFile {
  if (typeof given !== "string" && !(given instanceof Uint8Array)) {
    throw holdfastError("invalid_argument", "content must be a text or a Uint8Array.");
  }
  const words = [about.name, about.mimeType].find((each) => each?.includes("\0"));
  if (words !== undefined) throw holdfastError("invalid_argument", "The name and type of a file must not hold a zero.");
  checkSize(path, typeof given === "string" ? Buffer.byteLength(given) : given.byteLength);
  // A copy: whoever passed the bytes may go on writing to them.
  const content = typeof given === "string" ? Buffer.from(given) : Buffer.from(given);
  const { name = nameOf(path), mimeType, width, height, metadata } = about;
  return {
    ...{ path, name, is_directory: false, content, size: content.length },
    mime_type: mimeType ?? typeOfName(name) ?? (typeof given === "string" ? "text/plain" : "application/octet-stream"),
    hash: createHash("sha256").update(content).digest("hex"),
    width: lengthOf(width),
    height: lengthOf(height),
    metadata: metadata === undefined ? null : JSON.stringify(snapshotMap(metadata)),
  };
}

/** Throws `file_too_large`, which names the file. */
export function checkSize(name: string, bytes: number): void {
  if (bytes <= MOST_BYTES) return;
  throw holdfastError("file_too_large", `"${name}" has ${bytes} bytes, and a file may have ${MOST_BYTES} at most.`);
}

/** Throws `too_many_files`. */
export function checkCount(threadId: string, files: number): void {
  if (files <= MOST_FILES) return;
  throw holdfastError("too_many_files", `Thread "${threadId}" would have ${files} files; ${MOST_FILES} is the most.`);
}

function lengthOf(pixels: number | undefined): number | null {
  return pixels !== undefined && isWholeNumber(pixels, 0) ? pixels : null;
}
