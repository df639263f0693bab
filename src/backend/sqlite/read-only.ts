// A look at a SQLite file from beside its engine: it takes no lock that anybody waits for, and cannot write.
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { holdfastError } from "../../contracts/error.ts";
import type { Row, Scalar } from "../sql-driver.ts";
import { sqliteError } from "./sqlite-error.ts";
import { statementsOn } from "./statements.ts";

export type SqliteReader = {
  readonly name: "sqlite";
  all(sql: string, params?: readonly Scalar[]): Promise<readonly Row[]>;
  close(): Promise<void>;
};

const BUSY_MILLISECONDS = 5_000;

export function openReadOnly(path: string): DatabaseSync {
  if (!existsSync(path)) throw holdfastError("database_path_invalid", `There is no file "${path}".`);
  try {
    return new DatabaseSync(path, { readOnly: true, timeout: BUSY_MILLISECONDS });
  } catch (error) {
    throw sqliteError(error, path);
  }
}

export function sqliteReader(path: string): SqliteReader {
  const database = openReadOnly(path);
  const perform = statementsOn(database);
  return {
    name: "sqlite",
    async all(sql, params = []) {
      try {
        return perform(sql, params).rows;
      } catch (error) {
        throw sqliteError(error, path);
      }
    },
    async close() {
      database.close();
    },
  };
}
