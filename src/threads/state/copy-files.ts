// Copies files from one thread to another: a copy is a row that names the same bytes, so no bytes are read.
import type { FileRecord, Write } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import { attachmentOf } from "../../contracts/standard/attachment.ts";
import { ATTACHMENTS, attachmentPath, isBelow, normalizePath } from "../../contracts/standard/file-path.ts";
import type { Attachment } from "../../contracts/standard/standard-message.ts";
import type { Host } from "../host.ts";
import { fileTree } from "./file-tree.ts";
import { checkCount } from "./new-file.ts";
import type { StateBuffer } from "./state-buffer.ts";

type Order = {
  /** The thread that has the files. */
  readonly from: string;
  /** What was written there and is not stored yet may be copied too, in the same commit. */
  readonly fromBuffer: Pick<StateBuffer, "writes">;
  /** The thread that gets them; it need not be there yet. */
  readonly to: string;
  readonly paths: readonly string[];
  /** Files that stand elsewhere than under `/attachments` are copied too. */
  readonly anywhere?: boolean;
};

export type Copied = {
  readonly writes: readonly Write[];
  /** In the order in which they were named, each once. */
  readonly copied: readonly { readonly from: string; readonly attachment: Attachment }[];
};

/** All of them or none: throws `file_not_found`, which names every path that is missing. Nothing is written here. */
export async function copyFiles(host: Host, { from, fromBuffer, to, paths, anywhere = false }: Order): Promise<Copied> {
  const { files } = host.stores;
  const now = () => host.now() * 1_000;
  const source = fileTree({ files, threadId: from, writes: fromBuffer.writes, now });
  const wanted = [...new Set(paths.map(normalizePath))];
  const found = await Promise.all(
    wanted.map(async (path) => (anywhere || isBelow(path, ATTACHMENTS) ? await source.file(path) : undefined)),
  );
  const missing = wanted.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) throw notFound(missing, anywhere);
  if (wanted.length > 0) {
    const target = fileTree({ files, threadId: to, writes: fromBuffer.writes, now });
    checkCount(to, (await target.totals()).files + wanted.length);
  }
  const copies = found.filter((file) => file !== undefined).map((file) => ({ from: file.path, file: copyOf(file) }));
  return {
    writes: copies.map(({ file }) => ({ write: "file", thread_id: to, file })),
    copied: copies.map(({ from: path, file }) => ({
      from: path,
      attachment: attachmentOf(file, { id: crypto.randomUUID() }),
    })),
  };
}

function copyOf({ created_at: _, ...file }: FileRecord) {
  return { ...file, path: attachmentPath(file.name, crypto.randomUUID().slice(0, 8)) };
}

function notFound(missing: readonly string[], anywhere: boolean) {
  const named = missing.map((path) => JSON.stringify(path)).join(", ");
  return holdfastError("file_not_found", `There is no file ${named}${anywhere ? "" : ` under ${ATTACHMENTS}/`}.`);
}
