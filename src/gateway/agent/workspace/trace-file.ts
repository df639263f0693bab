// trace.jsonl: appended to in place, because it grows with every turn.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { holdfastError } from "../../../contracts/error.ts";
import { isMap, type Json } from "../../../contracts/json.ts";
import { O_NOFOLLOW, O_NONBLOCK, readBytes } from "./tool-files.ts";
import type { TraceLine } from "./workspace.ts";

const NEWLINE = 0x0a;
// A tool may have put a link or a pipe in the place of the file; what it leads to is not the agent's to change.
const FLAGS = constants.O_RDWR | constants.O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/** No run comes near it; a tool that fills the file does. */
const MOST_BYTES = 1024 ** 3;
/** Longer lines are not the agent's own. */
const LONGEST_LINE = 64 * 1024;
const CHUNK = 1024 * 1024;

/**
 * Appends the lines of a job. A crash in the middle of an earlier append leaves an incomplete line, and a turn that was
 * not committed leaves whole ones: both are cut off first, so that a repeated turn is traced once.
 */
export async function appendTrace(
  path: string,
  jobId: string,
  lines: readonly TraceLine[],
  beforeWrite: () => void,
): Promise<void> {
  const file = await open(path, FLAGS, 0o600);
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MOST_BYTES) {
      throw holdfastError("invalid_file_path", `${path} is no trace: it is not a file, or larger than 1 GiB.`);
    }
    const kept = await keptLength(file, stat.size, jobId);
    beforeWrite();
    await file.truncate(kept);
    beforeWrite();
    try {
      await writeAt(file, kept, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    } catch (thrown) {
      await file.truncate(kept).catch(() => {});
      throw thrown;
    }
  } finally {
    await file.close();
  }
}

/** Every complete line of a trace that is a JSON object. */
export function readTraceText(text: string): readonly Json[] {
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  return complete.split("\n").flatMap((line) => {
    const read = parseLine(line);
    return read === undefined ? [] : [read];
  });
}

/** Bytes up to the last line that stays. */
async function keptLength(file: FileHandle, size: number, jobId: string): Promise<number> {
  let end = await lineStart(file, size);
  while (end > 0) {
    const start = await lineStart(file, end - 1);
    if (end - start > LONGEST_LINE) break;
    const line = parseLine((await readBytes(file, start, end - start)).toString());
    if (!isMap(line) || line.job_id !== jobId) break;
    end = start;
  }
  return end;
}

/** Where the line begins that a position is in. */
async function lineStart(file: FileHandle, position: number): Promise<number> {
  for (let end = position; end > 0; ) {
    // Lines are short: mostly the first look finds where this one begins.
    const length = Math.min(end, end === position ? LONGEST_LINE : CHUNK);
    const found = (await readBytes(file, end - length, length)).lastIndexOf(NEWLINE);
    end -= length;
    if (found !== -1) return end + found + 1;
  }
  return 0;
}

/** A write may be cut short, as on a disk that is nearly full. */
async function writeAt(file: FileHandle, position: number, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

function parseLine(line: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMap(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
