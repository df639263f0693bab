// Files in SQL.
import type { FileStore } from "../file-store.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { FileRecord } from "../write.ts";
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
      const root = directory.replace(/\/+$/, "");
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
  };
}

/** Here and not in SQL: databases differ in how they compare text. */
function byPath(one: FileRecord, other: FileRecord): number {
  return one.path < other.path ? -1 : 1;
}
