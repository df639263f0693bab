// The gateway's event stream in SQL. Ids are taken from the control row, which is held until the commit.
import type { GatewayEventStore } from "../../gateway/gateway-event-store.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED } from "../attempt-batch.ts";
import * as rows from "../rows.ts";
import { entryStatements } from "./add-jobs.ts";
import { takeNumbers } from "./control-row.ts";

export function createGatewayEventStore(driver: SqlDriver): GatewayEventStore {
  return {
    async append(entries) {
      if (entries.length === 0) return;
      const appendId = crypto.randomUUID();
      const statements = [takeNumbers({ entries: entries.length }), ...entryStatements(entries, appendId)];
      await attemptBatch(driver, statements, async () => {
        const found = await driver.all("select 1 from gateway_events where append_id = $1", [appendId]);
        return found.length > 0 ? COMMITTED : undefined;
      });
    },

    async read({ after, limit }) {
      const sql = "select id, type, data, job_id, at from gateway_events where id > $1 order by id limit $2";
      return (await driver.all(sql, [after, limit])).map((row) => ({
        id: rows.number(row.id),
        type: rows.text(row.type),
        data: rows.text(row.data),
        job_id: rows.optionalText(row.job_id),
        at: rows.number(row.at),
      }));
    },

    async last() {
      const [row] = await driver.all("select stream_id from gateway_control where id = 1");
      return rows.number(row?.stream_id ?? 0);
    },

    async prune(olderThanMicroseconds, limit) {
      const sql = `delete from gateway_events where at <= (select now_us()) - cast($1 as bigint) and id in (
          select id from gateway_events order by id limit $2 /*skip locked*/
        ) returning id`;
      const pruned = await attemptBatch(driver, [{ sql, params: [olderThanMicroseconds, limit] }]);
      return (pruned.outcome === "committed" && pruned.rows[0]?.length) || 0;
    },
  };
}
