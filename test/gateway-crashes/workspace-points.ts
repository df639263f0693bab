// Crash points in the middle of what a turn writes to its workspace: before a file is moved into its place, and with half
// of a trace line written. The workspace itself knows no crash points, so its file system is wrapped in this process.
import fs, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import type { OnCrashPoint } from "../../src/engine/crash-points.ts";

export function addWorkspacePoints(folder: string, reached: OnCrashPoint): void {
  const { rename, open } = fs;
  fs.rename = async (from, to) => {
    if (String(to).startsWith(folder)) await reached(`inside write ${basename(String(to))}`);
    await rename(from, to);
  };
  fs.open = async (path, ...rest) => {
    const file = await open(path, ...rest);
    const isTrace = String(path).startsWith(folder) && basename(String(path)) === "trace.jsonl";
    return isTrace ? writingInHalves(file, () => reached("inside write trace.jsonl")) : file;
  };
  syncBuiltinESMExports();
}

/** The first write stops in the middle; the caller goes on with the rest. */
function writingInHalves(file: FileHandle, between: () => void | Promise<void>): FileHandle {
  const write = file.write.bind(file) as (...args: unknown[]) => Promise<{ bytesWritten: number; buffer: Uint8Array }>;
  let isFirst = true;
  const halving = async (bytes: Uint8Array, offset: number, length: number, position: number) => {
    if (!isFirst) return await write(bytes, offset, length, position);
    isFirst = false;
    const written = await write(bytes, offset, Math.ceil(length / 2), position);
    await between();
    return written;
  };
  return Object.assign(file, { write: halving });
}
