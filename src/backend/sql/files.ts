// Files in SQL.
import { trimEnd } from "../../contracts/coerce.ts";
import type { FileStore } from "../file-store.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import type { FileRecord } from "../write.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { lockContents } from "./lock-contents.ts";
import * as rows from "./rows.ts";

export function createFileStore(driver: SqlDriver): FileStore {
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
        `select ${rows.FILE} from files where thread_id = $1 and substr(path, 1, length(cast($2 as text))) = $2`,
        [threadId, below],
      );
      const rest = ({ path }: FileRecord) => path.slice(below.length).replace(/^\//, "");
      return found
        .map(rows.file)
        .filter((file) => rest(file) !== "" && (deep || !rest(file).includes("/")))
        .sort(byPath);
    },

    async totals(threadId) {
      const [row] = await driver.all(
        "select count(*) as files, coalesce(sum(size), 0) as bytes from files where thread_id = $1 and is_directory = 0",
        [threadId],
      );
      return { files: rows.number(row?.files), bytes: rows.number(row?.bytes) };
    },

    async unnamed() {
      const [row] = await driver.readLong(
        `select count(*) as contents, coalesce(sum(size), 0) as bytes from blobs where ${UNNAMED}`,
      );
      return { contents: rows.number(row?.contents), bytes: rows.number(row?.bytes) };
    },

    async removeUnnamed(limit) {
      const found = await driver.readLong(`select hash from blobs where ${UNNAMED} limit $1`, [limit]);
      const remove = found.map(({ hash }): Statement => {
        const sql = `delete from blobs where hash = $1 and ${UNNAMED} returning size`;
        return { sql, params: [hash ?? null] };
      });
      if (remove.length === 0) return { contents: 0, bytes: 0 };
      const locks = lockContents(driver);
      const done = await attemptBatch(driver, [...locks, ...remove]);
      const removed = done.outcome === "committed" ? done.rows.slice(locks.length).flat() : [];
      return { contents: removed.length, bytes: removed.reduce((sum, { size }) => sum + rows.number(size), 0) };
    },
  };
}

const UNNAMED = "not exists (select 1 from files where files.hash = blobs.hash)";

/** Here and not in SQL: databases differ in how they compare text. */
function byPath(one: FileRecord, other: FileRecord): number {
  return one.path < other.path ? -1 : 1;
}
