// What every SQL driver promises, as tests. They know the port and nothing of the database behind it, and bring their
// own small tables.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BatchOutcome, Scalar, SqlDriver, Statement } from "./sql-driver.ts";

/**
 * Runs the suite. `open` gives a driver on an empty database; `openSecond`, for databases that several processes share,
 * another one on the database that `open` gave last.
 */
export function describeSqlDriver(
  name: string,
  open: () => Promise<SqlDriver>,
  openSecond?: () => Promise<SqlDriver>,
): void {
  describe(`SQL driver on ${name}`, () => {
    let driver: SqlDriver;

    beforeEach(async () => {
      driver = await open();
      await driver.batch([
        run("create table account (id text primary key, balance bigint not null, rate double precision, note text)"),
        run("create table job (id bigint primary key, taken bigint not null default 0, due_at bigint not null)"),
        run("create index job_due on job (due_at)"),
      ]);
    });

    afterEach(() => driver.close());

    describe("values", () => {
      it("come back as they went in", async () => {
        const accounts = [
          { id: "whole", balance: Number.MAX_SAFE_INTEGER, rate: 0.1, note: '{"b":1,"a":[ 2 ]}' },
          { id: "negative", balance: -4, rate: -1e-9, note: "" },
          { id: "", balance: 0, rate: 3, note: "naïve 🦀 'quoted' \"twice\" \\ $1 ?1\nline" },
          { id: "nothing", balance: 1, rate: null, note: null },
        ];
        await driver.batch(accounts.map((account) => run(insertAccount, Object.values(account))));
        for (const account of accounts) {
          expect(await driver.all("select * from account where id = $1", [account.id])).toEqual([account]);
        }
      });

      it("of bytes come back as they went in, also from a long read", async () => {
        await driver.batch([run("create table part (id text primary key, content blob)")]);
        const all = {
          none: new Uint8Array(0),
          every: Uint8Array.from({ length: 256 }, (_, byte) => byte),
          inner: new Uint8Array([1, 0, 255, 92, 1]).subarray(1, 4),
          buffer: Buffer.from("naïve"),
          absent: null,
        };
        const insert = "insert into part (id, content) values ($1, $2)";
        await driver.batch(Object.entries(all).map((part) => run(insert, part)));
        for (const [id, content] of Object.entries(all)) {
          for (const read of [driver.all, driver.readLong]) {
            const [row] = await read("select content from part where id = $1", [id]);
            expect(row?.content && [...(row.content as Uint8Array)]).toEqual(content && [...content]);
            expect(row?.content instanceof Uint8Array).toBe(content !== null);
          }
        }
      });

      it("are numbers where the database counts", async () => {
        await driver.batch([openAccount("a", 1), openAccount("b", 2)]);
        expect(await driver.all("select count(*) as accounts, max(balance) as most from account")).toEqual([
          { accounts: 2, most: 2 },
        ]);
      });

      it("of whole numbers stay whole, also where no column says so", async () => {
        const rows = await driver.all(
          "select cast(cast($1 as bigint) as text) as text, cast($1 as bigint) as number",
          [1_800_000_000_000_000],
        );
        expect(rows).toEqual([{ text: "1800000000000000", number: 1_800_000_000_000_000 }]);
      });

      it("are put where their number stands, however often, and never into quoted text", async () => {
        const sql = `select cast($2 as text) as second, cast($1 as text) as first, cast($1 as text) as again,
          'it''s $1' as quoted, 1 as "a $2" /* $3 */ -- $4`;
        expect(await driver.all(sql, ["one", "two"])).toEqual([
          { second: "two", first: "one", again: "one", quoted: "it's $1", "a $2": 1 },
        ]);
      });

      it("may be more than nine", async () => {
        const columns = Array.from({ length: 12 }, (_, index) => `cast($${index + 1} as text) as c${index + 1}`);
        const params = columns.map((_, index) => `value ${index + 1}`);
        const [row] = await driver.all(`select ${columns.join(", ")}`, params);
        expect(Object.values(row ?? {})).toEqual(params);
      });

      it("that are too few or too many are an error", async () => {
        const sql = "select cast($1 as text) as a, cast($2 as text) as b";
        await expect(driver.all(sql, ["one"])).rejects.toThrow();
        await expect(driver.all(sql, ["one", "two", "three"])).rejects.toThrow();
        await expect(driver.batch([openAccount("a", 1), run(insertAccount, ["b"])])).rejects.toThrow();
        expect(await balances(driver)).toEqual({});
      });

      it("of a kind that no column holds are an error, however often, and the driver works on", async () => {
        const wrong = [[], [1], {}, { id: "a" }, new Date(0), true, 10n, undefined, Symbol("a"), () => "a"];
        const sql = "select cast($1 as text) as value";
        // More than there are connections, so that one that was not given back would be missed.
        for (const value of [...wrong, ...wrong] as Scalar[]) {
          await expect(driver.all(sql, [value])).rejects.toThrow(TypeError);
          await expect(driver.readLong(sql, [value])).rejects.toThrow(TypeError);
          const batch = [openAccount("a", 1), run(insertAccount, ["b", 2, null, value]), openAccount("c", 3)];
          await expect(driver.batch(batch)).rejects.toThrow(TypeError);
        }
        const reads = Array.from({ length: 20 }, () => driver.all(sql, ["still here"]));
        expect(await Promise.all(reads)).toEqual(reads.map(() => [{ value: "still here" }]));
        expect(await driver.readLong(sql, ["still here"])).toEqual([{ value: "still here" }]);
        expect(await balances(driver)).toEqual({});
      });
    });

    describe("a batch", () => {
      it("returns the rows of each statement", async () => {
        const outcome = await driver.batch([
          openAccount("a", 1),
          run("insert into account (id, balance) values ($1, $2), ($3, $4) returning id", ["b", 2, "c", 3]),
          run("update account set balance = balance + 1 where balance > $1", [1]),
          run("select id, balance from account order by id"),
          run("delete from account where id = $1 returning balance", ["a"]),
        ]);
        expect(outcome).toEqual({
          outcome: "committed",
          rows: [
            [],
            [{ id: "b" }, { id: "c" }],
            [],
            [
              { id: "a", balance: 1 },
              { id: "b", balance: 3 },
              { id: "c", balance: 4 },
            ],
            [{ balance: 1 }],
          ],
        });
        expect(await balances(driver)).toEqual({ b: 3, c: 4 });
      });

      it("of nothing is committed", async () => {
        expect(await driver.batch([])).toEqual({ outcome: "committed", rows: [] });
      });

      it("may be long", async () => {
        const statements = Array.from({ length: 500 }, (_, index) => openAccount(`account ${index}`, index, 1));
        expect(await driver.batch(statements)).toMatchObject({ outcome: "committed" });
        expect(Object.keys(await balances(driver))).toHaveLength(500);
      });

      it("expects rows changed by a write, and rows returned by a select or a write that returns some", async () => {
        await driver.batch([openAccount("a", 1), openAccount("b", 2)]);
        const met: Statement[] = [
          run("update account set balance = balance where balance > $1", [0], 2),
          run("update account set balance = balance where balance > $1 returning id", [1], 1),
          run("update account set balance = 0 where id = $1", ["nobody"], 0),
          run("insert into account (id, balance) values ($1, 5) on conflict (id) do nothing", ["a"], 0),
          run("insert into account (id, balance) values ($1, 5) on conflict (id) do update set balance = 5", ["a"], 1),
          run("insert into account (id, balance) values ($1, 5) on conflict (id) do nothing returning id", ["a"], 0),
          run("select id from account", [], 2),
          run("delete from account", [], 2),
        ];
        for (const statement of met) {
          expect(await driver.batch([statement, undo])).toEqual({ outcome: "refused", at: 1 });
          const wrong = { ...statement, expect: (statement.expect ?? 0) + 1 };
          expect(await driver.batch([run("insert into job (id, due_at) values (1, 1)"), wrong])).toEqual({
            outcome: "refused",
            at: 1,
          });
        }
        expect(await driver.batch(met)).toMatchObject({ outcome: "committed" });
        expect(await balances(driver)).toEqual({});
      });

      it("that is refused names the first wrong statement and changes nothing", async () => {
        await driver.batch([openAccount("a", 1)]);
        const outcome = await driver.batch([
          openAccount("b", 2),
          run("update account set balance = 9 where id = $1", ["a"], 1),
          run("update account set balance = 9 where id = $1", ["nobody"], 1),
          run("update account set balance = 9 where id = $1", ["nobody either"], 1),
        ]);
        expect(outcome).toEqual({ outcome: "refused", at: 2 });
        expect(await balances(driver)).toEqual({ a: 1 });
      });

      it("with a statement that fails is rejected and changes nothing", async () => {
        await driver.batch([openAccount("a", 1)]);
        const failing = [
          run(insertAccount, ["a", 2, null, null]),
          run("insert into account (id, balance) values ($1, null)", ["c"]),
          run("update nowhere set x = 1"),
          run("select from where"),
        ];
        for (const statement of failing) {
          await expect(driver.batch([openAccount("b", 2), statement, openAccount("d", 4)])).rejects.toThrow();
        }
        expect(await balances(driver)).toEqual({ a: 1 });
        expect(await driver.batch([openAccount("b", 2)])).toMatchObject({ outcome: "committed" });
      });

      it("may make tables, and unmakes them when it is refused", async () => {
        const make = run("create table later (id text primary key)");
        expect(await driver.batch([make, undo])).toEqual({ outcome: "refused", at: 1 });
        await expect(driver.all("select * from later")).rejects.toThrow();
        await driver.batch([make, run("insert into later (id) values ('a')", [], 1)]);
        expect(await driver.all("select * from later")).toEqual([{ id: "a" }]);
      });

      it("stands alone among those that begin with it", async () => {
        await driver.batch([openAccount("taken", 0)]);
        const outcomes = await Promise.allSettled([
          driver.batch([openAccount("a", 1, 1)]),
          driver.batch([openAccount("b", 2), undo]),
          driver.batch([openAccount("c", 3, 1)]),
          driver.batch([openAccount("d", 4), openAccount("taken", 4)]),
          driver.batch([openAccount("e", 5, 1)]),
        ]);
        expect(outcomes.map(brief)).toEqual(["committed", "refused", "committed", "rejected", "committed"]);
        expect(await balances(driver)).toEqual({ taken: 0, a: 1, c: 3, e: 5 });
      });

      it("wins alone when many guard on the same row", async () => {
        await driver.batch([openAccount("a", 0)]);
        const contenders = Array.from({ length: 16 }, (_, index) =>
          driver.batch([
            run("update account set balance = $1 where id = $2 and balance = 0", [index + 1, "a"], 1),
            run("insert into job (id, due_at) values ($1, 0)", [index + 1]),
          ]),
        );
        const outcomes = (await Promise.all(contenders)).map(({ outcome }) => outcome);
        expect(outcomes.filter((outcome) => outcome === "committed")).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(15);
        const winner = outcomes.indexOf("committed") + 1;
        expect(await balances(driver)).toEqual({ a: winner });
        expect(await driver.all("select id from job")).toEqual([{ id: winner }]);
      });

      it("adds to what the others added", async () => {
        await driver.batch([openAccount("a", 0)]);
        const add = run("update account set balance = balance + 1 where id = $1", ["a"], 1);
        await Promise.all(Array.from({ length: 32 }, () => driver.batch([add])));
        expect(await balances(driver)).toEqual({ a: 32 });
      });

      it("passes over the rows that others are taking", async () => {
        const ids = [1, 2, 3, 4, 5, 6, 7, 8];
        await driver.batch(ids.map((id) => run("insert into job (id, due_at) values ($1, $1)", [id])));
        const claims = await Promise.all(Array.from({ length: 4 }, () => driver.batch([claimOne])));
        const claimed = claims.flatMap((claim) => (claim.outcome === "committed" ? (claim.rows[0] ?? []) : []));
        expect(new Set(claimed.map(({ id }) => id)).size).toBe(4);
        expect(await driver.all("select count(*) as taken from job where taken = 1")).toEqual([{ taken: 4 }]);
      });
    });

    describe("the database's clock", () => {
      it("gives whole microseconds since 1970 and does not go back", async () => {
        const times: number[] = [];
        for (let reading = 0; reading < 5; reading++) {
          const [row] = await driver.all("select now_us() as now");
          times.push(Number(row?.now));
          expect(row?.now).toSatisfy(Number.isSafeInteger);
        }
        expect(times).toEqual([...times].sort((left, right) => left - right));
        const day = 24 * 60 * 60 * 1_000_000;
        expect(Math.abs(Date.now() * 1_000 - (times[0] ?? 0))).toBeLessThan(day);
      });

      it("can be stored, added to and compared with", async () => {
        await driver.batch([
          run("insert into job (id, due_at) values (1, now_us() - 1000000)"),
          run("insert into job (id, due_at) values (2, now_us() + $1)", [3_600_000_000]),
        ]);
        expect(await driver.all("select id from job where due_at <= now_us()")).toEqual([{ id: 1 }]);
        const [row] = await driver.all("select cast(due_at as text) as text from job where id = 2");
        expect(row?.text).toMatch(/^\d{16}$/);
      });
    });

    describe("reading", () => {
      beforeEach(() => driver.batch([openAccount("a", 1), openAccount("b", 2)]));

      it("of both kinds sees everything that was committed", async () => {
        for (const read of [driver.all, driver.readLong]) {
          const rows = await read.call(driver, "select id, balance from account where balance > $1 order by id", [1]);
          expect(rows).toEqual([{ id: "b", balance: 2 }]);
          expect(await read.call(driver, "select id from account where balance > 100")).toEqual([]);
          await driver.batch([run("update account set balance = balance + 0")]);
        }
        for (const balance of [10, 11, 12]) {
          await driver.batch([run("update account set balance = $1 where id = 'a'", [balance], 1)]);
          expect(await driver.readLong("select balance from account where id = 'a'")).toEqual([{ balance }]);
        }
      });

      it("knows the clock, and gives numbers for what it counts", async () => {
        const sql = "select count(*) as accounts from account where now_us() > $1";
        expect(await driver.readLong(sql, [1])).toEqual([{ accounts: 2 }]);
      });

      it("that fails is rejected, and the next one works", async () => {
        await expect(driver.all("select * from nowhere")).rejects.toThrow();
        await expect(driver.readLong("select * from nowhere")).rejects.toThrow();
        await expect(driver.readLong("select cast($1 as text) as a")).rejects.toThrow();
        expect(await driver.readLong("select id from account order by id")).toEqual([{ id: "a" }, { id: "b" }]);
      });

      it("may be done many times at once, beside batches", async () => {
        const reads = Array.from({ length: 20 }, (_, index) =>
          driver.readLong("select cast($1 as bigint) as n", [index]),
        );
        const writes = Array.from({ length: 20 }, (_, index) => driver.batch([openAccount(`new ${index}`, index)]));
        expect((await Promise.all(reads)).map(([row]) => row?.n)).toEqual(reads.map((_, index) => index));
        expect((await Promise.all(writes)).map(({ outcome }) => outcome)).toEqual(writes.map(() => "committed"));
      });
    });

    describe("signals", () => {
      it("reach every listener after the commit, in their order and each text once a batch", async () => {
        const first = heard(driver);
        const second = heard(driver);
        await driver.batch([signal("one"), openAccount("a", 1), signal("two"), signal("one"), signal("three")]);
        await driver.batch([signal("one"), signal("end")]);
        const expected = ["one", "two", "three", "one", "end"];
        expect(await first.until("end")).toEqual(expected);
        expect(await second.until("end")).toEqual(expected);
      });

      it("find the data of their batch", async () => {
        const seen = new Promise((resolve) => driver.listen(() => resolve(balances(driver))));
        await driver.batch([signal("go"), openAccount("a", 1)]);
        expect(await seen).toEqual({ a: 1 });
      });

      it("may depend on rows", async () => {
        const { until } = heard(driver);
        await driver.batch([openAccount("a", 1), openAccount("b", 2)]);
        await driver.batch([run("select signal(id) from account where balance > $1", [1]), signal("end")]);
        expect(await until("end")).toEqual(["b", "end"]);
      });

      it("of a batch that was refused or failed are never heard", async () => {
        const { until } = heard(driver);
        const outcomes = await Promise.allSettled([
          driver.batch([signal("refused"), undo]),
          driver.batch([signal("failed"), run("select * from nowhere")]),
        ]);
        expect(outcomes.map(brief)).toEqual(["refused", "rejected"]);
        await driver.batch([signal("end")]);
        expect(await until("end")).toEqual(["end"]);
      });

      it("are not heard by one who stopped listening, nor hindered by one who throws", async () => {
        const stopped = heard(driver);
        driver.listen(() => {
          throw new Error("This listener always fails.");
        });
        const { until } = heard(driver);
        stopped.stop();
        stopped.stop();
        await driver.batch([signal("one")]);
        expect(await driver.batch([signal("end")])).toMatchObject({ outcome: "committed" });
        expect(await until("end")).toEqual(["one", "end"]);
        expect(stopped.texts).toEqual([]);
      });
    });

    describe("sessions", () => {
      it("are held by nobody before they are held", async () => {
        expect(await driver.isSessionHeld("worker 1")).toBe(false);
        await driver.holdSession("worker 2");
        expect(await driver.isSessionHeld("worker 1")).toBe(false);
      });
    });

    describe("closing", () => {
      it("waits for what was begun, and may be asked for twice", async () => {
        const writes = [1, 2, 3].map((number) => driver.batch([openAccount(`account ${number}`, number)]));
        const read = driver.readLong("select 1 as one");
        await Promise.all([driver.close(), driver.close()]);
        await driver.close();
        expect((await Promise.all(writes)).map(({ outcome }) => outcome)).toEqual(Array(3).fill("committed"));
        expect(await read).toEqual([{ one: 1 }]);
      });

      it("makes whatever is asked later an error that says so", async () => {
        await driver.close();
        const asked = [driver.batch([openAccount("a", 1)]), driver.all("select 1"), driver.readLong("select 1")];
        for (const answer of await Promise.allSettled(asked)) {
          expect(answer).toMatchObject({ status: "rejected", reason: { code: "database_closed" } });
        }
      });
    });

    if (!openSecond) return;

    describe("two drivers on one database", () => {
      let second: SqlDriver;

      beforeEach(async () => {
        second = await openSecond();
      });

      afterEach(() => second.close());

      it("say that it is shared", () => {
        expect([driver.isShared, second.isShared]).toEqual([true, true]);
      });

      it("see each other's batches and hear each other's signals", async () => {
        const { until } = heard(second);
        await driver.batch([openAccount("a", 1), signal("end")]);
        expect(await until("end")).toEqual(["end"]);
        expect(await balances(second)).toEqual({ a: 1 });
      });

      it("let one of two batches win a guard", async () => {
        await driver.batch([openAccount("a", 0)]);
        const guarded = run("update account set balance = 1 where id = 'a' and balance = 0", [], 1);
        const outcomes = await Promise.all([driver, second].map((either) => either.batch([guarded])));
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["committed", "refused"]);
      });

      it("take different rows", async () => {
        await driver.batch([1, 2, 3, 4].map((id) => run("insert into job (id, due_at) values ($1, $1)", [id])));
        const claims = await Promise.all([driver, second, driver, second].map((either) => either.batch([claimOne])));
        const claimed = claims.flatMap((claim) => (claim.outcome === "committed" ? (claim.rows[0] ?? []) : []));
        expect(claimed.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4]);
      });

      it("know of each other's sessions until they close", async () => {
        await driver.holdSession("worker 1");
        expect(await second.isSessionHeld("worker 1")).toBe(true);
        expect(await second.isSessionHeld("worker 2")).toBe(false);
        await driver.close();
        expect(await second.isSessionHeld("worker 1")).toBe(false);
      });
    });
  });
}

const insertAccount = "insert into account (id, balance, rate, note) values ($1, $2, $3, $4)";

const claimOne = run(
  "update job set taken = 1 where id in (select id from job where taken = 0 order by due_at limit 1 /*skip locked*/) returning id",
);

/** A statement that no batch survives. */
const undo = run("delete from account where id = 'no such account'", [], 1);

function run(sql: string, params: readonly Scalar[] = [], expected?: number): Statement {
  return expected === undefined ? { sql, params } : { sql, params, expect: expected };
}

function openAccount(id: string, balance: number, expected?: number): Statement {
  return run(insertAccount, [id, balance, null, null], expected);
}

function signal(text: string): Statement {
  return run("select signal($1)", [text]);
}

async function balances(driver: SqlDriver): Promise<Record<string, Scalar>> {
  const rows = await driver.all("select id, balance from account");
  return Object.fromEntries(rows.map(({ id, balance }) => [id, balance ?? null]));
}

function brief(settled: PromiseSettledResult<BatchOutcome>): string {
  return settled.status === "fulfilled" ? settled.value.outcome : settled.status;
}

/** Collects what a driver signals; `until` waits for a text and gives everything heard by then. */
function heard(driver: SqlDriver) {
  const texts: string[] = [];
  let wake = () => {};
  const stop = driver.listen((text) => {
    texts.push(text);
    wake();
  });
  const until = async (last: string) => {
    while (!texts.includes(last)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return texts;
  };
  return { texts, until, stop };
}
