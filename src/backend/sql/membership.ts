// The table of workers, and every leased table at once: what a worker that has died or shuts down had leased.
import type { MembershipStore } from "../membership.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { free, type LeasedTable, release } from "./leased-table.ts";
import * as rows from "./rows.ts";

/** That a worker is alive; it is known again if it was taken for dead. Goes into every batch that renews leases. */
export function beat(worker: string): Statement {
  const sql = `insert into workers (id, started_at, seen_at) values ($1, now_us(), now_us())
    on conflict (id) do update set seen_at = now_us()`;
  return { sql, params: [worker] };
}

/** `tables`: every table whose rows are leased, in the order in which a batch writes to them. */
export function createMembershipStore(driver: SqlDriver, tables: readonly LeasedTable[]): MembershipStore {
  /** Workers whose session was not held when they were last looked for. */
  const suspects = new Set<string>();

  return {
    async register(worker) {
      await driver.holdSession(worker);
      await attemptBatch(driver, [beat(worker)]);
    },

    async release(worker) {
      // The signal names no row: every worker that has room looks for itself.
      await attemptBatch(driver, [
        ...tables.map((table) => release(table, worker)),
        { sql: "select signal('')", params: [] },
      ]);
    },

    async leave(worker) {
      await attemptBatch(driver, [{ sql: "delete from workers where id = $1", params: [worker] }]);
    },

    async reap(worker) {
      const others = await driver.all("select id from workers where id <> $1", [worker]);
      const freed = Object.fromEntries(tables.map(({ name }) => [name, 0]));
      let workers = 0;
      for (const { id } of others) {
        const name = rows.text(id);
        const isHeld = await driver.isSessionHeld(name);
        // A session that was only cut off is back by the next look; where no other process can be alive, one look is enough.
        const isCertain = !isHeld && (!driver.isShared || suspects.has(name));
        if (isHeld || isCertain) suspects.delete(name);
        else suspects.add(name);
        if (!isCertain) continue;
        const reaped = await attemptBatch(driver, [
          ...tables.map((table) => free(table, name)),
          { sql: "delete from workers where id = $1", params: [name] },
        ]);
        workers++;
        if (reaped.outcome !== "committed") continue;
        for (const [index, table] of tables.entries()) {
          freed[table.name] = (freed[table.name] ?? 0) + (reaped.rows[index]?.length ?? 0);
        }
      }
      return { workers, freed };
    },
  };
}
