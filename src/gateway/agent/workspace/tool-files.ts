// Reading what tools can write: never more than a limit, never through a link at its end, and without waiting. Opening a named
// pipe would take a thread of the process until its other end is opened too.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isMap } from "../../../contracts/json.ts";

/** More than any payload and any result has. */
const MOST_READ_BYTES = 16 * 1024 * 1024;

export const { O_NOFOLLOW, O_NONBLOCK } = constants;

/** The beginning of a regular file, or its end; undefined when there is none. */
export async function readText(path: string, part: "beginning" | "end" = "beginning"): Promise<string | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    const length = Math.min(stat.size, MOST_READ_BYTES);
    return (await readBytes(file, part === "end" ? stat.size - length : 0, length)).toString();
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    throw thrown;
  } finally {
    await file?.close();
  }
}

/** As many bytes as there are from a position on, up to a length. */
export async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let size = 0;
  for (let read = -1; read !== 0 && size < length; size += read) {
    read = (await file.read(bytes, size, length - size, position + size)).bytesRead;
  }
  return bytes.subarray(0, size);
}

/** True for what there is no file at a path for: no such name, a link, a folder, or the end of a pipe. */
export function isAbsent(thrown: unknown): boolean {
  const code = isMap(thrown) ? thrown.code : undefined;
  return typeof code === "string" && absent.has(code);
}

const absent: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENAMETOOLONG", "ENXIO"]);
