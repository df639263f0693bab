import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { emptySchema } from "../../../test/postgres.ts";
import { aCommit, anEntry, MINUTE } from "../contract/a-commit.ts";
import { aStop, openChild } from "../contract/a-write.ts";
import { claim, heldThread } from "../contract/stores-in-test.ts";
import type { Held } from "../engine.ts";
import { openStores } from "../sql/open-stores.ts";
import type { Stores } from "../stores.ts";
import type { Write } from "../write.ts";
import { postgres } from "./postgres.ts";

/** Stores, and a transaction of somebody else who holds the row of a thread. */
async function open() {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const driver = await postgres(url, { schema }).open();
  onTestFinished(() => driver.close());
  const stores = await openStores(driver, { keyFingerprint: "fingerprint" });
  const other = new Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  const { rows } = await other.query("select pg_backend_pid() as pid");
  const table = `"${schema}".threads`;

  return {
    stores,
    async holdRow(id: string) {
      await other.query("begin");
      await other.query(`select id from ${table} where id = $1 for update`, [id]);
    },
    /** Resolves once somebody waits for what the other transaction holds. */
    async untilWaitedFor() {
      const blocked = "select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))";
      while ((await other.query(blocked, [rows[0].pid])).rows.length === 0);
    },
    /** The rows that nobody else holds. */
    async freeRows(): Promise<string[]> {
      const found = await other.query(`select id from ${table} order by id for update skip locked`);
      return found.rows.map(({ id }) => id);
    },
    release: () => other.query("commit"),
  };
}

/** A parent and its child, both held; the parent comes first in the order of ids. */
async function family(stores: Stores): Promise<{ parent: Held; child: Held }> {
  const parent = await heldThread(stores, { id: "a parent" });
  await openChild(stores, "a parent", { id: "b child" });
  await stores.inbox.put("b child", anEntry());
  const [claimed] = await claim(stores);
  return { parent, child: { id: "b child", epoch: claimed?.epoch ?? 0, wake_rev: 1 } };
}

const writes: readonly (readonly [string, Write])[] = [
  ["leaves an entry", { write: "entry", thread_id: "a parent", entry: anEntry() }],
  ["answers", { write: "answer", thread_id: "a parent", request_id: "request", body: "{}", payload_hash: "hash" }],
  ["ends itself", { write: "terminate", thread_id: "b child", stop: aStop() }],
];

it.each(writes)("a child that %s waits for its parent before it holds its own row", async (_, write) => {
  const { stores, holdRow, untilWaitedFor, freeRows, release } = await open();
  const { child } = await family(stores);
  await holdRow("a parent");
  const committed = stores.threads.commit(aCommit(child, { writes: [write] }));
  await untilWaitedFor();
  expect(await freeRows()).toEqual(["a parent", "b child"]);
  await release();
  expect(await committed).toMatchObject({ outcome: "committed" });
});

it("a worker that renews its leases holds the rows in the same order", async () => {
  const { stores, holdRow, untilWaitedFor, freeRows, release } = await open();
  await family(stores);
  await holdRow("a parent");
  const renewed = stores.engine.renew("worker 1", ["b child", "a parent"], MINUTE);
  await untilWaitedFor();
  expect(await freeRows()).toEqual(["a parent", "b child"]);
  await release();
  expect(await renewed).toHaveLength(2);
});

it("a commit that writes to nobody else needs no statement for it", async () => {
  const { stores, holdRow, release } = await open();
  const { child } = await family(stores);
  await holdRow("a parent");
  const value = { write: "value", thread_id: "b child", key: "a", value: "1" } as const;
  expect(await stores.threads.commit(aCommit(child, { writes: [value] }))).toMatchObject({ outcome: "committed" });
  await release();
});
