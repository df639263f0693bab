// Files in SQL.
import { trimEnd } from "../../contracts/coerce.ts";
import type { FileStore } from "../file-store.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import type { FileRecord } from "../write.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { lockContents } from "./lock-contents.ts";
import * as rows from "./rows.ts";

const AT_ONCE = 100;

export function createFileStore(driver: SqlDriver): FileStore {
  async function remove(hashes: readonly string[]): Promise<readonly number[]> {
    const sql = `delete from blobs where hash = $1 and ${UNNAMED} returning size`;
    const locks = lockContents(driver);
    const done = await attemptBatch(driver, [...locks, ...hashes.map((hash): Statement => ({ sql, params: [hash] }))]);
    const removed = done.outcome === "committed" ? done.rows.slice(locks.length).flat() : [];
    return removed.map(({ size }) => rows.number(size));
  }

  return {
    async get(threadId, path) {
      const [row] = await driver.all(`select ${rows.FILE} from files where thread_id = $1 and path = $2`, [
        threadId,
        path,
      ]);
      return row && rows.file(row);
    },

    async content(hash) {
      const [row] = await driver.all("select content from blobs where hash = $1", [hash]);
      return row?.content instanceof Uint8Array ? row.content : undefined;
    },

    async list(threadId, directory, { deep }) {
      // The root may be written as nothing or as a slash, and is never listed itself.
      const root = trimEnd(directory, "/");
      const below = root === "" ? "" : `${root}/`;
      const found = await driver.all(
        `select ${rows.FILE} from files where thread_id = $1 and substr(path, 1, length(cast($2 as text))) = $2
          order by path`,
        [threadId, below],
      );
      const rest = ({ path }: FileRecord) => path.slice(below.length).replace(/^\//, "");
      return found.map(rows.file).filter((file) => rest(file) !== "" && (deep || !rest(file).includes("/")));
    },

    async totals(threadId) {
      const [row] = await driver.all(
        "select count(*) as files, coalesce(sum(size), 0) as bytes from files where thread_id = $1 and is_directory = 0",
        [threadId],
      );
      return { files: rows.number(row?.files), bytes: rows.number(row?.bytes) };
    },

    async countUnnamed() {
      const [row] = await driver.readLong(
        `select count(*) as contents, coalesce(sum(size), 0) as bytes from blobs where ${UNNAMED}`,
      );
      return { contents: rows.number(row?.contents), bytes: rows.number(row?.bytes) };
    },

    async unnamed(limit) {
      const found = await driver.readLong(`select hash from blobs where ${UNNAMED} order by hash limit $1`, [limit]);
      return found.map(({ hash }) => String(hash));
    },

    async removeUnnamed(hashes) {
      const removed = { contents: 0, bytes: 0 };
      // Some at a time: nobody can store a file meanwhile.
      for (let from = 0; from < hashes.length; from += AT_ONCE) {
        const sizes = await remove(hashes.slice(from, from + AT_ONCE));
        removed.contents += sizes.length;
        removed.bytes += sizes.reduce((sum, size) => sum + size, 0);
      }
      return removed;
    },
  };
}

const UNNAMED = "not exists (select 1 from files where files.hash = blobs.hash)";
