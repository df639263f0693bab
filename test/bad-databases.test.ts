// Promise: a database that is wrong is refused with a code and a hint, and one that fails for a while costs nothing but
// time: nothing is lost, nothing is done twice, and what could not be stored is said not to be.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type PostgresOptions, postgres } from "../src/backend/postgres/postgres.ts";
import type { Backend, SqlDriver } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { HoldfastError } from "../src/contracts/error.ts";
import { createHoldfast, type Holdfast } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type Agent, agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { withDriver } from "./changed-driver.ts";
import { eachDatabase, secretKey } from "./databases.ts";
import { openedPatiently } from "./opened-patiently.ts";
import { emptySchema, ownPostgres, query } from "./postgres.ts";

const clerk = agent({ slug: "clerk", model: scriptedModel([says("Hi."), says("Hi again.")]) });

/** The error with which opening is refused: ours, with something to do about it. */
async function refusal(opening: Promise<Holdfast>): Promise<HoldfastError> {
  const outcome = await opening.then(
    async (holdfast) => {
      await holdfast.close();
      return "opened";
    },
    (thrown: unknown) => thrown,
  );
  if (!(outcome instanceof HoldfastError)) throw new Error(`It was not refused: ${inspect(outcome)}`);
  expect(outcome.hint).not.toBe("");
  return outcome;
}

eachDatabase((newWorld) => {
  it("refuses what a newer version has written, and leaves it as it is", async () => {
    const world = await newWorld();
    await (await world.open(clerk)).close();
    const [known] = await world.sql("select value from meta where name = 'schema_version'");
    await world.sql("update meta set value = '999' where name = 'schema_version' returning 1");

    expect(await refusal(world.open(clerk))).toMatchObject({ code: "database_too_new" });

    await world.sql(`update meta set value = '${known?.value}' where name = 'schema_version' returning 1`);
    const holdfast = await world.open(clerk);
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    expect(await thread.send("Hello.")).toMatchObject({ status: "completed" });
  });

  it("refuses another secret key, and a key that is none", async () => {
    const world = await newWorld();
    await (await world.open(clerk)).close();

    const another = world.open(clerk, { secretKey: "f".repeat(64) });
    expect(await refusal(another)).toMatchObject({ code: "secret_key_mismatch" });
    expect(await refusal(world.open(clerk, { secretKey: "abc" }))).toMatchObject({ code: "invalid_secret_key" });

    const holdfast = await world.open(clerk);
    expect(await holdfast.threads.list()).toEqual([]);
  });

  it("keeps what a tool has done through an error of the database that nobody thought of", async () => {
    const world = await newWorld();
    let runs = 0;
    let failures = 0;
    const backend = withDriver(world.backend, ({ batch }) => ({
      async batch(statements) {
        const isCommit = statements[0]?.sql.includes("last_commit") ?? false;
        // What comes after the tool, twice.
        if (isCommit && runs > 0 && failures < 2) throw new Error(`Failure ${++failures} of an unknown kind.`);
        return await batch(statements);
      },
    }));
    const charge = tool({
      name: "shop/charge",
      description: "Charges.",
      execute: (_input, { queueMessage }) => {
        queueMessage("and tell the customer");
        return ++runs;
      },
    });
    const script = [callsTool("shop/charge"), says("Charged.")];
    const holdfast = await world.open(agent({ slug: "clerk", model: scriptedModel(script), tools: [charge] }), {
      backend,
    });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Charge.")).toMatchObject({ status: "completed", final_content: "Charged." });

    expect(runs).toBe(1);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
    const texts = (await thread.messages()).map(({ message }) => message.content);
    expect(texts.filter((text) => text === "and tell the customer")).toHaveLength(1);
    expect(world.takeErrors()).toMatchObject(
      [1, 2].map((each) => ({ message: `Failure ${each} of an unknown kind.` })),
    );
  });

  it("runs a tool whose beginning is stored, though the inbox cannot be read right afterwards", async () => {
    const world = await newWorld();
    let runs = 0;
    let isUnreadable = false;
    const unreadable = new Error("The inbox cannot be read.");
    const backend = withDriver(world.backend, ({ all }) => ({
      async all(sql, params) {
        if (isUnreadable && sql.includes("from inbox")) throw unreadable;
        return await all(sql, params);
      },
    }));
    const charge = tool({ name: "shop/charge", description: "Charges.", execute: () => ++runs });
    const script = [callsTool("shop/charge"), says("Charged."), says("By the way, what?")];
    const holdfast = await world.open(agent({ slug: "clerk", model: scriptedModel(script), tools: [charge] }), {
      backend,
      async onPoint(point) {
        if (point === "before commit begun run_tool") await thread.queueMessage("By the way.");
        if (point === "after commit begun run_tool") isUnreadable = true;
        if (point === "before effect run_tool") isUnreadable = false;
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    const outcome = await thread.send("Charge.");
    await thread.wait();

    expect(outcome).toMatchObject({ status: "completed", run: 1 });
    expect(runs).toBe(1);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
    // What could not be read at once was read later.
    expect((await thread.messages()).map(({ message }) => message.content)).toContain("By the way.");
    expect(world.takeErrors()).toEqual([unreadable]);
  });

  it("answers nobody after it was closed, and lets nobody wait for ever", async () => {
    const world = await newWorld();
    const asked = Promise.withResolvers<void>();
    const silent = agent({
      slug: "clerk",
      model: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    const holdfast = await world.open(silent, { drainMs: 10 });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const sent = thread.send("Hello.");
    sent.catch(() => {});
    await asked.promise;
    const waits = [sent, thread.wait(), lastOf(thread.stream())];
    const ended = Promise.allSettled(waits);

    await holdfast.close();

    const closed = { code: "database_closed" };
    expect(await ended).toMatchObject(waits.map(() => ({ status: "rejected", reason: closed })));
    await expect(thread.send("Still there?")).rejects.toMatchObject(closed);
    await expect(thread.messages()).rejects.toMatchObject(closed);
    await expect(holdfast.threads.list()).rejects.toMatchObject(closed);
    await holdfast.close();
  });
});

describe("on SQLite", () => {
  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-bad-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }
  const opening = (path: string) => createHoldfast({ backend: sqlite(path), agents: [clerk] });

  it("refuses a file that is no database, and leaves it as it is", async () => {
    const path = join(newFolder(), "threads.db");
    const words = "These are words, and no database. ".repeat(500);
    writeFileSync(path, words);

    expect(await refusal(opening(path))).toMatchObject({ code: "database_corrupt" });
    expect(readFileSync(path, "utf8")).toBe(words);
  });

  it("refuses a file whose middle was overwritten, once that is read", async () => {
    const folder = newFolder();
    const path = join(folder, "threads.db");
    await (await opening(path)).close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096);
    writeFileSync(path, bytes);

    expect(await refusal(opening(path))).toMatchObject({ code: "database_corrupt" });
  });

  it("refuses a path in a folder that is not there, and one that is a folder", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "threads.db"));

    for (const path of [join(folder, "missing", "threads.db"), join(folder, "threads.db")]) {
      const error = await refusal(opening(path));
      expect(error).toMatchObject({ code: "database_path_invalid" });
      expect(error.message).toContain(path);
    }
    expect(existsSync(join(folder, "missing"))).toBe(false);
  });

  it("refuses a second engine on one file, and the first goes on", async () => {
    const path = join(newFolder(), "threads.db");
    const first = await opening(path);
    onTestFinished(() => first.close());

    expect(await refusal(opening(path))).toMatchObject({ code: "database_in_use" });
    const thread = await first.threads.open("t", { agent: "clerk" });
    expect(await thread.send("Hello.")).toMatchObject({ status: "completed" });
  });

  it("makes no key for what another one has sealed", async () => {
    const folder = newFolder();
    const before = process.env.HOLDFAST_SECRET_KEY;
    delete process.env.HOLDFAST_SECRET_KEY;
    onTestFinished(() => {
      if (before !== undefined) process.env.HOLDFAST_SECRET_KEY = before;
    });
    const lost = join(folder, "lost.db");
    await (await opening(lost)).close();
    const key = readFileSync(`${lost}.key`, "utf8");
    rmSync(`${lost}.key`);
    const given = join(folder, "given.db");
    await (await createHoldfast({ backend: sqlite(given), agents: [clerk], secretKey })).close();

    for (const path of [lost, given]) {
      expect(await refusal(opening(path))).toMatchObject({ code: "secret_key_missing" });
      expect(existsSync(`${path}.key`)).toBe(false);
    }

    writeFileSync(`${lost}.key`, key, { mode: 0o600 });
    await (await opening(lost)).close();
    await (await createHoldfast({ backend: sqlite(given), agents: [clerk], secretKey })).close();
  });

  it.skipIf(process.platform === "win32")("makes files that nobody else may read", async () => {
    const path = join(newFolder(), "threads.db");
    const holdfast = await opening(path);
    onTestFinished(() => holdfast.close());
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Between you and me.");

    const files = readdirSync(dirname(path)).filter((name) => !name.endsWith(".lock"));
    expect(files).toEqual(expect.arrayContaining(["threads.db", "threads.db-wal", "threads.db.key"]));
    for (const name of files)
      expect({ name, others: statSync(join(dirname(path), name)).mode & 0o077 }).toEqual({ name, others: 0 });
  });

  it("goes on by itself after the disk was full, and stores nothing of what it refuses meanwhile", async () => {
    const path = join(newFolder(), "threads.db");
    let driver: SqlDriver | undefined;
    const refusedOnce = Promise.withResolvers<void>();
    const chosen = sqlite(path);
    const backend: Backend = {
      ...chosen,
      async open() {
        const opened = await chosen.open();
        driver = opened;
        return {
          ...opened,
          batch: (statements) =>
            opened.batch(statements).catch((thrown: unknown) => {
              if (isFull(thrown)) refusedOnce.resolve();
              throw thrown;
            }),
        };
      },
    };
    const limitPages = async (pages: number) => void (await driver?.all(`pragma max_page_count = ${pages}`));
    let runs = 0;
    const write = tool({
      name: "shop/write",
      description: "Writes.",
      execute: async () => {
        runs++;
        // No page more than there are.
        await limitPages(1);
        return "x".repeat(300_000);
      },
    });
    const script = [callsTool("shop/write"), says("Written.")];
    const writer = agent({ slug: "writer", model: scriptedModel(script), tools: [write] });
    const errors: unknown[] = [];
    const holdfast = await createHoldfast({
      backend,
      agents: [writer, clerk],
      verifies: true,
      pollMs: 50,
      onError: (error) => errors.push(error),
    });
    onTestFinished(() => holdfast.close());
    const other = await holdfast.threads.open("other", { agent: "clerk" });
    const thread = await holdfast.threads.open("t", { agent: "writer" });
    const sent = thread.send("Write.");
    await refusedOnce.promise;

    const long = "y".repeat(300_000);
    await expect(other.send(long, { key: "long" })).rejects.toMatchObject({ code: "database_full" });
    await expect(other.queueMessage(long)).rejects.toMatchObject({ code: "database_full" });
    const [inbox] = (await driver?.all("select count(*) as count from inbox where thread_id = $1", [other.id])) ?? [];
    expect(inbox).toEqual({ count: 0 });
    await limitPages(1_000_000);

    expect(await sent).toMatchObject({ status: "completed", final_content: "Written." });
    expect(runs).toBe(1);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
    expect(await other.send(long, { key: "long" })).toMatchObject({ status: "completed" });
    expect(errors.filter((error) => !isFull(error))).toEqual([]);
  });
});

describe("on PostgreSQL", () => {
  const opening = (url: string, options: PostgresOptions = {}) =>
    createHoldfast({ backend: postgres(url, options), agents: [clerk], secretKey });

  it("refuses an address that is wrong, in any part of it, without a word about the password", async () => {
    const { url } = await emptySchema();
    const right = new URL(url);
    const wrong = (change: (address: URL) => void) => {
      const address = new URL(url);
      change(address);
      return address.href;
    };
    const secret = "open-sesame-9c1d";
    const addresses = {
      password: wrong((address) => {
        address.password = secret;
      }),
      user: wrong((address) => {
        address.username = "nobody-we-know";
        address.password = secret;
      }),
      database: wrong((address) => {
        address.pathname = "/no-such-database";
      }),
      port: wrong((address) => {
        address.port = "1";
      }),
      host: wrong((address) => {
        address.hostname = "no-such-host.invalid";
      }),
    };
    const codes: Record<string, string> = {};
    for (const [part, address] of Object.entries(addresses)) {
      // Whoever is there answers some time, and whoever is not there does not.
      const patienceMilliseconds = part === "port" ? 200 : 240_000;
      const error = await refusal(opening(address, { patienceMilliseconds }));
      codes[part] = error.code;
      const everything = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + error.stack;
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(right.password);
    }

    expect(codes).toEqual({
      password: "database_refused",
      user: "database_refused",
      database: "database_refused",
      port: "database_unavailable",
      host: "database_url_invalid",
    });
    for (const address of [
      `mysql://root:${secret}@localhost/x`,
      `postgres//root:${secret}@x`,
      `postgres://root:${secret}@[x`,
    ]) {
      try {
        postgres(address);
        throw new Error("It was not refused.");
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: "database_url_invalid" });
        expect(inspect(thrown, { depth: 20 })).not.toContain(secret);
      }
    }
  });

  it("refuses to open without a secret key", async () => {
    const { url } = await emptySchema();
    const before = process.env.HOLDFAST_SECRET_KEY;
    delete process.env.HOLDFAST_SECRET_KEY;
    onTestFinished(() => {
      if (before !== undefined) process.env.HOLDFAST_SECRET_KEY = before;
    });
    const error = await refusal(createHoldfast({ backend: postgres(url), agents: [clerk] }));
    expect(error).toMatchObject({ code: "secret_key_missing" });
  });

  describe("that is restarted", () => {
    let server: Awaited<ReturnType<typeof ownPostgres>>;
    beforeAll(async () => {
      server = await ownPostgres();
      await server.start();
    });
    afterAll(() => server.stop());

    /** An agent of ten steps; before the effects of these it does something else. */
    function worker(before: Readonly<Record<string, () => Promise<unknown>>>, keys: string[]): Agent {
      const steps = 6;
      const work = tool({
        name: "shop/work",
        description: "Works.",
        repeatable: true,
        execute: async (_input, { idempotencyKey }) => {
          keys.push(idempotencyKey);
          await before[`tool ${keys.length}`]?.();
          return "worked";
        },
      });
      return agent({
        slug: "worker",
        model: async (_messages, _context, { step = 0 }) => {
          await before[`model ${step}`]?.();
          return step % (steps + 1) === steps ? says("Done.") : callsTool("shop/work", { step });
        },
        tools: [work],
      });
    }

    it("goes on with every run by itself, and nothing is lost or doubled", async () => {
      const keys: string[] = [];
      const errors: unknown[] = [];
      const sentMeanwhile: Promise<unknown>[] = [];
      let back: Promise<void> | undefined;
      const goAway = async () => {
        await back;
        await server.crash();
        back = server.start();
      };
      const before = {
        "tool 2": async () => {
          await goAway();
          sentMeanwhile.push(other.queueMessage("While you were away.", { key: "away" }));
        },
        "model 4": goAway,
        "tool 6": async () => {
          await goAway();
          await back;
        },
      };
      const holdfast = await createHoldfast({
        // Longer than the server is away on the slowest machine.
        backend: postgres(server.url, { patienceMilliseconds: 240_000 }),
        agents: [worker(before, keys), clerk],
        secretKey,
        verifies: true,
        onError: (error) => errors.push(error),
      });
      onTestFinished(() => holdfast.close());
      const other = await holdfast.threads.open("other", { agent: "clerk" });
      const thread = await holdfast.threads.open("t", { agent: "worker" });

      const outcome = await thread.send("Work.");

      expect(outcome).toMatchObject({ status: "completed", final_content: "Done." });
      expect(keys).toHaveLength(6);
      expect(new Set(keys).size).toBe(6);
      const stored = (await thread.messages()).map(({ message }) => message);
      expect(stored.filter(({ type }) => type === "tool_result").map(({ content }) => content)).toEqual(
        keys.map(() => '"worked"'),
      );
      expect(stored.filter(({ content }) => content === "Done.")).toHaveLength(1);
      await Promise.all(sentMeanwhile);
      await other.wait();
      expect((await other.messages()).map(({ message }) => message.content)).toEqual(["While you were away.", "Hi."]);
      const codes = errors.map((error) => (error instanceof HoldfastError ? error.code : error));
      expect(codes.filter((code) => code !== "database_unavailable")).toEqual([]);
    });

    it("keeps what a tool has done while it can only be read for a while", async () => {
      const configure = async (setting: string) => {
        const writable = new URL(server.url);
        writable.searchParams.set("options", "-c default_transaction_read_only=off");
        await query(writable.href, `alter system ${setting}`);
        await query(server.url, "select pg_reload_conf()");
      };
      const isReadOnly = async () => {
        const [row] = await query(server.url, "show default_transaction_read_only");
        return row?.default_transaction_read_only === "on";
      };
      let runs = 0;
      const charge = tool({
        name: "shop/charge",
        description: "Charges.",
        execute: async () => {
          await configure("set default_transaction_read_only = on");
          while (!(await isReadOnly()));
          return ++runs;
        },
      });
      const refused = Promise.withResolvers<void>();
      const backend = withDriver(postgres(server.url, { schema: "read_only" }), ({ batch }) => ({
        batch: (statements) =>
          batch(statements).catch((thrown: unknown) => {
            if (statements[0]?.sql.includes("last_commit")) refused.resolve();
            throw thrown;
          }),
      }));
      const errors: unknown[] = [];
      const script = [callsTool("shop/charge"), says("Charged.")];
      const holdfast = await createHoldfast({
        backend,
        agents: [agent({ slug: "clerk", model: scriptedModel(script), tools: [charge] })],
        secretKey,
        verifies: true,
        onError: (error) => errors.push(error),
      });
      onTestFinished(() => holdfast.close());
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      const sent = thread.send("Charge.");

      await refused.promise;
      await configure("reset default_transaction_read_only");

      expect(await sent).toMatchObject({ status: "completed", final_content: "Charged." });
      expect(runs).toBe(1);
      expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
      const codes = errors.map((error) => (error instanceof HoldfastError ? error.code : error));
      expect(codes.filter((code) => code !== "database_read_only")).toEqual([]);
    });

    it("can be closed while it is away, also in the middle of a call, and goes on later from what was stored", async () => {
      const keys: string[] = [];
      const away = { patienceMilliseconds: 100, schema: "in_the_middle" };
      const open = (agents: readonly Agent[]) =>
        createHoldfast({
          backend: openedPatiently(postgres(server.url, away)),
          agents,
          secretKey,
          drainMs: 50,
          // Nobody tells that the first one is gone: its lease has to run out.
          leaseMs: 1_000,
          onError: () => {},
        });
      const isAway = Promise.withResolvers<void>();
      const goAway = async () => {
        await server.crash();
        isAway.resolve();
      };
      const first = await open([worker({ "tool 2": goAway }, keys)]);
      const { id } = await first.threads.open("t", { agent: "worker" });
      await (await first.threads.get(id)).queueMessage("Work.");
      await isAway.promise;

      await first.close();

      await server.start();
      const second = await open([worker({}, keys)]);
      onTestFinished(() => second.close());
      const thread = await second.threads.get(id);
      expect(await thread.wait()).toMatchObject({ status: "completed" });
      const calls = await thread.calls();
      expect(calls.map(({ phase }) => phase)).toEqual(calls.map((_, index) => (index === 1 ? "unknown" : "settled")));
      expect(keys).toEqual(calls.map(({ idempotency_key }) => idempotency_key));
    });

    it("can be closed while it is away and nothing is under way", async () => {
      const holdfast = await createHoldfast({
        backend: openedPatiently(postgres(server.url, { patienceMilliseconds: 100, schema: "away" })),
        agents: [clerk],
        secretKey,
        onError: () => {},
      });
      await server.crash();

      const closed = await Promise.allSettled([holdfast.close()]);

      if (closed[0]?.status === "rejected") expect(closed[0].reason).toMatchObject({ code: "database_unavailable" });
      await expect(holdfast.threads.list()).rejects.toMatchObject({ code: "database_closed" });
      await server.start();
    });
  });
});

function isFull(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "database_full";
}

async function lastOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  let last: Item | undefined;
  for await (const item of items) last = item;
  return last;
}
