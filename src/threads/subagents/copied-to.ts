// Copies the files that a call names to another thread: all of them, or none and a sentence that names what is missing.

import { copyFiles } from "../state/copy-files.ts";
import type { CallScope } from "./call-scope.ts";
import { type CopiedFiles, noFiles } from "./child-order.ts";
import { type Refusal, refusalOf } from "./refusal.ts";

export async function copiedTo(
  { host, thread, buffer }: CallScope,
  to: string,
  paths: readonly string[],
): Promise<CopiedFiles | Refusal> {
  if (paths.length === 0) return noFiles;
  try {
    return await copyFiles(host, { from: thread.id, fromBuffer: buffer, to, paths });
  } catch (thrown) {
    return refusalOf(thrown);
  }
}
