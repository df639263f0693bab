// trace.jsonl: appended to in place, because it grows with every turn.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isMap, type Json } from "../../contracts/json.ts";
import type { TraceLine } from "./workspace.ts";

const NEWLINE = 0x0a;
// A tool may have put a link in the place of the file; what it leads to is not the agent's to change.
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Appends the lines of a job. A crash in the middle of an earlier append leaves an incomplete line, and a turn that was
 * not committed leaves whole ones: both are cut off first, so that a repeated turn is traced once.
 */
export async function appendTrace(path: string, jobId: string, lines: readonly TraceLine[]): Promise<void> {
  const file = await open(path, FLAGS, 0o600);
  try {
    const kept = keptLength(await file.readFile(), jobId);
    await file.truncate(kept);
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
function keptLength(content: Buffer, jobId: string): number {
  let end = content.lastIndexOf(NEWLINE) + 1;
  while (end > 0) {
    const start = end > 1 ? content.lastIndexOf(NEWLINE, end - 2) + 1 : 0;
    const line = parseLine(content.toString("utf8", start, end));
    if (!isMap(line) || line.job_id !== jobId) break;
    end = start;
  }
  return end;
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
