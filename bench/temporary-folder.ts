// Folders that are gone when the work in them is done, or when the process ends before that.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made = new Set<string>();

process.on("exit", () => {
  for (const folder of made) remove(folder);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** A folder for as long as this process lives. */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  made.add(folder);
  return folder;
}

export async function inTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = makeTemporaryFolder();
  try {
    return await work(folder);
  } finally {
    remove(folder);
    made.delete(folder);
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
