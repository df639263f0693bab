import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSqlDriver } from "../sql-driver.contract.ts";
import type { BatchOutcome, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { type SqliteOptions, sqlite } from "./sqlite.ts";

let folder: string;
let path: string;
const opened: SqlDriver[] = [];
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
  path = join(folder, "holdfast.db");
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const driver of opened.splice(0)) await driver.close();
  rmSync(folder, { recursive: true, force: true });
});

describeSqlDriver("a SQLite file", () => open());
describeSqlDriver("SQLite in memory", () => open(":memory:"));

describe("batches on SQLite", () => {
  it("that arrive together share one commit", async () => {
    const driver = await openNotes();
    await driver.batch([note(0, "changed by all")]);
    const change = run("update note set text = text || '.' where id = 0", [], 1);
    const pagesWritten = async (work: () => Promise<unknown>) => {
      const before = statSync(`${path}-wal`).size;
      await work();
      return (statSync(`${path}-wal`).size - before) / LOGGED_PAGE_BYTES;
    };

    const apart = async () => {
      for (let number = 0; number < 8; number++) await driver.batch([change]);
    };
    const together = () => Promise.all(Array.from({ length: 8 }, () => driver.batch([change])));
    expect([await pagesWritten(apart), await pagesWritten(together)]).toEqual([8, 1]);
    expect(await driver.all("select text from note")).toEqual([{ text: `changed by all${".".repeat(16)}` }]);
  });

  it("are done in the order in which they arrive", async () => {
    const driver = await openNotes();
    const append = (id: number) =>
      driver.batch([run("insert into note (id, text) select $1, count(*) from note returning text", [id])]);
    const outcomes = await Promise.all([5, 3, 9, 1].map(append));
    expect(outcomes.map((outcome) => outcome.outcome === "committed" && outcome.rows[0]?.[0]?.text)).toEqual([
      ...["0", "1", "2", "3"],
    ]);
  });

  it("fail together, without a trace or a signal, when their commit fails", async () => {
    const driver = await openNotes();
    const heard: string[] = [];
    await driver.batch([
      run("create table reply (id bigint primary key, to_note bigint references note deferrable initially deferred)"),
    ]);
    const end = new Promise((resolve) => {
      driver.listen((text) => {
        heard.push(text);
        if (text === "end") resolve(undefined);
      });
    });
    const outcomes = await Promise.allSettled([
      driver.batch([note(1, "innocent"), run("select signal('lost')")]),
      driver.batch([run("insert into reply values (1, 404)")]),
      driver.batch([note(2, "innocent too")]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await noteIds(driver)).toEqual([]);

    expect(await driver.batch([note(1, "again"), run("select signal('end')")])).toMatchObject({ outcome: "committed" });
    await end;
    expect(heard).toEqual(["end"]);
  });

  it.skipIf(process.platform === "win32")(
    "are refused, and only what was confirmed stays, when the disk fails",
    async () => {
      await (await openNotes()).close();
      // No file of the child may become larger than a megabyte, so that the log cannot be written on.
      const limited = engine(
        `const note = (id) => ({ sql: "insert into note (id, text) values ($1, $2)", params: [id, "x".repeat(50_000)] });
       const committed = [];
       let failures = [];
       for (let id = 0; failures.length === 0; id += 3) {
         const outcomes = await Promise.allSettled([0, 1, 2].map((more) => driver.batch([note(id + more)])));
         failures = outcomes.filter(({ status }) => status === "rejected").map(({ reason }) => reason.code);
         if (failures.length === 0) committed.push(id, id + 1, id + 2);
       }
       const visible = (await driver.all("select id from note order by id")).map(({ id }) => id);
       console.log(JSON.stringify({ committed, failures, visible }));`,
        { command: ["sh", "-c", 'ulimit -f 2048; exec "$0" "$@"'] },
      );
      const { committed, failures, visible } = JSON.parse(await limited.line());
      expect(failures).toEqual(["database_unavailable", "database_unavailable", "database_unavailable"]);
      expect(committed).not.toEqual([]);
      expect(visible).toEqual(committed);
      await limited.exit;
      expect(await noteIds(await open())).toEqual(committed);
    },
  );

  it("are refused with database_full when there is no room, and small ones find room again", async () => {
    const driver = await openNotes();
    const [row] = await driver.all("pragma page_count");
    await driver.all(`pragma max_page_count = ${Number(row?.page_count) + 4}`);
    const outcomes = await Promise.allSettled([
      driver.batch([note(1, "small")]),
      driver.batch([note(2, "x".repeat(100_000))]),
      driver.batch([note(3, "small")]),
    ]);
    expect(outcomes.map(brief)).toEqual(["database_full", "database_full", "database_full"]);
    expect(await noteIds(driver)).toEqual([]);
    expect(await driver.batch([note(1, "small")])).toMatchObject({ outcome: "committed" });
    await driver.all("pragma max_page_count = 1000000");
    expect(await driver.batch([note(2, "x".repeat(100_000))])).toMatchObject({ outcome: "committed" });
    expect(await noteIds(driver)).toEqual([1, 2]);
  });

  it("are whole after their process was killed, and those that were confirmed are there", async () => {
    await (await openNotes()).close();
    const writer = engine(
      `const part = (id, part) => ({ sql: "insert into note (id, text) values ($1, $2)", params: [id, "part " + part] });
       let next = 0;
       const write = async () => {
         for (;;) {
           const id = next += 3;
           await driver.batch([part(id, 0), part(id + 1, 1), part(id + 2, 2)]);
           console.log(id);
         }
       };
       write(); write(); write(); write();`,
    );
    const confirmed: number[] = [];
    while (confirmed.length < 200) confirmed.push(Number(await writer.line()));
    await writer.kill();

    const ids = await noteIds(await open());
    const begun = ids.filter((id) => id % 3 === 0);
    expect(ids).toEqual(begun.flatMap((id) => [id, id + 1, id + 2]));
    expect(begun).toEqual(expect.arrayContaining(confirmed));
  });

  it("may use more statements than are kept prepared", async () => {
    const driver = await openNotes();
    const texts = Array.from({ length: 1_200 }, (_, index) => run(`select ${index % 700} as n`));
    const outcome = await driver.batch(texts);
    expect(outcome.outcome === "committed" && outcome.rows.map(([row]) => row?.n)).toEqual(
      texts.map((_, index) => index % 700),
    );
  });

  it("give each statement a later time, and all rows of a statement the same", async () => {
    const driver = await openNotes();
    const stamp = run("insert into stamp (at) select now_us() from note");
    await driver.batch([note(1, "a"), note(2, "b"), note(3, "c"), run("create table stamp (at bigint)"), stamp, stamp]);
    const stamps = await driver.all("select count(*) as stamps from stamp group by at");
    expect(stamps).toEqual([{ stamps: 3 }, { stamps: 3 }]);
  });

  it("are where signals belong", async () => {
    const driver = await openNotes();
    await driver.batch([note(1, "a"), run("select signal('in time')")]);
    await expect(driver.all("select signal('too late')")).rejects.toThrow("for batches");
  });

  it("keep whole numbers whole where no column says so", async () => {
    const [row] = await (await open()).all("select typeof($1) as whole, typeof($2) as fraction", [1, 1.5]);
    expect(row).toEqual({ whole: "integer", fraction: "real" });
  });
});

describe("a SQLite file", () => {
  it("is made with a log that is written through before a commit counts, unless told otherwise", async () => {
    const settings = async (options?: SqliteOptions) => {
      const driver = await open(path, options);
      const rows = [await driver.all("pragma journal_mode"), await driver.all("pragma synchronous")];
      await driver.close();
      return rows.map(([row]) => Object.values(row ?? {})[0]);
    };
    expect(await settings()).toEqual(["wal", 2]);
    expect(await settings({ synchronous: "normal" })).toEqual(["wal", 1]);
  });

  it("has a place for a key beside it, which is left to others to fill; memory has none", async () => {
    await open();
    expect(sqlite(path).keyFile).toBe(`${path}.key`);
    expect(existsSync(`${path}.key`)).toBe(false);
    expect(sqlite("relative.db").keyFile).toBe(resolve("relative.db.key"));
    expect(sqlite(":memory:").keyFile).toBeUndefined();
  });

  it("belongs to one engine, also under another name and in the same process", async () => {
    const driver = await open();
    const inUse = { code: "database_in_use", detail: expect.stringContaining(`this process (${process.pid})`) };
    await expect(sqlite(path).open()).rejects.toMatchObject(inUse);
    const alias = join(folder, "alias.db");
    symlinkSync(path, alias);
    await expect(sqlite(alias).open()).rejects.toMatchObject(inUse);
    expect(await driver.batch([run("select 1")])).toMatchObject({ outcome: "committed" });
    await driver.close();
    await open(alias);
  });

  it("of another process is refused by its number, until that process is gone", async () => {
    const holder = engine("console.log(process.pid); setInterval(() => {}, 1_000);");
    const pid = Number(await holder.line());
    await expect(sqlite(path).open()).rejects.toMatchObject({
      code: "database_in_use",
      detail: expect.stringMatching(new RegExp(`\\bprocess ${pid}\\b`)),
    });
    await holder.kill();
    const driver = await open();
    const late = engine("console.log('got it');");
    expect(await late.line()).toBe(`database_in_use ${process.pid}`);
    expect(await driver.all("select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("goes to one of several processes that start together", async () => {
    const racers = [1, 2, 3].map(() => engine("console.log('got it'); setInterval(() => {}, 1_000);"));
    const results = await Promise.all(racers.map((racer) => racer.line()));
    expect(results.filter((result) => result === "got it")).toHaveLength(1);
    expect(results.filter((result) => result.startsWith("database_in_use"))).toHaveLength(2);
  });

  it("that is no database is refused, left as it is, and not kept locked", async () => {
    const words = "These are the notes of somebody who chose the wrong file. ".repeat(100);
    writeFileSync(path, words);
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: "database_corrupt" });
    expect(readFileSync(path, "utf8")).toBe(words);
    rmSync(path);
    await openNotes();
  });

  it("that was damaged says so wherever it is read", async () => {
    const whole = await openNotes();
    await whole.batch(Array.from({ length: 200 }, (_, id) => note(id, "x".repeat(1_000))));
    await whole.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 3 * 4_096));

    const driver = await open();
    const sum = "select sum(length(text)) as characters from note";
    await expect(driver.all(sum)).rejects.toMatchObject({ code: "database_corrupt" });
    await expect(driver.readLong(sum)).rejects.toMatchObject({ code: "database_corrupt" });
    await expect(driver.batch([run(sum)])).rejects.toMatchObject({ code: "database_corrupt" });
  });

  it("needs a folder that exists, and cannot be one", async () => {
    for (const wrong of [join(folder, "missing", "holdfast.db"), folder, join(path, "holdfast.db")]) {
      if (wrong.startsWith(path)) await (await open()).close();
      await expect(sqlite(wrong).open()).rejects.toMatchObject({
        code: "database_path_invalid",
        detail: expect.stringContaining(wrong),
      });
    }
    expect(existsSync(join(folder, "missing"))).toBe(false);
  });

  it("that may only be read is refused, and so is a folder", async () => {
    await (await open()).close();
    // A superuser may write everywhere, so that it has to become nobody first.
    const first = process.getuid?.() === 0 ? "process.setuid(65534);" : "";
    const answer = () => engine("console.log('got it');", { first }).line();
    chmodSync(folder, 0o777);
    chmodSync(path, 0o444);
    expect(await answer()).toMatch(/^database_read_only/);
    chmodSync(path, 0o666);
    chmodSync(folder, 0o555);
    expect(await answer()).toMatch(/^database_read_only/);
    chmodSync(folder, 0o700);
  });

  it("that became read-only refuses batches with the same code", async () => {
    const driver = await openNotes();
    await driver.all("pragma query_only = 1");
    await expect(driver.batch([note(1, "no")])).rejects.toMatchObject({ code: "database_read_only" });
  });

  it("that another program locks for too long is unavailable for now", async () => {
    const driver = await openNotes();
    await driver.all("pragma busy_timeout = 1");
    const source = `
      import { DatabaseSync } from "node:sqlite";
      new DatabaseSync(${JSON.stringify(path)}).exec("begin immediate");
      console.log("locked");
      setInterval(() => {}, 1_000);`;
    const other = start([process.execPath, "--input-type=module", "--eval", source]);
    expect(await other.line()).toBe("locked");
    await expect(driver.batch([note(1, "wait")])).rejects.toMatchObject({ code: "database_unavailable" });
    await other.kill();
    expect(await driver.batch([note(1, "wait")])).toMatchObject({ outcome: "committed" });
  });
});

describe("a long read on SQLite", () => {
  const long = `with recursive counting (n) as (select 1 union all select n + 1 from counting where n < 3000000)
    select count(*) as counted from counting`;

  it("holds up neither batches nor short reads", async () => {
    const driver = await openNotes();
    const order: string[] = [];
    const read = driver.readLong(long).then((rows) => {
      order.push("long read");
      return rows;
    });
    for (let id = 0; id < 10; id++) await driver.batch([note(id, "meanwhile")]);
    order.push(`${(await noteIds(driver)).length} batches`);
    expect(await read).toEqual([{ counted: 3_000_000 }]);
    expect(order).toEqual(["10 batches", "long read"]);
  });

  it("cannot write", async () => {
    const driver = await openNotes();
    await driver.batch([note(1, "stays")]);
    await expect(driver.readLong("delete from note")).rejects.toMatchObject({ code: "database_read_only" });
    expect(await noteIds(driver)).toEqual([1]);
  });

  it("is waited for by its process, while the thread that did it is not", async () => {
    const reader = engine("console.log(JSON.stringify(await driver.readLong('select 1 as one')));");
    expect(JSON.parse(await reader.line())).toEqual([{ one: 1 }]);
    expect(await reader.exit).toEqual([0, null]);
  });
});

/** A page in SQLite's log, with its header. */
const LOGGED_PAGE_BYTES = 4_096 + 24;

async function open(file = path, options?: SqliteOptions): Promise<SqlDriver> {
  const driver = await sqlite(file, options).open();
  opened.push(driver);
  return driver;
}

async function openNotes(): Promise<SqlDriver> {
  const driver = await open();
  await driver.batch([run("create table note (id bigint primary key, text text not null)")]);
  return driver;
}

function run(sql: string, params: readonly Scalar[] = [], expected?: number): Statement {
  return expected === undefined ? { sql, params } : { sql, params, expect: expected };
}

function note(id: number, text: string): Statement {
  return run("insert into note (id, text) values ($1, $2)", [id, text]);
}

async function noteIds(driver: SqlDriver): Promise<number[]> {
  return (await driver.all("select id from note order by id")).map(({ id }) => Number(id));
}

function brief(settled: PromiseSettledResult<BatchOutcome>): string {
  return settled.status === "fulfilled" ? settled.value.outcome : settled.reason.code;
}

/** An engine of its own: a process that opens the database and runs the script, or prints the code of the refusal. */
function engine(script: string, { command = [] as readonly string[], first = "" } = {}) {
  const source = `
    import { sqlite } from ${JSON.stringify(new URL("./sqlite.ts", import.meta.url).href)};
    ${first}
    const driver = await sqlite(${JSON.stringify(path)}).open().catch(({ code, detail }) => {
      console.log(code, /process \\(?(\\d+)/.exec(detail)?.[1]);
      process.exit();
    });
    ${script}`;
  return start([...command, process.execPath, "--input-type=module", "--eval", source]);
}

function start([program, ...args]: readonly string[]) {
  const child = spawn(program as string, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, "exit");
  return {
    exit,
    line: async () => String((await lines.next()).value),
    kill: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
