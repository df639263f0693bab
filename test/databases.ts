// The world of a promise test: a real database, SQLite and PostgreSQL in turn, on which runtimes are opened and left.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished } from "vitest";
import { postgres } from "../src/backend/postgres/postgres.ts";
import { openStores } from "../src/backend/sql/open-stores.ts";
import type { Backend, Row, SqlDriver } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import type { Stores } from "../src/backend/stores.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../src/holdfast.ts";
import type { Agent } from "../src/threads/agent.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import { emptySchema, query } from "./postgres.ts";
import { copyReadyFile, giveBack, readySchema } from "./ready-databases.ts";

/** The key that every world seals with. */
export const secretKey = "5ec4e7".padEnd(64, "0");

/** `npm run test:quick` starts no PostgreSQL. */
const isQuick = process.env.HOLDFAST_TESTS === "quick";

/** Where a database is, for a process of its own. */
export type Address = { readonly path: string } | { readonly url: string; readonly schema: string };

export type World = {
  readonly address: Address;
  /** The database, for a runtime that a test opens itself. */
  readonly backend: Backend;
  /**
   * A runtime on this world's database, closed when the test is over. On PostgreSQL there may be several at once; on
   * SQLite the one before has to be closed. It compares stored state and records after every commit, and does not ask
   * for work by itself: a wake-up that gets lost makes the test wait until it fails.
   */
  open(agents: Agent | readonly Agent[], options?: Partial<HoldfastOptions>): Promise<Holdfast>;
  /** What runtimes were told of as errors since the last time. What is left at the end of a test fails it. */
  takeErrors(): readonly unknown[];
  /** The stores themselves, through the runtime that was opened last. */
  stores(): Promise<Stores>;
  /** Plain SQL, past everything that the runtime looks after. */
  sql(text: string): Promise<readonly Row[]>;
  /** Until so many entries were ever left for a thread: a send does not tell when its message is stored. */
  untilLeft(threadId: string, entries: number): Promise<void>;
  /** All that is stored, in a text for each table. */
  tables(): Promise<ReadonlyMap<string, string>>;
  /** All that is stored, in one text: for what must not be there. */
  everything(): Promise<string>;
};

/** Runs the same tests on both databases. `newWorld` is called within a test, and gone with it. */
export function eachDatabase(tests: (newWorld: () => Promise<World>, database: Backend["name"]) => void): void {
  describe("on SQLite", () => tests(readySqliteWorld, "sqlite"));
  describe.skipIf(isQuick)("on PostgreSQL", () => tests(readyPostgresWorld, "postgres"));
}

/** For what only several runtimes on one database can show. */
export function onPostgres(tests: (newWorld: () => Promise<World>) => void): void {
  describe.skipIf(isQuick)("on PostgreSQL", () => tests(readyPostgresWorld));
}

/** For what has to do with the database itself: there is none yet. */
export async function sqliteWorld(): Promise<World> {
  return worldIn(await mkdtemp(join(tmpdir(), "holdfast-test-")));
}

/** Files of their own, one after another, with all tables and no rows: for what is tried very often. Called outside of tests. */
export function sqliteWorlds(): () => Promise<Backend> {
  let folder: Promise<string> | undefined;
  let count = 0;
  afterAll(async () => folder && (await rm(await folder, { recursive: true, force: true })));
  return async () => {
    folder ??= mkdtemp(join(tmpdir(), "holdfast-test-"));
    const path = join(await folder, `${count++}.db`);
    await copyReadyFile(path);
    return sqlite(path);
  };
}

async function readySqliteWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-test-"));
  await copyReadyFile(join(folder, FILE));
  return worldIn(folder);
}

const FILE = "threads.db";

function worldIn(folder: string): World {
  const path = join(folder, FILE);
  return createWorld({
    address: { path },
    backend: sqlite(path),
    connect: async () => {
      // Past the lock that keeps a second engine out: this is a look from outside, like the sqlite3 program's.
      const database = new DatabaseSync(path, { timeout: 60_000 });
      const sql = async (text: string) => {
        // No other program does anything within one turn of the event loop of ours, in which reads share a look at the file.
        await setImmediate();
        const rows = readRows(database, text);
        await setImmediate();
        return rows;
      };
      return { sql, close: async () => database.close() };
    },
    tables: "select name from sqlite_master where type = 'table'",
    remove: () => rm(folder, { recursive: true, force: true }),
  });
}

export async function postgresWorld(): Promise<World> {
  const given = await emptySchema();
  return worldOn(given, given.drop);
}

async function readyPostgresWorld(): Promise<World> {
  const given = await readySchema();
  return worldOn(given, (isAsMade) => (isAsMade ? giveBack(given) : given.drop()));
}

function worldOn({ url, schema }: { readonly url: string; readonly schema: string }, remove: Place["remove"]): World {
  const inSchema = new URL(url);
  inSchema.searchParams.set("options", `-c search_path=${schema}`);
  return createWorld({
    address: { url, schema },
    backend: postgres(url, { schema }),
    connect: async () => ({ sql: (text) => query(inSchema.href, text) as Promise<Row[]>, close: async () => {} }),
    tables: `select table_name as name from information_schema.tables where table_schema = '${schema}'`,
    remove,
  });
}

type Place = {
  readonly address: Address;
  readonly backend: Backend;
  readonly connect: () => Promise<{ sql(text: string): Promise<readonly Row[]>; close(): Promise<void> }>;
  /** Lists the tables. */
  readonly tables: string;
  /** True when nobody but a runtime of the test has worked on the database, and the test went well. */
  readonly remove: (isAsMade: boolean) => Promise<void>;
};

function createWorld({ address, backend: chosen, connect, tables, remove }: Place): World {
  const opened: Holdfast[] = [];
  let driver: SqlDriver | undefined;
  let errors: unknown[] = [];
  let isAsMade = true;
  const backend: Backend = {
    ...chosen,
    async open() {
      driver = await chosen.open();
      return driver;
    },
  };

  onTestFinished(async ({ task }) => {
    await Promise.all(opened.map((holdfast) => holdfast.close()));
    await remove(isAsMade && task.result?.state === "pass");
    expect(errors).toEqual([]);
  });

  async function sql(text: string): Promise<readonly Row[]> {
    const connection = await connect();
    try {
      return await connection.sql(text);
    } finally {
      await connection.close();
    }
  }

  async function readTables(): Promise<ReadonlyMap<string, string>> {
    const names = (await sql(tables)).map(({ name }) => String(name));
    const rows = await Promise.all(names.map((name) => sql(`select * from "${name}"`)));
    const text = (row: Row) => Object.values(row).map(readable);
    return new Map(names.map((name, index) => [name, JSON.stringify((rows[index] ?? []).map(text))]));
  }

  return {
    get address() {
      isAsMade = false;
      return address;
    },
    get backend() {
      isAsMade = false;
      return backend;
    },
    async open(agents, options = {}) {
      const holdfast = await createHoldfast({
        backend,
        agents: [agents].flat(),
        secretKey,
        verifies: true,
        pollMs: 60_000,
        drainMs: 500,
        drainsOnSignal: false,
        onError: (error) => errors.push(error),
        ...options,
      });
      opened.push(holdfast);
      return holdfast;
    },
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken;
    },
    async stores() {
      if (!driver) throw new Error("No runtime was opened yet.");
      return await openStores(driver, { keyFingerprint: createSealing(Buffer.from(secretKey, "hex")).fingerprint });
    },
    async sql(text) {
      if (CHANGES_TABLES.test(text)) isAsMade = false;
      return await sql(text);
    },
    async untilLeft(threadId, entries) {
      const left = `select inbox_seq from threads where id = '${threadId}'`;
      while (Number((await sql(left))[0]?.inbox_seq) < entries) await setImmediate();
    },
    tables: readTables,
    everything: async () => JSON.stringify([...(await readTables())]),
  };
}

const CHANGES_TABLES = /^\s*(alter|create|drop)\b/i;

/** Bytes as the text that they may be. */
function readable(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}

/** An index of words numbers its parts higher than a number can be. */
function readRows(database: DatabaseSync, text: string): Row[] {
  const statement = database.prepare(text);
  statement.setReadBigInts(true);
  const plain = (value: unknown) => {
    if (typeof value !== "bigint") return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  };
  const pairs = (row: object) => Object.entries(row).map(([name, value]) => [name, plain(value)]);
  return statement.all().map((row) => Object.fromEntries(pairs(row)));
}
