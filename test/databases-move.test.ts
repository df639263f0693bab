// Promise: a database is moved whole or not at all. What waits goes on at the other place, at every moment at most one of
// the two can be worked on, and nothing of it depends on the process that moves coming to its end.
import { expect, it } from "vitest";
import { MINUTE } from "../src/backend/contract/a-commit.ts";
import { aJob, aJobCommit, claimJob, commitJob, queued } from "../src/backend/contract/a-job.ts";
import { migrate } from "../src/backend/sql/migrate.ts";
import { notCopied, tablesOf } from "../src/backend/sql/move/catalogue.ts";
import { migrations } from "../src/backend/sql/schema.ts";
import { checkDatabase, moveDatabase } from "../src/database.ts";
import { startProcess } from "./another-process.ts";
import { type Busy, expectBusy, fill, type Happened, openBusy } from "./busy-database.ts";
import { withDriver } from "./changed-driver.ts";
import { postgresWorld, secretKey, sqliteWorld, type World } from "./databases.ts";

const worlds = { SQLite: sqliteWorld, PostgreSQL: postgresWorld } as const;
type Kind = keyof typeof worlds;
const directions: readonly (readonly [Kind, Kind])[] = [
  ["SQLite", "PostgreSQL"],
  ["PostgreSQL", "SQLite"],
  ["SQLite", "SQLite"],
  ["PostgreSQL", "PostgreSQL"],
];

const newHappened = (): Happened => ({ payments: [], reminders: [] });

const moving = (from: Pick<World, "backend">, to: Pick<World, "backend">, parts: object = {}) =>
  moveDatabase({ from: from.backend, to: to.backend, secretKey, ...parts });

async function busyWorld(kind: Kind): Promise<{ world: World; busy: Busy; happened: Happened }> {
  const world = await worlds[kind]();
  const happened = newHappened();
  return { world, busy: await fill(world, happened), happened };
}

it.each(directions)("everything goes on where it was moved to: from %s to %s", async (from, to) => {
  const { world, busy, happened } = await busyWorld(from);
  const target = await worlds[to]();
  const [before] = await world.sql("select max(epoch) as epoch, count(*) as threads from threads");
  await world.sql("update threads set lease_by = 'somebody', lease_until = 4102444800000000 where thread_key = 'chat'");

  const seen: string[] = [];
  const moved = await moving(world, target, { onProgress: (done: number, of: number) => seen.push(`${done}/${of}`) });

  expect(moved.tables.find(({ table }) => table === "threads")).toMatchObject({ rows: Number(before?.threads) });
  expect(moved.rows).toBe(moved.tables.reduce((sum, { rows }) => sum + rows, 0));
  expect(seen.at(-1)).toBe(`${moved.rows * 2}/${moved.rows * 2}`);
  const [after] = await target.sql(
    "select max(epoch) as epoch, max(lease_until) as lease, count(lease_by) as held from threads",
  );
  const numbers = [after?.epoch, after?.lease, after?.held].map(Number);
  expect(numbers).toEqual([Number(before?.epoch) + 1, 0, 0]);
  await expect(openBusy(world, happened)).rejects.toMatchObject({
    code: "database_moved",
    detail: expect.stringContaining(target.backend.place),
  });
  await expect(moving(world, await worlds[to]())).rejects.toMatchObject({ code: "database_moved" });
  await expectBusy(target, happened, busy);
});

it.each(directions)("jobs of the gateway go on where they were moved to: from %s to %s", async (from, to) => {
  const [world, target] = [await worlds[from](), await worlds[to]()];
  const before = await world.open([]);
  const old = await world.stores();
  const dedupe = { hash: "hash", keep_us: MINUTE };
  await queued(old, aJob({ id: "done", dedupe }), aJob({ id: "running" }), aJob({ id: "waiting" }));
  const stream = [{ type: "job.completed", data: "{}", job_id: "done" }];
  const done = await claimJob(old);
  if (done) await commitJob(old, aJobCommit(done, { stream }));
  const running = await claimJob(old);
  await before.close();

  await moving(world, target);

  await target.open([]);
  const moved = await target.stores();
  const { jobs, events } = moved.gateway;
  expect(running && (await jobs.commit(aJobCommit(running)))).toEqual({ outcome: "lease_lost" });
  expect(await jobs.enqueue([aJob({ dedupe })])).toEqual([{ outcome: "duplicate", existing_job_id: "done" }]);
  await queued(moved, aJob({ id: "later" }));
  const claimed: string[] = [];
  for (let job = await claimJob(moved); job; job = await claimJob(moved)) claimed.push(`${job.id} ${job.attempt}`);
  expect(claimed).toEqual(["running 2", "waiting 1", "later 1"]);
  await events.append([{ type: "scheduler.tick", data: "{}", job_id: null }]);
  expect((await events.read({ after: 0, limit: 9 })).map(({ id, type }) => `${id} ${type}`)).toEqual([
    ...["1 job.started", "2 job.completed", "3 job.started", "4 job.started", "5 job.started", "6 job.started"],
    "7 scheduler.tick",
  ]);
});

it("everything goes on after it was moved there and back", async () => {
  const { world, busy, happened } = await busyWorld("SQLite");
  const [there, back] = [await postgresWorld(), await sqliteWorld()];
  await moving(world, there);
  await moving(there, back);
  await expectBusy(back, happened, busy);
});

it.each(Object.keys(worlds) as Kind[])("%s takes no write once it was moved, whoever had it open", async (kind) => {
  const { world, busy, happened } = await busyWorld(kind);
  // Without a worker nobody can be told that it is there; on SQLite nobody else can be.
  const holdfast = kind === "PostgreSQL" ? await world.open([], { runs: false }) : undefined;
  const target = await sqliteWorld();
  await moving(world, target);
  if (holdfast) {
    await expect(holdfast.threads.delete(busy.chat)).rejects.toMatchObject({ code: "database_moved" });
  }
  await expect(world.sql("update threads set status = 'idle'")).rejects.toThrow("database_moved");
  await expect(world.sql("delete from messages")).rejects.toThrow("database_moved");
  expect(happened.payments).toEqual([]);
});

it("refuses while somebody works on the old database or on the new one, and names them", async () => {
  const { world, happened } = await busyWorld("PostgreSQL");
  const target = await sqliteWorld();
  const holdfast = await openBusy(world, happened);
  const [worker] = await world.sql("select id from workers");
  await expect(moving(world, target)).rejects.toMatchObject({
    code: "database_in_use",
    detail: expect.stringContaining(String(worker?.id)),
  });
  await holdfast.close();
  const other = await target.open([]);
  await expect(moving(world, target)).rejects.toMatchObject({
    code: "database_in_use",
    detail: expect.stringContaining(`(${process.pid})`),
  });
  await other.close();
  const third = await postgresWorld();
  const opened = await third.open([]);
  await expect(moving(world, third)).rejects.toMatchObject({ code: "database_in_use" });
  await opened.close();
  await moving(world, third);
});

it.each(Object.keys(worlds) as Kind[])(
  "refuses a database on %s that is not empty, and leaves it as it is",
  async (kind) => {
    const [one, other] = [await busyWorld(kind), await busyWorld(kind)];
    const before = await other.world.everything();
    await expect(moving(one.world, other.world)).rejects.toMatchObject({ code: "move_target_not_empty" });
    expect(await other.world.everything()).toBe(before);
    await expectBusy(one.world, one.happened, one.busy);
  },
);

it("refuses to move a database to itself", async () => {
  const world = await postgresWorld();
  await (await world.open([])).close();
  await expect(moving(world, world)).rejects.toMatchObject({ code: "move_target_not_empty" });
  await world.open([]);
});

it("refuses another key, and none, before anything is changed", async () => {
  const { world, busy, happened } = await busyWorld("SQLite");
  const target = await postgresWorld();
  const other = "0ddba11".padEnd(64, "0");
  await expect(moving(world, target, { secretKey: other })).rejects.toMatchObject({ code: "secret_key_mismatch" });
  await expect(moving(world, target, { secretKey: undefined })).rejects.toMatchObject({ code: "secret_key_missing" });
  await expectBusy(world, happened, busy);
  await target.open([]);
});

it.each(directions)("notices a copied row that somebody changes: from %s to %s", async (from, to) => {
  const { world, busy, happened } = await busyWorld(from);
  const target = await worlds[to]();
  // While it is read again, but before it was.
  let isChanged = false;
  const backend = withDriver(target.backend, ({ all }) => ({
    async all(sql, params) {
      if (!isChanged && /from messages .*order by/s.test(sql)) {
        isChanged = true;
        await target.sql("update messages set envelope = replace(envelope, 'Hello', 'Hallo')");
      }
      return await all(sql, params);
    },
  }));
  await expect(moving(world, { backend })).rejects.toMatchObject({
    code: "move_checksum_mismatch",
    detail: expect.stringContaining("messages"),
  });
  await expect(openBusy(target, happened)).rejects.toMatchObject({ code: "database_incomplete" });
  await moving(world, target);
  await expectBusy(target, happened, busy);
});

it.each(Object.keys(worlds) as Kind[])("%s: tells whether a database is whole, and what is not", async (kind) => {
  const { world } = await busyWorld(kind);
  const look = async (key = secretKey) => {
    const driver = await world.backend.open();
    return await checkDatabase(world.backend, driver, { secretKey: key }).finally(() => driver.close());
  };
  expect(await look()).toMatchObject({ problems: [], unnamed: { contents: 0, bytes: 0 } });
  const other = await look("0ddba11".padEnd(64, "0"));
  expect(other.problems).toEqual([expect.stringContaining("another key")]);
  await world.sql("delete from blobs");
  await world.sql("delete from memory_words");
  await world.sql("delete from events where seq = 0");
  await world.sql("delete from messages where seq = 0");
  const { problems } = await look();
  expect(problems).toEqual([
    expect.stringMatching(/^1 files have lost/),
    expect.stringMatching(/threads do not end/),
    expect.stringMatching(/threads have lost messages/),
    expect.stringMatching(/^2 memories cannot be found/),
  ]);
});

const program = new URL("./dying-move.ts", import.meta.url).href;

it.each(directions)("can be killed in the middle, and begun again: from %s to %s", async (from, to) => {
  const { world, busy, happened } = await busyWorld(from);
  const target = await worlds[to]();
  const given = { from: world.address, to: target.address, before: "insert into messages" };
  const mover = startProcess(world, program, given);
  expect(await mover.says()).toBe("there");
  if (from === "PostgreSQL") {
    await expect(openBusy(world, happened)).rejects.toMatchObject({
      code: "database_moved",
      detail: expect.stringContaining("is being moved"),
    });
  }
  await mover.end("SIGKILL");
  await expect(openBusy(target, happened)).rejects.toMatchObject({ code: "database_incomplete" });
  // The old one is what it was, and can be worked on.
  const holdfast = await openBusy(world, happened);
  await (await holdfast.threads.open("since", { agent: "shop" })).send("Hello.");
  await holdfast.threads.delete((await holdfast.threads.open("since", { agent: "shop" })).id);
  await holdfast.close();
  await moving(world, target);
  await expectBusy(target, happened, busy);
});

it.each(directions)("can be killed at the very end, and is finished then: from %s to %s", async (from, to) => {
  const { world, busy, happened } = await busyWorld(from);
  const target = await worlds[to]();
  const mover = startProcess(world, program, {
    ...{ from: world.address, to: target.address, before: "delete from meta" },
  });
  expect(await mover.says()).toBe("there");
  await mover.end("SIGKILL");
  await expect(openBusy(world, happened)).rejects.toMatchObject({ code: "database_moved" });
  await expect(openBusy(target, happened)).rejects.toMatchObject({ code: "database_incomplete" });
  expect(await moving(world, target)).toEqual({ rows: 0, tables: [] });
  await expectBusy(target, happened, busy);
});

it("counts for nothing when somebody has opened the old database meanwhile", async () => {
  const { world, busy, happened } = await busyWorld("PostgreSQL");
  const target = await sqliteWorld();
  // Whoever moves has lost its session for a moment, and is taken for dead.
  const elsewhere = { ...world, backend: withDriver(world.backend, () => ({ isSessionHeld: async () => false })) };
  let opened: Promise<unknown> | undefined;
  const backend = withDriver(target.backend, ({ batch }) => ({
    async batch(statements) {
      opened ??= statements.some(({ sql }) => sql.includes("insert into messages")) ? intrude() : undefined;
      await opened;
      return await batch(statements);
    },
  }));
  const intrude = async () => {
    const driver = await elsewhere.backend.open();
    await migrate(driver);
    await driver.close();
  };
  await expect(moving(world, { backend })).rejects.toMatchObject({ code: "move_overtaken" });
  await expect(target.open([])).rejects.toMatchObject({ code: "database_incomplete" });
  await expectBusy(world, happened, busy);
});

it("can be interrupted, and leaves the old database as it was", async () => {
  const { world, busy, happened } = await busyWorld("SQLite");
  const interrupt = new AbortController();
  const parts = { signal: interrupt.signal, onProgress: () => interrupt.abort() };
  await expect(moving(world, await postgresWorld(), parts)).rejects.toMatchObject({ code: "aborted" });
  await expectBusy(world, happened, busy);
});

it("refuses a schema with a table that nobody knows", async () => {
  const { world, busy, happened } = await busyWorld("PostgreSQL");
  await world.sql("create table invoices (id text primary key)");
  const refused = moving(world, await sqliteWorld());
  await expect(refused).rejects.toMatchObject({
    code: "move_tables_differ",
    detail: expect.stringContaining("invoices"),
  });
  await expectBusy(world, happened, busy);
});

it.each(Object.keys(worlds) as Kind[])("%s: every table is moved, or known not to be", async (kind) => {
  const world = await worlds[kind]();
  const driver = await world.backend.open();
  try {
    await migrate(driver);
    const name = driver.name;
    const made = migrations.flat().flatMap((each) => {
      const text = typeof each === "string" ? each : each[name];
      const found = /^\s*create table (\w+)/.exec(text);
      return found ? [found[1]] : [];
    });
    const known = (await tablesOf(driver)).map((table) => table.name);
    expect(known).toEqual([...made, "meta"].toSorted());
    for (const table of await tablesOf(driver)) expect(table.key, table.name).not.toEqual([]);
    expect([...notCopied]).toEqual(["memory_words", "workers", "meta"]);
  } finally {
    await driver.close();
  }
});
