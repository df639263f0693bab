import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../test/eventually.ts";
import { heldTimeouts } from "../../../test/held-timeouts.ts";
import { openedPatiently } from "../../../test/opened-patiently.ts";
import { emptySchema, ownPostgres, query } from "../../../test/postgres.ts";
import { hear } from "../contract/hear.ts";
import type { SqlDriver } from "../sql-driver.ts";
import { postgres } from "./postgres.ts";

/** Longer than a server is away on the slowest machine. */
const PATIENCE = 240_000;

/** How long a driver that is closed waits for answers. */
const CLOSE_MILLISECONDS = 5_000;

describe("a connection that is cut", () => {
  it("loses nothing and does nothing twice, however often it happens", async () => {
    const { url, schema, drop } = await emptySchema();
    const driver = await postgres(named(url, schema), { schema, patienceMilliseconds: PATIENCE }).open();
    await createLedger(driver);

    let isWriting = true;
    let cuts = 0;
    const writing = writeLedger(driver, 8, (entries) => entries >= 30 && cuts > 10).finally(() => {
      isWriting = false;
    });
    while (isWriting) cuts += await cutAll(url, schema);
    const entries = await writing;

    expect(cuts).toBeGreaterThan(10);
    expect(await readLedger(driver)).toEqual({ entries, different: entries, counted: entries });
    await driver.close();
    await drop();
  });

  it("in the middle of a batch undoes it, and it is done again", async () => {
    const { url, schema, drop } = await emptySchema();
    const driver = await postgres(named(url, schema), { schema }).open();
    await createLedger(driver);
    const outside = new Client({ connectionString: url });
    await outside.connect();
    await outside.query("select pg_advisory_lock(43)");

    const written = driver.batch([
      { sql: "insert into entry (id) values ($1) returning id", params: ["once"], expect: 1 },
      { sql: "select pg_advisory_xact_lock_shared(43)", params: [] },
    ]);
    const waiting = "select 1 from pg_stat_activity where application_name = $1 and wait_event = 'advisory'";
    while ((await outside.query(waiting, [schema])).rowCount === 0);
    await cutAll(url, schema);
    await outside.end();

    expect(await written).toMatchObject({ outcome: "committed", rows: [[{ id: "once" }], {}] });
    expect(await readLedger(driver)).toMatchObject({ entries: 1 });
    await driver.close();
    await drop();
  });

  it("is made again by itself for those who listen and for the names that are held", async () => {
    const { url, schema, drop } = await emptySchema();
    const driver = await postgres(named(url, schema), { schema }).open();
    const other = await postgres(url, { schema }).open();
    await driver.holdSession("worker");
    const signals = hear(driver);

    await cutAll(url, schema);
    expect(await signals.next()).toBe("");
    await other.batch([{ sql: "select signal('after')", params: [] }]);
    expect(await signals.next()).toBe("after");
    await untilHeld(other, "worker", true);

    await Promise.all([driver.close(), other.close()]);
    await drop();
  });

  it("is not left behind by a driver that was closed", async () => {
    const { url, schema, drop } = await emptySchema();
    const driver = await postgres(named(url, schema), { schema }).open();
    await Promise.all([
      ...Array.from({ length: 20 }, () => driver.all("select 1")),
      ...Array.from({ length: 20 }, () => driver.readLong("select 1")),
    ]);
    await cutAll(url, schema);
    const last = driver.all("select 1 as one");
    await driver.close();
    expect(await last).toEqual([{ one: 1 }]);
    while ((await countConnections(url, schema)) !== 0);
    await drop();
  });

  it("gives back the names of a process that was killed", async () => {
    const { url, schema, drop } = await emptySchema();
    const driver = await postgres(url, { schema }).open();
    const script = `
      import { postgres } from ${JSON.stringify(new URL("./postgres.ts", import.meta.url).href)};
      const driver = await postgres(${JSON.stringify(url)}, { schema: "${schema}" }).open();
      await driver.holdSession("worker");
      console.log("held");`;
    const worker = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(worker.stdout, "data");
    expect(await driver.isSessionHeld("worker")).toBe(true);

    worker.kill("SIGKILL");
    await once(worker, "exit");
    await untilHeld(driver, "worker", false);

    await driver.close();
    await drop();
  });
});

describe("a server that goes away", () => {
  let server: Awaited<ReturnType<typeof ownPostgres>>;

  beforeAll(async () => {
    server = await ownPostgres();
    await server.start();
  });

  afterAll(() => server.stop());

  it("is waited for, and nothing is lost or done twice when it comes back", async () => {
    const driver = await postgres(server.url, { patienceMilliseconds: PATIENCE }).open();
    await createLedger(driver);
    const signals = hear(driver);

    let outages = 0;
    const writing = writeLedger(driver, 8, (entries) => entries >= 40 && outages === 2);
    while (outages < 2) {
      await server.crash();
      await server.start();
      expect(await signals.next()).toBe("");
      outages++;
    }
    const entries = await writing;

    expect(await readLedger(driver)).toEqual({ entries, different: entries, counted: entries });
    await driver.close();
  });

  it("is reported once patience has ended, and used again when it is back", async () => {
    const driver = await openedPatiently(postgres(server.url, { patienceMilliseconds: 200 })).open();
    const signals = hear(driver);
    await server.crash();

    const unavailable = { code: "database_unavailable" };
    const reads = [driver.all("select 1"), driver.readLong("select 1")];
    for (const read of await Promise.allSettled(reads)) {
      expect(read).toMatchObject({ status: "rejected", reason: unavailable });
    }
    // By now it is known of every connection that it is gone: nobody can have sent the batch.
    await expect(driver.batch([{ sql: "select 1", params: [] }])).rejects.toMatchObject(unavailable);

    await server.start();
    expect(await signals.next()).toBe("");
    // A server that is slow to answer is away for longer, to the impatient.
    await eventually(async () => expect(await driver.all("select 1 as one")).toEqual([{ one: 1 }]));
    await driver.close();
  });

  it("does not keep a driver from closing", async () => {
    const patienceMilliseconds = 234;
    // Neither is the name given up because it takes long to be had, nor the read because it takes long to close.
    heldTimeouts(patienceMilliseconds, CLOSE_MILLISECONDS);
    const driver = await openedPatiently(postgres(server.url, { patienceMilliseconds })).open();
    await driver.holdSession("worker");
    await server.crash();
    const read = driver.all("select 1").catch((error: unknown) => error);
    await driver.close();
    expect(await read).toMatchObject({ code: "database_unavailable" });
    await server.start();
  });
});

/** So that only the connections of one test are cut. */
function named(url: string, name: string): string {
  const changed = new URL(url);
  changed.searchParams.set("application_name", name);
  return changed.href;
}

async function cutAll(url: string, name: string): Promise<number> {
  return (await query(url, `select pg_terminate_backend(pid) ${CONNECTIONS}`, [name])).length;
}

async function countConnections(url: string, name: string): Promise<unknown> {
  const [row] = await query(url, `select count(*)::integer as connections ${CONNECTIONS}`, [name]);
  return row?.connections;
}

const CONNECTIONS = "from pg_stat_activity where application_name = $1";

async function createLedger(driver: SqlDriver): Promise<void> {
  await driver.batch([
    { sql: "create table entry (id text not null)", params: [] },
    { sql: "create table counter (entries bigint not null)", params: [] },
    { sql: "insert into counter (entries) values (0)", params: [], expect: 1 },
  ]);
}

/**
 * Several writers at once, each until it has written enough. Nothing in the table keeps an entry from being written twice;
 * an unknown outcome is looked up. Resolves with how many were written.
 */
async function writeLedger(
  driver: SqlDriver,
  writers: number,
  isEnough: (entries: number) => boolean,
): Promise<number> {
  const write = async (id: string): Promise<void> => {
    const written = await driver.batch([
      { sql: "insert into entry (id) values ($1)", params: [id], expect: 1 },
      { sql: "update counter set entries = entries + 1", params: [], expect: 1 },
    ]);
    if (written.outcome === "committed") return;
    expect(written.outcome).toBe("unknown");
    const found = await driver.all("select id from entry where id = $1", [id]);
    if (found.length === 0) await write(id);
  };
  const writer = async (name: number) => {
    let entries = 0;
    for (; !isEnough(entries); entries++) await write(`${name}.${entries}`);
    return entries;
  };
  const written = await Promise.all(Array.from({ length: writers }, (_, name) => writer(name)));
  return written.reduce((sum, entries) => sum + entries, 0);
}

async function readLedger(driver: SqlDriver) {
  const [row] = await driver.all(
    "select count(*) as entries, count(distinct id) as different, (select entries from counter) as counted from entry",
  );
  return row;
}

async function untilHeld(driver: SqlDriver, name: string, isHeld: boolean): Promise<void> {
  while ((await driver.isSessionHeld(name)) !== isHeld) await new Promise((resolve) => setTimeout(resolve, 20));
}
