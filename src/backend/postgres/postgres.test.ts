import { Client } from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdLock } from "../../../test/held-lock.ts";
import { heldTimeouts } from "../../../test/held-timeouts.ts";
import { emptySchema, query } from "../../../test/postgres.ts";
import { HoldfastError } from "../../contracts/error.ts";
import { describeSqlDriver } from "../sql-driver.contract.ts";
import type { Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { type PostgresOptions, postgres } from "./postgres.ts";

/** How long an attempt to connect may take, to whoever has little patience. */
const CONNECT_MILLISECONDS = 2_000;

const schemas: Awaited<ReturnType<typeof emptySchema>>[] = [];
afterAll(() => Promise.all(schemas.map(({ drop }) => drop())));

async function openFirst(options: PostgresOptions = {}): Promise<SqlDriver> {
  const database = await emptySchema();
  schemas.push(database);
  return postgres(database.url, { ...options, schema: database.schema }).open();
}

async function openSecond(): Promise<SqlDriver> {
  const { url, schema } = newest();
  return postgres(url, { schema }).open();
}

function newest() {
  const database = schemas.at(-1);
  if (!database) throw new Error("No driver was opened.");
  return database;
}

describeSqlDriver("postgres", openFirst, openSecond);

describe("the PostgreSQL driver", () => {
  let driver: SqlDriver;

  beforeEach(async () => {
    driver = await openFirst();
    await driver.batch([run("create table item (id bigint primary key, small integer, name text)")]);
  });

  afterEach(() => driver.close());

  describe("values", () => {
    it("are numbers wherever SQLite gives numbers", async () => {
      await driver.batch([run("insert into item (id, small) values (1, 2), (3, 4)")]);
      expect(
        await driver.all("select sum(id) as total, avg(small) as mean, 1 = 1 as yes, 1 = 2 as no from item"),
      ).toEqual([{ total: 4, mean: 3, yes: 1, no: 0 }]);
    });

    it("may be large where the database would have guessed a small type", async () => {
      const hour = 3_600_000_000;
      expect(
        await driver.all("select $1 + 1 as sum, case when $2 = 0 then $1 else 0 end as either", [hour, 0]),
      ).toEqual([{ sum: hour + 1, either: hour }]);
    });

    it("may change their kind from one time to the next", async () => {
      await driver.batch([run("create table measure (value double precision)")]);
      const insert = "insert into measure (value) values ($1)";
      for (const value of [null, 3, 0.5, null, 4]) await driver.batch([run(insert, [value], 1)]);
      expect(await driver.all("select value from measure order by value")).toEqual(
        [0.5, 3, 4, null, null].map((value) => ({ value })),
      );
    });

    it("fit smaller columns, limits and selected rows", async () => {
      const insert =
        "insert into item (id, small, name) select $1, $2, $3 where not exists (select 1 from item where small = $2)";
      expect(await driver.batch([run(insert, [1, 7, "a"], 1)])).toMatchObject({ outcome: "committed" });
      expect(await driver.batch([run(insert, [2, 7, "b"], 1)])).toEqual({ outcome: "refused", at: 0 });
      expect(await driver.all("select id from item where small in ($1, $2) limit $3", [7, 8, 5])).toEqual([{ id: 1 }]);
    });
  });

  it("keeps more statements apart than a connection keeps prepared", async () => {
    const statements = Array.from({ length: 700 }, (_, index) => run(`select ${index} as n${index}`));
    const rows = statements.map((_, index) => [{ [`n${index}`]: index }]);
    for (let round = 0; round < 2; round++) {
      expect(await driver.batch(statements)).toEqual({ outcome: "committed", rows });
    }
  });

  it("goes on with a statement that has failed or was refused before it could be prepared", async () => {
    const insert = run("insert into item (id, name) values ($1, $2) returning id, name", [1, "a"], 1);
    const refused = run("update item set name = 'b' where id = $1", [2], 1);
    const broken = run("select * from nowhere");
    for (const spoiler of [refused, broken, refused]) {
      await driver.batch([spoiler, insert]).catch(() => {});
    }
    await driver.batch([run("create table nowhere (id bigint)")]);
    expect(await driver.batch([insert, broken])).toEqual({ outcome: "committed", rows: [[{ id: 1, name: "a" }], []] });
  });

  it("notices that a table has got another column", async () => {
    const select = "select * from item";
    const insert = run("insert into item (id) values ($1) returning *", [1], 1);
    await driver.all(select);
    await driver.batch([insert, run("delete from item")]);
    const { url, schema } = newest();
    await query(url, `alter table "${schema}".item add column later text`);
    expect(await driver.all(select)).toEqual([]);
    expect(await driver.batch([insert])).toMatchObject({ outcome: "committed", rows: [[{ id: 1, later: null }]] });
  });

  it("takes no more rows than the limit says, whatever the plan", async () => {
    const rows = Array.from({ length: 200 }, (_, id) => run("insert into item (id, small) values ($1, 0)", [id]));
    // A plan that asks a subselect again for every row of the table.
    const nested = ["hashjoin", "mergejoin", "hashagg", "sort", "material"].map((way) =>
      run(`set local enable_${way} to off`),
    );
    const claim = run(
      "update item set small = 1 where id in (select id from item where small = 0 limit $1 /*skip locked*/)",
      [3],
    );
    await driver.batch([...rows, ...nested, claim]);
    expect(await driver.all("select count(*) as claimed from item where small = 1")).toEqual([{ claimed: 3 }]);
  });

  it("expects of a write that begins with a common table expression too", async () => {
    const write = (id: number) =>
      run(
        "with wanted as (select $1 + 0 as id) insert into item (id) select id from wanted on conflict do nothing",
        [id],
        1,
      );
    expect(await driver.batch([write(1)])).toEqual({ outcome: "committed", rows: [[]] });
    expect(await driver.batch([write(2), write(1)])).toEqual({ outcome: "refused", at: 1 });
  });

  it("tries a batch again that lost against another in a deadlock", async () => {
    await driver.batch([run("insert into item (id, small) values (1, 0), (2, 0)")]);
    const { url, schema } = newest();
    const lock = await holdLock(url, schema);
    const both = (first: number, second: number) =>
      driver.batch([
        run("update item set small = small + 1 where id = $1", [first], 1),
        run(`select ${lock.wait}`),
        run("update item set small = small + 1 where id = $1", [second], 1),
      ]);
    const written = Promise.all([both(1, 2), both(2, 1)]);
    // Each has what the other wants.
    await lock.untilWaiting(2);
    await lock.release();
    const outcomes = await written;
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["committed", "committed"]);
    expect(await driver.all("select small from item")).toEqual([{ small: 2 }, { small: 2 }]);
  });

  it("tries a batch again that cannot be serialized, but not for ever", async () => {
    const fails = (sequence: string, times: number) => [
      run(`create sequence ${sequence}`),
      run(`create function ${sequence}_fails() returns void language plpgsql as $$ begin
        if nextval('${sequence}') <= ${times} then raise exception using errcode = '40001'; end if; end $$`),
    ];
    await driver.batch([...fails("twice", 2), ...fails("always", 1_000)]);
    const insert = run("insert into item (id) values (1)");
    expect(await driver.batch([insert, run("select twice_fails()")])).toMatchObject({ outcome: "committed" });
    await expect(driver.batch([run("delete from item"), run("select always_fails()")])).rejects.toMatchObject({
      code: "40001",
    });
    expect(await driver.all("select id from item")).toEqual([{ id: 1 }]);
  });

  it("holds nobody up with a long read", async () => {
    const alone = await openFirst({ connections: 1 });
    const outside = new Client({ connectionString: newest().url });
    await outside.connect();
    await outside.query("select pg_advisory_lock(42)");
    const reads = [alone.readLong("select pg_advisory_xact_lock_shared(42)"), alone.readLong("select 1 as one")];
    expect(await alone.all("select 1 as one")).toEqual([{ one: 1 }]);
    expect(await reads[1]).toEqual([{ one: 1 }]);
    await outside.end();
    expect(await reads[0]).toHaveLength(1);
    await alone.close();
  });

  it("lets any number of processes open and set up the same schema at once", async () => {
    const { url, schema, drop } = await emptySchema();
    const opened = await Promise.all(Array.from({ length: 8 }, () => postgres(url, { schema, connections: 1 }).open()));
    const create = run("create table if not exists meta (name text primary key)");
    const outcomes = await Promise.all(opened.map((each) => each.batch([create])));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(opened.map(() => "committed"));
    await Promise.all(opened.map((each) => each.close()));
    await drop();
  });

  it("needs no right to create anything once the schema is there", async () => {
    const { url, schema } = newest();
    const user = `${schema}_guest`;
    await query(url, `create role "${user}" login password 'guest'`);
    await query(url, `grant usage on schema "${schema}" to "${user}"`);
    const asGuest = withUser(url, user, "guest");
    const guest = await postgres(asGuest, { schema }).open();
    expect(await guest.all("select now_us() > 0 as works")).toEqual([{ works: 1 }]);
    await guest.close();
    await expect(postgres(asGuest, { schema: `${schema}_2` }).open()).rejects.toMatchObject({
      code: "database_refused",
    });
    await query(url, `drop owned by "${user}"; drop role "${user}"`);
  });

  it("keeps two schemas apart", async () => {
    const here: string[] = [];
    driver.listen((text) => here.push(text));
    await driver.holdSession("worker");
    const other = await openFirst();
    expect(await other.isSessionHeld("worker")).toBe(false);
    await expect(other.all("select * from item")).rejects.toThrow('relation "item" does not exist');
    await other.batch([run("select signal('elsewhere')")]);
    const heard = new Promise((resolve) => driver.listen(resolve));
    await driver.batch([run("select signal('here')")]);
    await heard;
    expect(here).toEqual(["here"]);
    await other.close();
  });

  it("says that the disk is full, or that nothing can be written", async () => {
    const raise = (state: string) => run(`do $$ begin raise exception using errcode = '${state}'; end $$`);
    await expect(driver.batch([raise("53100")])).rejects.toMatchObject({ code: "database_full" });
    await expect(driver.batch([raise("25006")])).rejects.toMatchObject({ code: "database_read_only" });
  });
});

describe("opening a PostgreSQL database", () => {
  it.each([
    "",
    "mysql://me:secret@localhost/db",
    "./holdfast.db",
    "postgres://me:secret@[half/db",
    "postgres://me:secret@host:port/db",
  ])("refuses the URL %j at once", (url) => {
    const error = thrownBy(() => postgres(url));
    expect(error).toMatchObject({ code: "database_url_invalid" });
    expectNoSecret(error);
  });

  it.each(["", "Upper", 'quo"te', "a.b", "pg_mine", "1st", "a".repeat(51)])("refuses the schema name %j", (schema) => {
    expect(thrownBy(() => postgres("postgres://localhost/db", { schema }))).toMatchObject({
      code: "database_schema_invalid",
    });
  });

  it("is refused with the server's words, and without the password", async () => {
    const { url } = await emptySchema();
    const nowhere = new URL(url);
    nowhere.pathname = "/no_such_database";
    for (const refused of [
      withUser(url, "postgres", "secret"),
      withUser(url, "nobody_at_all", "secret"),
      nowhere.href,
    ]) {
      const error = await rejectionOf(postgres(refused).open());
      expect(error).toMatchObject({ code: "database_refused" });
      expectNoSecret(error, new URL(url).password);
    }
  });

  it("is refused for a host that does not exist", async () => {
    const error = await rejectionOf(
      postgres("postgres://me:secret@host.invalid/db", { patienceMilliseconds: 50 }).open(),
    );
    // Without a network, whether the name exists cannot be known.
    expect(["database_url_invalid", "database_unavailable"]).toContain((error as HoldfastError).code);
    expectNoSecret(error);
  });

  it("gives up a server that is not there once its patience has ended", async () => {
    // However long it takes to be told that nobody is there, that is what it is told.
    heldTimeouts(CONNECT_MILLISECONDS);
    const error = await rejectionOf(
      postgres("postgres://me:secret@127.0.0.1:1/db", { patienceMilliseconds: 100 }).open(),
    );
    expect(error).toMatchObject({ code: "database_unavailable", detail: expect.stringContaining("ECONNREFUSED") });
    expectNoSecret(error);
  });
});

function run(sql: string, params: readonly Scalar[] = [], expected?: number): Statement {
  return expected === undefined ? { sql, params } : { sql, params, expect: expected };
}

function withUser(url: string, user: string, password: string): string {
  const changed = new URL(url);
  changed.username = user;
  changed.password = password;
  return changed.href;
}

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("It was not rejected.");
    },
    (error: unknown) => error,
  );
}

/** Neither in the words nor in what a log would print of the causes. */
function expectNoSecret(error: unknown, secret = "secret"): void {
  expect(error).toBeInstanceOf(HoldfastError);
  for (let each = error; each instanceof Error; each = each.cause) {
    expect(`${each.stack} ${JSON.stringify(each)}`).not.toContain(secret);
  }
}
