// Values, variables and effects in SQL.
import type { Row, Scalar, SqlDriver } from "../sql-driver.ts";
import type { StateStore } from "../state-store.ts";
import { OPEN } from "./effects.ts";
import * as rows from "./rows.ts";

export function createStateStore(driver: SqlDriver): StateStore {
  return {
    async value(threadId, key) {
      const sql = "select value from thread_values where thread_id = $1 and name = $2";
      return onlyValue(await driver.all(sql, [threadId, key]));
    },

    async values(threadId) {
      return pairs(
        await driver.all("select name, value from thread_values where thread_id = $1 order by name", [threadId]),
      );
    },

    async userValue(userId, key) {
      const sql = "select value from user_values where user_id = $1 and name = $2";
      return onlyValue(await driver.all(sql, [userId, key]));
    },

    async userValues(userId) {
      return pairs(await driver.all("select name, value from user_values where user_id = $1 order by name", [userId]));
    },

    async variables(threadId) {
      const sql = "select name, sealed, type, inherited from variables where thread_id = $1 order by name";
      return (await driver.all(sql, [threadId])).map(rows.variable);
    },

    async effect(threadId, id) {
      const [row] = await driver.all(`select ${rows.EFFECT} from effects where thread_id = $1 and id = $2`, [
        threadId,
        id,
      ]);
      return row && rows.effect(row);
    },

    async effects(threadId, { name, status, limit = 100 }) {
      const params: Scalar[] = [threadId, limit];
      const conditions = ["thread_id = $1"];
      if (name !== undefined) conditions.push(`name = $${params.push(name)}`);
      if (status !== undefined) conditions.push(`status = $${params.push(status)}`);
      const found = await driver.all(
        `select ${rows.EFFECT} from effects where ${conditions.join(" and ")}
          order by created_at desc, id desc limit $2`,
        params,
      );
      return found.map(rows.effect);
    },

    async dueEffect(threadId) {
      const [row] = await driver.all(
        `select ${rows.EFFECT} from effects
          where thread_id = $1 and status in (${OPEN}) and (status = 'processing' or scheduled_at <= now_us())
          order by scheduled_at, created_at, id limit 1`,
        [threadId],
      );
      return row && rows.effect(row);
    },
  };
}

function onlyValue([row]: readonly Row[]): string | undefined {
  return row && rows.text(row.value);
}

function pairs(found: readonly Row[]): readonly { readonly key: string; readonly value: string }[] {
  return found.map((row) => ({ key: rows.text(row.name), value: rows.text(row.value) }));
}
