// Plugin state and facts in SQL.
import type { StateWrite } from "../../gateway/job-store.ts";
import type { PluginStateStore } from "../../gateway/plugin-state-store.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED } from "../attempt-batch.ts";
import * as rows from "../rows.ts";
import { storableText } from "../storable-text.ts";

/** Refuses the batch unless the state has this revision; 0 where there is none. */
export function writeState({ plugin, sealed_state, sealed_owners = null, revision }: StateWrite): Statement {
  if (revision === 0) {
    const sql = `insert into gateway_plugin_state (plugin, sealed_state, sealed_owners, revision, updated_at)
      values ($1, $2, $3, 1, now_us()) on conflict (plugin) do nothing`;
    return { sql, params: [plugin, sealed_state, sealed_owners], expect: 1 };
  }
  const sql = `update gateway_plugin_state set sealed_state = $2, sealed_owners = $3, revision = revision + 1,
      updated_at = now_us()
    where plugin = $1 and revision = $4`;
  return { sql, params: [plugin, sealed_state, sealed_owners, revision], expect: 1 };
}

export function createPluginStateStore(driver: SqlDriver): PluginStateStore {
  async function get(plugin: string) {
    const sql = `select ${STATE} from gateway_plugin_state where plugin = $1`;
    const [row] = await driver.all(sql, [storableText(plugin)]);
    return row && state(row);
  }

  return {
    get,

    async list() {
      const sql = `select plugin, ${STATE} from gateway_plugin_state order by plugin`;
      return (await driver.all(sql)).map((row) => ({ ...state(row), plugin: rows.text(row.plugin) }));
    },

    async replace(plugin, sealedState, revision, sealedOwners = null) {
      const statement = writeState({ plugin, sealed_state: sealedState, sealed_owners: sealedOwners, revision });
      const { outcome } = await attemptBatch(driver, [statement], async () => {
        const found = await get(plugin);
        return found?.sealed_state === sealedState && found.revision === revision + 1 ? COMMITTED : undefined;
      });
      return outcome === "committed";
    },

    async facts({ plugin, fact_type, after = 0, limit }) {
      const params: Scalar[] = [storableText(plugin), after, limit];
      const ofType = fact_type === undefined ? "" : `and fact_type = $${params.push(storableText(fact_type))}`;
      const sql = `select seq, plugin, fact_type, command, job_id, sealed_value, created_at from gateway_facts
        where plugin = $1 and seq > $2 ${ofType} order by seq limit $3`;
      return (await driver.all(sql, params)).map((row) => ({
        seq: rows.number(row.seq),
        plugin: rows.text(row.plugin),
        fact_type: rows.text(row.fact_type),
        command: rows.text(row.command),
        job_id: rows.text(row.job_id),
        sealed_value: rows.text(row.sealed_value),
        created_at: rows.number(row.created_at),
      }));
    },
  };
}

const STATE = "sealed_state, sealed_owners, revision, updated_at";

function state(row: Row) {
  return {
    sealed_state: rows.text(row.sealed_state),
    sealed_owners: rows.optionalText(row.sealed_owners),
    revision: rows.number(row.revision),
    updated_at: rows.number(row.updated_at),
  };
}
