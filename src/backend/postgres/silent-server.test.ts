import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { emptySchema } from "../../../test/postgres.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { hear } from "../contract/hear.ts";
import { type PostgresOptions, postgres } from "./postgres.ts";

it("answers a read on a new connection when the old ones say nothing any more", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 300 });
  await Promise.all(Array.from({ length: 8 }, () => driver.all("select 1")));
  const before = wire.connections();

  wire.silence("questions");
  wire.speakToNewcomers();
  const answers = await Promise.all(Array.from({ length: 8 }, () => driver.all("select 1 as one")));

  expect(answers).toEqual(answers.map(() => [{ one: 1 }]));
  expect(wire.connections()).toBeGreaterThan(before);
});

it("rejects a read, long or not, once patience has ended too", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 100, patienceMilliseconds: 100 });
  await Promise.all([driver.all("select 1"), driver.readLong("select 1")]);

  wire.silence("questions");
  const reads = await Promise.allSettled([driver.all("select 1"), driver.readLong("select 1")]);

  const unavailable = { status: "rejected", reason: { code: "database_unavailable" } };
  expect(reads).toMatchObject([unavailable, unavailable]);
});

it("does not try the idle connections one after the other when one of them is silent", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 300, patienceMilliseconds: 100 });
  // As many as the pool has, each of them used.
  await Promise.all(Array.from({ length: 4 }, () => driver.all("select pg_sleep(0.2)")));

  wire.silence("questions");
  wire.speakToNewcomers();

  expect(await driver.all("select 1 as one")).toEqual([{ one: 1 }]);
});

it("says of a batch that never arrived that its outcome is unknown, and does the next one", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 300 });
  await driver.batch([{ sql: "create table entry (id text not null)", params: [] }]);

  wire.silence("questions");
  wire.speakToNewcomers();
  expect(await driver.batch([insert("lost")])).toMatchObject({
    outcome: "unknown",
    cause: { message: "No answer within 0.3 seconds" },
  });

  expect(await driver.batch([insert("next")])).toMatchObject({ outcome: "committed" });
  expect(await driver.all("select id from entry")).toEqual([{ id: "next" }]);
});

it("says of a batch whose answer never arrived that its outcome is unknown, and finds it done", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 300 });
  await driver.batch([{ sql: "create table entry (id text not null)", params: [] }]);

  wire.silence("answers");
  wire.speakToNewcomers();
  expect(await driver.batch([insert("done")])).toMatchObject({ outcome: "unknown" });

  expect(await driver.all("select id from entry")).toEqual([{ id: "done" }]);
});

it("waits for a server that takes its time as long as something comes", async () => {
  const { driver } = await openBehindWire({ answerMilliseconds: 600 });
  // Each row is larger than what the server keeps back before it sends.
  const slowly = "select n, length(repeat('x', 20000)) as size, repeat('x', 20000) as text, pg_sleep(0.1) as slept";
  const rows = await driver.all(`${slowly} from generate_series(1, 20) as n`);
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

it("gives long reads ten times as long", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 300 });
  await driver.readLong("select 1");
  const before = wire.connections();
  expect(await driver.readLong("select pg_sleep(1), 1 as one")).toMatchObject([{ one: 1 }]);
  expect(wire.connections()).toBe(before);
});

it("notices that nobody speaks to a listener any more, tells it to look, and takes its names again", async () => {
  const { driver, wire, other } = await openBehindWire({ answerMilliseconds: 200 });
  await driver.holdSession("worker");
  const signals = hear(driver);

  wire.silence("answers");
  wire.speakToNewcomers();

  expect(await signals.next()).toBe("");
  await other.batch([{ sql: "select signal('after')", params: [] }]);
  expect(await signals.next()).toBe("after");
  while (!(await other.isSessionHeld("worker")));
});

it("notices a server that falls silent between the greeting and the first statement", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 100, patienceMilliseconds: 100 });

  wire.silence("questions");
  wire.speakToNewcomers("set search_path");

  await expect(driver.all("select 1")).rejects.toMatchObject({ code: "database_unavailable" });
});

it("is given up when it is opened and takes every byte without a word", async () => {
  const { url, schema } = await emptySchema();
  const wire = await wireTo(url);
  wire.silence("questions");
  const opened = postgres(wire.url, { schema, patienceMilliseconds: 100 }).open();
  await expect(opened).rejects.toMatchObject({ code: "database_unavailable" });
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
  await driver.close();

  for (const answer of await asked) {
    expect(answer).toMatchObject({ status: "rejected", reason: { code: "database_closed" } });
  }
  const outcome = await written;
  if (outcome instanceof HoldfastError) expect(outcome.code).toBe("database_closed");
  else expect(outcome).toMatchObject({ outcome: "unknown" });
  await wire.untilNoneIsOpen();
});

it("does not keep a driver from closing on which nothing is under way", async () => {
  const { driver, wire } = await openBehindWire({ answerMilliseconds: 400 });
  await Promise.all(Array.from({ length: 8 }, () => driver.all("select 1")));
  wire.silence("questions");
  await driver.close();
  await wire.untilNoneIsOpen();
});

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
  return { driver, wire, other };
}

type Direction = "questions" | "answers";

/** A proxy that hands bytes on until it is told to swallow those of one direction, without ever closing anything. */
async function wireTo(url: string) {
  const address = new URL(url);
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket; swallowed: Direction | undefined }>();
  let connections = 0;
  let silentFrom: string | undefined;
  let newcomers: Direction | undefined;

  const proxy = createServer((client) => {
    connections += 1;
    const server = connect(Number(address.port), address.hostname);
    const pair = { client, server, swallowed: newcomers };
    pairs.add(pair);
    client.on("data", (bytes) => {
      if (silentFrom !== undefined && bytes.includes(silentFrom)) pair.swallowed = "questions";
      if (pair.swallowed !== "questions") server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (pair.swallowed !== "answers") client.write(bytes);
    });
    for (const [end, otherEnd] of [
      [client, server],
      [server, client],
    ] as const) {
      end.on("error", () => {});
      end.on("close", () => {
        otherEnd.destroy();
        pairs.delete(pair);
      });
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    for (const { client } of pairs) client.destroy();
  });
  const proxied = new URL(url);
  proxied.hostname = "127.0.0.1";
  proxied.port = String((proxy.address() as AddressInfo).port);

  return {
    url: proxied.href,
    connections: () => connections,
    /** From now on, on all connections and on those to come. */
    silence(direction: Direction) {
      newcomers = direction;
      for (const pair of pairs) pair.swallowed = direction;
    },
    /** Connections made from now on work, those that are silent remain so; with a text, until the client sends it. */
    speakToNewcomers(until?: string) {
      newcomers = undefined;
      silentFrom = until;
    },
    async untilNoneIsOpen() {
      for (const { client } of [...pairs]) if (!client.closed) await once(client, "close");
    },
  };
}
