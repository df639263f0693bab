// For tests: files that are written for one test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with these files; `using` removes it. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const path = mkdtempSync(join(tmpdir(), "holdfast-files-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
