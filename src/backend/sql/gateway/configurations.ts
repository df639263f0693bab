// What each worker has loaded stands in its own row, and goes with it.
import type { ConfigurationStore } from "../../gateway/configuration-store.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { attemptBatch } from "../attempt-batch.ts";
import * as rows from "../rows.ts";

export function createConfigurationStore(driver: SqlDriver): ConfigurationStore {
  return {
    async nextNumber() {
      // By the control row rather than a clock, which may be set back. A number that was lost is never used.
      const sql = `insert into gateway_control (id, job_seq, fact_seq, stream_id, stamped_at, configurations)
        values (1, 0, 0, 0, now_us(), 1)
        on conflict (id) do update set configurations = gateway_control.configurations + 1
        returning configurations`;
      for (;;) {
        const known = await attemptBatch(driver, [{ sql, params: [] }]);
        const row = known.outcome === "committed" ? known.rows[0]?.[0] : undefined;
        if (row) return rows.number(row.configurations);
      }
    },

    async put(worker, { digest, number }) {
      const sql = `update workers set configuration = $2, configuration_number = cast($3 as bigint) where id = $1`;
      await attemptBatch(driver, [{ sql, params: [worker, digest, number] }]);
    },

    async newest() {
      const sql = `select configuration, configuration_number from workers where configuration is not null
        order by configuration_number desc, id desc limit 1`;
      const [row] = await driver.all(sql);
      return row && { digest: rows.text(row.configuration), number: rows.number(row.configuration_number) };
    },
  };
}
