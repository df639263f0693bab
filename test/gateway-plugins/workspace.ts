// Folders and files that a test needs, and which go with it.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { certificate } from "./self-signed.ts";

/** An empty folder. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-plugins-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The certificate of the tests as a file. */
export function certificateFile(): string {
  const file = join(newFolder(), "certificate.pem");
  writeFileSync(file, certificate);
  return file;
}
