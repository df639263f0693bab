// What the statements over a leased table promise, as tests on a table that is not that of threads: one with an order of its
// own, more columns that change with a lease, and a condition.
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import { claim as claimThreads, dueThread, type StoresInTest, WORKER } from "../contract/stores-in-test.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { THREADS } from "./engine.ts";
import * as leased from "./leased-table.ts";
import { beat, createMembershipStore } from "./membership.ts";
import * as rows from "./rows.ts";

const JOBS: leased.LeasedTable = {
  name: "test_jobs",
  order: "created_at, seq",
  claimed: ["status", "kind || ' of ' || id as title"],
  renewed: ["status"],
  canBeStuck: false,
  sets: { claim: "status = 'running', attempts = attempts + 1", putBack: "status = 'queued'", free: "orphaned = 1" },
};

const CREATE = `create table test_jobs (id text primary key, seq bigint not null, created_at bigint not null,
  kind text not null, status text not null, attempts integer not null, orphaned integer not null, note text,
  due_at bigint, wake_rev bigint not null, lease_by text, lease_until bigint not null, epoch bigint not null,
  claims integer not null)`;

export function describeLeasedTable(name: string, open: () => Promise<StoresInTest>): void {
  describe(`a leased table on ${name}`, () => {
    let stores: Stores;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      await run({ sql: CREATE, params: [] });
      onTestFinished(async () => void (await run({ sql: "drop table test_jobs", params: [] })));
    });

    async function run(...statements: readonly Statement[]): Promise<readonly Row[]> {
      const done = await driver.batch(statements);
      if (done.outcome !== "committed") throw new Error(`The batch was ${done.outcome}.`);
      return done.rows.at(-1) ?? [];
    }

    async function job(id: string, { created_at = 1, kind = "echo", due = "now_us()" } = {}): Promise<void> {
      const sql = `insert into test_jobs (id, seq, created_at, kind, status, attempts, orphaned, due_at, wake_rev,
          lease_until, epoch, claims)
        select $1, count(*), $2, $3, 'queued', 0, 0, ${due}, 1, 0, 0, 0 from test_jobs`;
      await run({ sql, params: [id, created_at, kind] });
    }

    async function stored(id: string, columns: string): Promise<Row | undefined> {
      const [row] = await driver.all(`select ${columns} from test_jobs where id = $1`, [id]);
      return row;
    }

    const claim = (parts: Partial<leased.ClaimRows> = {}) =>
      run(leased.claim(JOBS, { worker: WORKER, lease_us: MINUTE, limit: 9, ...parts }));
    const ids = (found: readonly Row[]) => found.map(({ id }) => rows.text(id)).sort();
    const wait = async (condition?: leased.SqlText) => {
      const { sql, params } = leased.nextDue(JOBS, condition);
      const [row] = await driver.all(sql, params);
      return rows.optionalNumber(row?.wait);
    };

    it("is claimed in its own order, with what it sets and returns besides", async () => {
      await job("later", { created_at: 2 });
      await job("second");
      await job("third");
      await job("not due", { created_at: 0, due: `now_us() + ${MINUTE}` });
      await job("waits", { created_at: 0, due: "null" });
      expect(ids(await claim({ limit: 1 }))).toEqual(["second"]);
      expect(ids(await claim({ limit: 1 }))).toEqual(["third"]);
      expect(await claim()).toEqual([{ id: "later", epoch: 1, claims: 1, status: "running", title: "echo of later" }]);
      expect(await claim()).toEqual([]);
      expect(await stored("later", "status, attempts, lease_by")).toEqual({
        ...{ status: "running", attempts: 1, lease_by: WORKER },
      });
    });

    it("is claimed under a condition, whose values are bound before those of the exceptions", async () => {
      for (const [id, kind] of Object.entries({ a: "echo", b: "fetch", c: "files", d: "files" }))
        await job(id, { kind });
      const kinds: readonly Scalar[] = ["fetch", "files"];
      const condition: leased.SqlText = (bind) => `kind in (${bind(...kinds)}) and test_jobs.created_at = ${bind(1)}`;
      expect(await wait(condition)).toBeLessThanOrEqual(0);
      expect(ids(await claim({ condition, except: ["c", "nothing"] }))).toEqual(["b", "d"]);
      expect(ids(await claim({ condition }))).toEqual(["c"]);
      expect(await wait(condition)).toBeNull();
      expect(await wait()).toBeLessThanOrEqual(0);
    });

    it("is renewed with what it returns besides, together with the beat of the worker", async () => {
      for (const id of ["b", "a", "foreign"]) await job(id);
      await claim({ condition: () => "id <> 'foreign'", lease_us: 0 });
      await claim({ condition: () => "id = 'foreign'", worker: "worker 2" });
      const renewed = await run(beat(WORKER), leased.renew(JOBS, WORKER, ["b", "foreign", "a"], MINUTE));
      expect(renewed.toSorted((one, other) => (rows.text(one.id) < rows.text(other.id) ? -1 : 1))).toEqual([
        { id: "a", epoch: 1, status: "running" },
        { id: "b", epoch: 1, status: "running" },
      ]);
      expect(await claim()).toEqual([]);
      expect(await driver.all("select id from workers")).toEqual([{ id: WORKER }]);
    });

    it("is given back with a time and more that is set, or put back as if it had not been claimed", async () => {
      await job("a");
      await job("b");
      await claim();
      const set: leased.SqlText = (bind) => `status = 'queued', note = ${bind("timed out")}`;
      await run(leased.giveBack(JOBS, { id: "a", epoch: 1, wake_rev: null, due_after: MINUTE, set }));
      expect(await stored("a", "status, note, lease_by, lease_until, claims")).toEqual({
        ...{ status: "queued", note: "timed out", lease_by: null, lease_until: 0, claims: 1 },
      });
      expect(await wait()).toBeGreaterThan(0);
      await run(leased.putBack(JOBS, { id: "b", epoch: 2 }));
      expect(await claim()).toEqual([]);
      await run(leased.putBack(JOBS, { id: "b", epoch: 1 }));
      expect(await stored("b", "status, claims")).toEqual({ status: "queued", claims: 0 });
      expect(ids(await claim())).toEqual(["b"]);
    });

    it("is freed where its lease has run out, and nowhere else", async () => {
      const kinds = { over: "echo", busy: "echo", other: "files" };
      for (const [id, kind] of Object.entries(kinds)) await job(id, { kind });
      await claim({ lease_us: 0 });
      await job("held");
      await claim({ condition: () => "id = 'held'" });
      const condition: leased.SqlText = (bind) => `kind = ${bind("echo")}`;
      await run(leased.freeExpired(JOBS, { except: ["busy"], condition }));
      const leases = await driver.all("select id, lease_by, orphaned, claims from test_jobs order by id");
      expect(leases.map(({ id, lease_by, orphaned, claims }) => [id, lease_by, orphaned, claims])).toEqual([
        ["busy", WORKER, 0, 1],
        ["held", WORKER, 0, 1],
        ["other", WORKER, 0, 1],
        ["over", null, 1, 1],
      ]);
      await run(leased.freeExpired(JOBS, {}));
      expect(await stored("other", "lease_by, lease_until, orphaned")).toEqual({
        ...{ lease_by: null, lease_until: 0, orphaned: 1 },
      });
      expect(await stored("held", "lease_by")).toEqual({ lease_by: WORKER });
    });

    it("is due at once after a wake-up while it was held, unless it sleeps", async () => {
      for (const id of ["a", "asleep"]) await job(id);
      await claim();
      const wake = (id: string) =>
        run({ sql: `update test_jobs set ${leased.woken("id = 'asleep'")} where id = $1`, params: [id] });
      await run({ sql: "update test_jobs set due_at = null", params: [] });
      for (const id of ["a", "asleep"]) await wake(id);
      expect(await stored("asleep", "due_at, wake_rev")).toEqual({ due_at: null, wake_rev: 2 });
      await run(leased.giveBack(JOBS, { id: "a", epoch: 1, wake_rev: 1, due_after: null }));
      await run(leased.giveBack(JOBS, { id: "asleep", epoch: 1, wake_rev: 2, due_after: null }));
      expect(ids(await claim())).toEqual(["a"]);
      expect(await stored("a", "wake_rev, claims")).toEqual({ wake_rev: 2, claims: 1 });
    });

    it("is freed and released together with threads, each as its table says", async () => {
      const membership = createMembershipStore(driver, [THREADS, JOBS]);
      await job("a");
      const thread = await dueThread(stores);
      await membership.register("gone");
      await claim({ worker: "gone" });
      await claimThreads(stores, { worker: "gone" });
      // The session is that of the test's own process, which PostgreSQL finds alive.
      const blind = { ...driver, isSessionHeld: async () => false };
      const reaping = createMembershipStore(blind, [THREADS, JOBS]);
      const looks = [await reaping.reap(WORKER), await reaping.reap(WORKER)];
      expect(looks).toContainEqual({ workers: 1, freed: { threads: 1, test_jobs: 1 } });
      expect(looks).toContainEqual({ workers: 0, freed: { threads: 0, test_jobs: 0 } });
      expect(await stored("a", "status, orphaned, lease_by, claims")).toEqual({
        ...{ status: "running", orphaned: 1, lease_by: null, claims: 1 },
      });

      expect(ids(await claim())).toEqual(["a"]);
      expect(await claimThreads(stores)).toEqual([{ id: thread, epoch: 2, claims: 2 }]);
      await membership.release(WORKER);
      expect(await stored("a", "status, lease_by, claims")).toEqual({ status: "queued", lease_by: null, claims: 1 });
      expect(await claimThreads(stores)).toEqual([{ id: thread, epoch: 3, claims: 2 }]);
    });
  });
}
