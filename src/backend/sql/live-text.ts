// Text in flight in SQL.
import type { LiveTextStore } from "../live-text.ts";
import type { SqlDriver } from "../sql-driver.ts";
import * as rows from "./rows.ts";

export function createLiveTextStore(driver: SqlDriver): LiveTextStore {
  return {
    async put({ thread_id, step, attempt, content }) {
      const sql = `insert into live_text (thread_id, step, attempt, content, updated_at) values ($1, $2, $3, $4, now_us())
        on conflict (thread_id) do update
          set step = excluded.step, attempt = excluded.attempt, content = excluded.content, updated_at = now_us()
          where live_text.attempt <= excluded.attempt`;
      await driver.batch([{ sql, params: [thread_id, step, attempt, content] }]);
    },

    async get(threadIds) {
      if (threadIds.length === 0) return [];
      const list = threadIds.map((_, index) => `$${index + 1}`).join(", ");
      const found = await driver.all(
        `select thread_id, step, attempt, content from live_text where thread_id in (${list})`,
        threadIds,
      );
      return found.map((row) => ({
        thread_id: rows.text(row.thread_id),
        step: rows.number(row.step),
        attempt: rows.number(row.attempt),
        content: rows.text(row.content),
      }));
    },

    async clear(threadId) {
      await driver.batch([{ sql: "delete from live_text where thread_id = $1", params: [threadId] }]);
    },
  };
}
