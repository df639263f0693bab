import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { SqlDriver } from "../sql-driver.ts";
import { backupSqlite } from "./backup.ts";
import { sqlite } from "./sqlite.ts";

describe("a backup", () => {
  let folder: string;
  let path: string;
  let driver: SqlDriver;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-backup-"));
    path = join(folder, "threads.db");
    driver = await sqlite(path).open();
    onTestFinished(async () => {
      await driver.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await write("create table entry (id integer primary key, body text not null)");
    await write(`insert into entry (body)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 3000)
      select hex(randomblob(2000)) from numbers`);
  });

  const write = (sql: string) => driver.batch([{ sql, params: [] }]);
  const files = () => readdirSync(folder).filter((name) => name.startsWith("copy"));

  it("is one moment of the database, whatever is written meanwhile", async () => {
    const writes: Promise<unknown>[] = [];
    const seen: number[] = [];
    const made = await backupSqlite(path, join(folder, "copy.db"), {
      onProgress(done, of) {
        seen.push(done / of);
        writes.push(write("insert into entry (body) values ('later')"), write("delete from entry where id = 1"));
      },
    });
    await Promise.all(writes);
    expect(seen.length).toBeGreaterThan(1);
    expect(made.tables).toEqual([{ table: "entry", rows: 3_000 }]);
    const copy = new DatabaseSync(made.file, { readOnly: true });
    expect(copy.prepare("select count(*) as rows, min(id) as first from entry").get()).toEqual({
      rows: 3_000,
      first: 1,
    });
    copy.close();
    expect(files()).toEqual(["copy.db"]);
  });

  it("leaves nothing behind when it fails", async () => {
    const failing = backupSqlite(path, join(folder, "copy.db"), {
      onProgress() {
        throw new Error("The disk is gone.");
      },
    });
    await expect(failing).rejects.toThrow("The disk is gone.");
    await expect(backupSqlite(path, join(folder, "copy.db"), { includeKey: true })).rejects.toMatchObject({
      code: "secret_key_missing",
    });
    await expect(backupSqlite(join(folder, "none.db"), join(folder, "copy.db"))).rejects.toMatchObject({
      code: "database_path_invalid",
    });
    expect(files()).toEqual([]);
  });

  it("never replaces a file, nor a key", async () => {
    writeFileSync(join(folder, "copy.db.key"), "another key");
    writeFileSync(`${path}.key`, "the key");
    const refused = backupSqlite(path, join(folder, "copy.db"), { includeKey: true });
    await expect(refused).rejects.toMatchObject({ code: "backup_exists" });
    expect(files()).toEqual(["copy.db.key"]);
    await backupSqlite(path, join(folder, "copy.db"));
    await expect(backupSqlite(path, join(folder, "copy.db"))).rejects.toMatchObject({ code: "backup_exists" });
  });
});
