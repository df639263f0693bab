// Promise: whoever looks after the database can bring it up to date, look at it, back it up, tidy it and move it from a
// terminal, and scripts can tell what came of it.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { newShell } from "./command-line.ts";
import { secretKey } from "./databases.ts";
import { emptySchema } from "./postgres.ts";

const refusal = (text: string) => (JSON.parse(text) as { error: { code: string; message: string } }).error;

it("brings the database up to date, and says from where to where", async () => {
  const shell = newShell();
  const { to } = await shell.json("db", "migrate");
  expect(to).toBeGreaterThan(0);
  expect((await shell.run(["db", "migrate"])).out).toContain(`has version ${String(to)} already`);
  change(shell.folder, "update meta set value = '999' where name = 'schema_version'");
  const newer = await shell.run(["db", "migrate", "--json"]);
  expect(newer.code).toBe(5);
  expect(refusal(newer.err).code).toBe("database_too_new");
});

it("backs up while a server works on the database, never over a file, and with the key only when that is asked for", async () => {
  const shell = newShell();
  const server = await shell.serve();
  const { id } = await shell.json("threads", "open", "support", "--key", "mine");
  const made = await shell.json("db", "backup", "copy.db");
  expect(made).toMatchObject({ file: join(shell.folder, "copy.db"), key: null });
  expect(made.tables).toContainEqual({ table: "threads", rows: 1 });
  expect(existsSync(join(shell.folder, "copy.db.key"))).toBe(false);
  const again = await shell.run(["db", "backup", "copy.db", "--json"]);
  expect(again.code).toBe(1);
  expect(refusal(again.err).code).toBe("backup_exists");

  mkdirSync(join(shell.folder, "restored"));
  await shell.json("db", "backup", "restored/holdfast.db", "--include-key");
  for (const name of ["copy.db", "restored/holdfast.db", "restored/holdfast.db.key"]) {
    expect(statSync(join(shell.folder, name)).mode & 0o777, name).toBe(0o600);
  }
  await server.end();
  expect(await shell.json("threads", "list", "--data", "restored")).toMatchObject({ threads: [{ id }] });
});

it("prunes threads, or bytes alone, and says which it wants to be told", async () => {
  const shell = newShell();
  expect(await shell.json("db", "prune", "--files", "--dry-run")).toEqual({
    ...{ dry_run: true, threads: [], runs: [], contents: 0, bytes: 0 },
  });
  for (const words of [[], ["--files", "--idle", "3"]]) {
    const refused = await shell.run(["db", "prune", ...words]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--files to delete none") });
  }
  const today = await shell.run(["db", "prune", "--idle", "0"]);
  expect(today).toMatchObject({ code: 2, err: "holdfast: usage: --idle must be a day or more.\n" });
});

it("says what to use for a server's database", async () => {
  const shell = newShell({ DATABASE_URL: "postgres://app:swordfish@db.internal/app" });
  const refused = await shell.run(["db", "backup", "copy.db", "--json"]);
  expect(refused.code).toBe(1);
  const { code, message } = refusal(refused.err);
  expect(code).toBe("backup_unsupported");
  expect(message).toMatch(/pg_dump.*HOLDFAST_SECRET_KEY/);
  expect(refused.err).not.toContain("swordfish");
});

it("tells whether the database is whole, beside a running server too", async () => {
  const shell = newShell();
  expect(await shell.run(["db", "check"])).toMatchObject({ code: 5 });
  const server = await shell.serve();
  await shell.json("threads", "open", "support");
  const whole = await shell.json("db", "check");
  expect(whole).toMatchObject({ problems: [], unnamed: { contents: 0, bytes: 0 } });
  await server.end();
  change(shell.folder, "update threads set next_message = 7");
  const broken = await shell.run(["db", "check"]);
  expect(broken.code).toBe(1);
  expect(broken.out).toContain("1 threads have lost messages.");
  renameSync(join(shell.folder, ".holdfast/holdfast.db.key"), join(shell.folder, "elsewhere.key"));
  expect((await shell.json("db", "check").catch((thrown: Error) => thrown)).toString()).toContain("not whole");
});

it("deletes threads that rest and bytes that nobody names, and first tells what would go", async () => {
  const shell = newShell();
  const { id } = await shell.json("threads", "open", "support");
  change(shell.folder, "update threads set updated_at = updated_at - 3 * 86400000000");
  change(shell.folder, "insert into blobs (hash, size, content) values ('unnamed', 3, x'616263')");
  expect(await shell.run(["db", "prune"])).toMatchObject({ code: 2 });
  expect(await shell.json("db", "prune", "--idle", "4", "--dry-run")).toMatchObject({
    threads: [],
    runs: [],
    contents: 1,
  });
  const all = { threads: [id], runs: [], contents: 1, bytes: 3 };
  expect(await shell.json("db", "prune", "--idle", "2", "--dry-run")).toEqual({ dry_run: true, ...all });
  expect(await shell.json("db", "prune", "--idle", "2")).toEqual({ dry_run: false, ...all });
});

it("moves the database to a server and back to a file", async () => {
  const { url, schema, drop } = await emptySchema();
  try {
    const shell = newShell({ HOLDFAST_SECRET_KEY: secretKey });
    expect(await shell.run(["db", "move"])).toMatchObject({ code: 2 });
    const { id } = await shell.json("threads", "open", "support");
    const server = await shell.serve();
    const busy = await shell.run(["db", "move", "--to", url, "--schema", schema, "--json"]);
    expect(busy.code).toBe(5);
    expect(refusal(busy.err)).toMatchObject({ code: "database_in_use" });
    await server.end();

    const there = await shell.run(["db", "move", "--to", url, "--schema", schema]);
    expect(there).toMatchObject({ code: 0 });
    expect(there.out).toMatch(/^threads +1 +[0-9a-f]{64}$/m);
    expect(there.out + there.err).not.toContain(new URL(url).password);
    const old = await shell.run(["threads", "list", "--json"]);
    expect(old.code).toBe(5);
    expect(refusal(old.err)).toMatchObject({ code: "database_moved", message: expect.stringContaining(schema) });

    mkdirSync(join(shell.folder, "back"));
    const from = ["--from", url, "--schema", schema];
    const back = await shell.json("db", "move", ...from, "--to", "back/holdfast.db");
    expect(back.tables).toContainEqual({
      table: "threads",
      rows: 1,
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await shell.json("threads", "list", "--data", "back")).toMatchObject({ threads: [{ id }] });
  } finally {
    await drop();
  }
});

it("moves nothing to where the key would be missing", async () => {
  const shell = newShell({ HOLDFAST_SECRET_KEY: "" });
  await shell.json("threads", "open", "support");
  const refused = await shell.run(["db", "move", "--to", "other.db", "--json"]);
  expect(refusal(refused.err)).toMatchObject({
    code: "secret_key_missing",
    // The key of the old database, and not just any.
    hint: expect.stringMatching(/HOLDFAST_SECRET_KEY=\$\(cat \S+holdfast\.db\.key\)$/),
  });
  expect(refused.err).not.toContain(readFileSync(join(shell.folder, ".holdfast/holdfast.db.key"), "utf8").trim());
  expect(existsSync(join(shell.folder, "other.db"))).toBe(false);
  expect(await shell.json("threads", "list")).toMatchObject({ threads: [{}] });
});

it("moves nothing from where there is nothing, and makes nothing there", async () => {
  const shell = newShell({ HOLDFAST_SECRET_KEY: secretKey });
  for (const from of [["--from", "misspelt.db"], []]) {
    const refused = await shell.run(["db", "move", ...from, "--to", "other.db", "--json"]);
    expect(refused.code).toBe(5);
    expect(refusal(refused.err)).toMatchObject({ code: "database_path_invalid" });
  }
  expect(readdirSync(shell.folder).filter((name) => name !== ".holdfast")).toEqual([]);
});

/** Past everything that the runtime looks after. */
function change(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, ".holdfast", "holdfast.db"));
  database.exec(sql);
  database.close();
}
