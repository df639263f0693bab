// What bringing a database up to date promises, as tests.
import { describe, expect, it } from "vitest";
import { aThread } from "../contract/a-commit.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import type { SqlDriver } from "../sql-driver.ts";
import { migrate } from "./migrate.ts";
import { openStores } from "./open-stores.ts";
import { migrations } from "./schema.ts";

/**
 * Runs the suite. `open` gives drivers on one empty database, as many as are asked for, and closes them after the test;
 * where a database has one process only, they are all the same driver.
 */
export function describeMigrate(name: string, open: (count: number) => Promise<readonly SqlDriver[]>): void {
  describe(`migrating on ${name}`, () => {
    async function openOne(): Promise<SqlDriver> {
      const [driver] = await open(1);
      if (!driver) throw new Error("No driver was opened.");
      return driver;
    }

    const version = (driver: SqlDriver) => driver.all("select value from meta where name = 'schema_version'");
    const keyFingerprint = "fingerprint of a key";

    it("makes everything on an empty database, and nothing on one that is up to date", async () => {
      const driver = await openOne();
      await migrate(driver);
      const { threads } = await openStores(driver, { keyFingerprint });
      await threads.open(aThread({ id: "one" }));
      const before = await version(driver);
      await migrate(driver);
      expect(await version(driver)).toEqual(before);
      expect(await threads.get("one")).toMatchObject({ id: "one" });
    });

    it("keeps what an older version has written", async () => {
      const driver = await openOne();
      const statement = (sql: string) => ({ sql, params: [] });
      await driver.batch([
        statement("create table meta (name text primary key, value text not null)"),
        statement("insert into meta (name, value) values ('schema_version', '2')"),
        ...migrations
          .slice(0, 2)
          .flat()
          .map((each) => statement(each as string)),
        statement(`insert into threads (id, thread_key, agent, status, created_at, updated_at, state_version, run, steps,
            next_seq, next_message, tail_from, last_hash, inbox_seq, wake_rev, lease_until, epoch, claims)
          values ('old', 'key', 'sales', 'idle', 1, 1, 1, 1, 1, 1, 1, 0, 'hash', 0, 0, 0, 0, 0)`),
        statement(`insert into messages (thread_id, seq, run, step, kind, envelope, salt, hash, at)
          values ('old', 0, 1, 1, 'message', '{}', 'salt', 'hash', 1)`),
      ]);
      const { threads } = await openStores(driver, { keyFingerprint });
      expect(await version(driver)).toEqual([{ value: String(migrations.length) }]);
      expect(await threads.load("old")).toMatchObject({
        thread: { agent: "sales", origin_agent: "sales", parent_id: null, user_id: null, tags: [], child: null },
        messages: [{ seq: 0, depth: 0, parent_seq: null }],
        arguments: null,
      });
      expect(await threads.children("old", {})).toEqual([]);
      // Text is compared byte by byte in the tables that it has made, too.
      await driver.batch(
        ["Old", "ÖLD", "old-2"].map((id) =>
          statement(`insert into messages (thread_id, seq, run, step, kind, envelope, salt,
            hash, at) values ('${id}', 0, 1, 1, 'message', '{}', 'salt', 'hash', 1)`),
        ),
      );
      const ordered = await driver.all("select thread_id from messages order by thread_id");
      expect(ordered.map(({ thread_id }) => thread_id)).toEqual(["Old", "old", "old-2", "ÖLD"]);
    });

    it("is done once, however many begin at the same time", async () => {
      const drivers = await open(5);
      const opened = await Promise.all(
        [...drivers, ...drivers].map((driver) => openStores(driver, { keyFingerprint })),
      );
      const outcomes = await Promise.all(opened.map(({ threads }) => threads.open(aThread({ key: "customer 42" }))));
      expect(outcomes.filter(({ outcome }) => outcome === "opened")).toHaveLength(1);
      expect(new Set(outcomes.map(({ thread }) => thread.id)).size).toBe(1);
    });

    it.each(losses)("is done once when any of its commits loses %s", async (loss) => {
      const batches = ["the table of versions", ...migrations.map((_, from) => `migration ${from + 1}`), "the key"];
      for (const after of batches.keys()) {
        const driver = losingDriver(await openOne());
        driver.loseNext(loss, after);
        const { threads } = await openStores(driver, { keyFingerprint });
        expect(await threads.open(aThread()), batches[after]).toMatchObject({ outcome: "opened" });
      }
    });

    it("refuses a database that a newer version has written, and leaves it as it is", async () => {
      const driver = await openOne();
      await migrate(driver);
      await driver.batch([
        { sql: "update meta set value = '999' where name = 'schema_version'", params: [], expect: 1 },
      ]);
      await expect(migrate(driver)).rejects.toMatchObject({
        code: "database_too_new",
        message: expect.stringContaining("999"),
      });
      await expect(openStores(driver, { keyFingerprint })).rejects.toMatchObject({ code: "database_too_new" });
      expect(await version(driver)).toEqual([{ value: "999" }]);
    });

    it("ties a database to the key that it was first opened with", async () => {
      const driver = await openOne();
      await openStores(driver, { keyFingerprint });
      const other = openStores(driver, { keyFingerprint: "fingerprint of another key" });
      await expect(other).rejects.toMatchObject({ code: "secret_key_mismatch" });
      const { threads } = await openStores(driver, { keyFingerprint });
      expect(await threads.list({})).toEqual([]);
    });

    it("ties a database to one key, also when several come with their own at the same time", async () => {
      const drivers = await open(4);
      const opened = await Promise.allSettled(
        drivers.map((driver, index) => openStores(driver, { keyFingerprint: `fingerprint ${index}` })),
      );
      expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const refusals = opened.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      expect(refusals.map(({ code }) => code)).toEqual(Array(3).fill("secret_key_mismatch"));
    });
  });
}
