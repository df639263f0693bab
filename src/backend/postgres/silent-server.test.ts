// By a clock that stands still until a test moves it: no answer is late because the machine is slow.
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { holdLock } from "../../../test/held-lock.ts";
import { emptySchema } from "../../../test/postgres.ts";
import { wireTo } from "../../../test/silent-wire.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { hear } from "../contract/hear.ts";
import { type PostgresOptions, postgres } from "./postgres.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

it("answers a read on a new connection when the old ones say nothing any more", async () => {
  const { driver, wire, openAll } = await openBehindWire({ answerMilliseconds: 300 });
  await openAll();
  const before = wire.connections();

  wire.silence("questions");
  wire.speakToNewcomers();
  const answers = Promise.all(Array.from({ length: 8 }, () => driver.all("select 1 as one")));
  await vi.advanceTimersByTimeAsync(400);

  expect(await answers).toEqual(Array.from({ length: 8 }, () => [{ one: 1 }]));
  expect(wire.connections()).toBeGreaterThan(before);
});

it("rejects a read, long or not, once patience has ended too", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 100, patienceMilliseconds: 100 });
  await Promise.all([driver.all("select 1"), driver.readLong("select 1")]);

  wire.silence("questions");
  const reads = await asTimePasses(Promise.allSettled([driver.all("select 1"), driver.readLong("select 1")]));

  const unavailable = { status: "rejected", reason: { code: "database_unavailable" } };
  expect(reads).toMatchObject([unavailable, unavailable]);
});

it("does not try the idle connections one after the other when one of them is silent", async () => {
  const { driver, wire, openAll } = await openBehindWire({ answerMilliseconds: 300, patienceMilliseconds: 100 });
  await openAll();

  wire.silence("questions");
  wire.speakToNewcomers();
  const read = driver.all("select 1 as one");
  // As long as it takes to notice the silence of one of them.
  await vi.advanceTimersByTimeAsync(400);

  expect(await read).toEqual([{ one: 1 }]);
});

it("says of a batch that never arrived that its outcome is unknown, and does the next one", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 300 });
  await driver.batch([{ sql: "create table entry (id text not null)", params: [] }]);

  wire.silence("questions");
  wire.speakToNewcomers();
  const lost = driver.batch([insert("lost")]);
  await vi.advanceTimersByTimeAsync(400);
  expect(await lost).toMatchObject({ outcome: "unknown", cause: { message: "No answer within 0.3 seconds" } });

  expect(await driver.batch([insert("next")])).toMatchObject({ outcome: "committed" });
  expect(await driver.all("select id from entry")).toEqual([{ id: "next" }]);
});

it("says of a batch whose answer never arrived that its outcome is unknown, and finds it done", async () => {
  const { driver, wire, other } = await openBehindWire({ answerMilliseconds: 300 });
  await driver.batch([{ sql: "create table entry (id text not null)", params: [] }]);

  wire.silence("answers");
  wire.speakToNewcomers();
  const written = driver.batch([insert("done")]);
  while ((await other.all("select id from entry")).length === 0);
  await vi.advanceTimersByTimeAsync(400);
  expect(await written).toMatchObject({ outcome: "unknown" });

  expect(await driver.all("select id from entry")).toEqual([{ id: "done" }]);
});

it("waits for a server that takes its time as long as something comes", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 600 });
  const [before] = await driver.all("select pg_backend_pid() as pid");

  wire.keepAnswersTo("bit by bit");
  const read = driver.all("select pg_backend_pid() as pid, repeat('x', 1000) as text /* bit by bit */");
  for (let byte = 0; byte < 20; byte++) {
    await wire.handOnOneByte();
    await vi.advanceTimersByTimeAsync(500);
  }
  wire.handOnAll();

  // On the same connection: it was never given up.
  expect(await read).toEqual([{ pid: before?.pid, text: "x".repeat(1_000) }]);
});

it("gives long reads ten times as long", async () => {
  const { driver, hold } = await openBehindWire({ answerMilliseconds: 300 });
  const [before] = await driver.readLong("select pg_backend_pid() as pid");
  const lock = await hold();

  const read = driver.readLong(`select pg_backend_pid() as pid, ${lock.wait}`);
  await lock.untilWaiting(1);
  await vi.advanceTimersByTimeAsync(2_900);
  await lock.release();

  // On the same connection: it was never given up.
  expect(await read).toMatchObject([{ pid: before?.pid }]);
});

it("notices that nobody speaks to a listener any more, tells it to look, and takes its names again", async () => {
  const { driver, wire, other } = await openBehindWire({ answerMilliseconds: 200 });
  await driver.holdSession("worker");
  const signals = hear(driver);

  wire.silence("answers");
  wire.speakToNewcomers();
  await vi.advanceTimersByTimeAsync(600);

  expect(await signals.next()).toBe("");
  await other.batch([{ sql: "select signal('after')", params: [] }]);
  expect(await signals.next()).toBe("after");
  while (!(await other.isSessionHeld("worker")));
});

it("notices a server that falls silent between the greeting and the first statement", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 100, patienceMilliseconds: 100 });

  wire.silence("questions");
  const greeted = wire.speakToNewcomers("set search_path");
  const read = driver.all("select 1");
  read.catch(() => {});
  await vi.advanceTimersByTimeAsync(200);
  await greeted;

  await expect(asTimePasses(read)).rejects.toMatchObject({ code: "database_unavailable" });
});

it("is given up when it is opened and takes every byte without a word", async () => {
  const { url, schema } = await emptySchema();
  const wire = await wireTo(url);
  wire.silence("questions");
  const opened = postgres(wire.url, { schema, patienceMilliseconds: 100 }).open();
  await expect(asTimePasses(opened)).rejects.toMatchObject({ code: "database_unavailable" });
});

it("does not keep a driver from closing, whatever is under way", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 400, patienceMilliseconds: 60_000 });
  await driver.holdSession("worker");
  await Promise.all([driver.all("select 1"), driver.readLong("select 1")]);

  wire.silence("answers");
  const asked = Promise.allSettled([
    // Ten of them: for most there is no connection yet, and there will be none.
    ...Array.from({ length: 10 }, () => driver.all("select 1")),
    driver.readLong("select 1"),
  ]);
  const written = driver.batch([{ sql: "select 1", params: [] }]).catch((error: unknown) => error);
  await asTimePasses(driver.close());

  for (const answer of await asked) {
    expect(answer).toMatchObject({ status: "rejected", reason: { code: "database_closed" } });
  }
  const outcome = await written;
  if (outcome instanceof HoldfastError) expect(outcome.code).toBe("database_closed");
  else expect(outcome).toMatchObject({ outcome: "unknown" });
  await asTimePasses(wire.untilNoneIsOpen());
});

it("does not keep a driver from closing on which nothing is under way", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 400 });
  await Promise.all(Array.from({ length: 8 }, () => driver.all("select 1")));
  wire.silence("questions");
  await asTimePasses(driver.close());
  await asTimePasses(wire.untilNoneIsOpen());
});

/** Moves the clock on until this is settled: for what waits for nobody but the clock. */
async function asTimePasses<Value>(settles: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  settles.then(settled, settled);
  while (!isSettled) {
    await vi.advanceTimersByTimeAsync(20);
    await new Promise(setImmediate);
  }
  return await settles;
}

function insert(id: string) {
  return { sql: "insert into entry (id) values ($1)", params: [id], expect: 1 };
}

/** One driver whose bytes go through a wire that can be made silent, and another that goes past it. */
async function openBehindWire(options: PostgresOptions) {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const wire = await wireTo(url);
  const other = await postgres(url, { schema }).open();
  onTestFinished(() => other.close());
  const driver = await postgres(wire.url, { ...options, schema }).open();
  onTestFinished(() => driver.close());
  const hold = () => holdLock(url, schema);
  /** Has every connection of the pool open and idle, with no other on its way. */
  const openAll = async () => {
    const lock = await hold();
    const reads = Array.from({ length: POOL_SIZE }, () => driver.all(`select ${lock.wait}`));
    await lock.untilWaiting(POOL_SIZE);
    await lock.release();
    await Promise.all(reads);
  };
  return { driver, wire, other, hold, openAll };
}

/** Unless a driver is told another one. */
const POOL_SIZE = 4;
