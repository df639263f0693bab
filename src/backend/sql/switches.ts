// Switches in SQL.
import type { Row, SqlDriver } from "../sql-driver.ts";
import { type StoredSwitch, SWITCHED, type SwitchKind, type SwitchStore } from "../switch-store.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

export function createSwitchStore(driver: SqlDriver): SwitchStore {
  return {
    async set({ kind, name, off, reason, set_by }) {
      const sql = `insert into switches (kind, name, is_off, reason, set_by, set_at) values ($1, $2, $3, $4, $5, now_us())
        on conflict (kind, name) do update set is_off = excluded.is_off, reason = excluded.reason,
          set_by = excluded.set_by, set_at = excluded.set_at`;
      await attemptBatch(driver, [
        { sql, params: [kind, name, off ? 1 : 0, reason, set_by] },
        { sql: "select signal($1)", params: [SWITCHED] },
      ]);
    },

    async list() {
      const found = await driver.all(
        "select kind, name, is_off, reason, set_by, set_at from switches order by kind, name",
      );
      return found.map(switchOf);
    },
  };
}

function switchOf(row: Row): StoredSwitch {
  return {
    kind: row.kind as SwitchKind,
    name: rows.text(row.name),
    off: row.is_off === 1,
    reason: rows.text(row.reason),
    set_by: rows.text(row.set_by),
    set_at: rows.number(row.set_at),
  };
}
