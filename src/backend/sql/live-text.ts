// Text in flight in SQL.
import { joinSegments, type LiveText, type LiveTextStore } from "../live-text.ts";
import type { Row, SqlDriver } from "../sql-driver.ts";
import * as rows from "./rows.ts";

export function createLiveTextStore(driver: SqlDriver): LiveTextStore {
  return {
    async put({ thread_id, step, attempt, commit, segments }) {
      const sql = `insert into live_text (thread_id, step, attempt, content, updated_at) values ($1, $2, $3, $4, now_us())
        on conflict (thread_id) do update
          set step = excluded.step, attempt = excluded.attempt, content = excluded.content, updated_at = now_us()
          where live_text.attempt <= excluded.attempt`;
      const content: Content = { commit, segments: joinSegments(segments) };
      await driver.batch([{ sql, params: [thread_id, step, attempt, JSON.stringify(content)] }]);
    },

    async get(threadIds) {
      if (threadIds.length === 0) return [];
      const list = threadIds.map((_, index) => `$${index + 1}`).join(", ");
      const found = await driver.all(
        `select thread_id, step, attempt, content from live_text where thread_id in (${list})`,
        threadIds,
      );
      return found.flatMap(liveText);
    },

    async clear(threadId) {
      await driver.batch([{ sql: "delete from live_text where thread_id = $1", params: [threadId] }]);
    },
  };
}

type Content = Pick<LiveText, "commit" | "segments">;

/** What another version has written and this one cannot read is passed over: it is told again soon, or committed. */
function liveText(row: Row): LiveText[] {
  const content = contentOf(rows.text(row.content));
  const { thread_id, step, attempt } = row;
  const of = { thread_id: rows.text(thread_id), step: rows.number(step), attempt: rows.number(attempt) };
  return content ? [{ ...of, commit: content.commit, segments: content.segments }] : [];
}

function contentOf(json: string): Content | undefined {
  try {
    const { commit, segments } = JSON.parse(json) as Partial<Content>;
    return typeof commit === "number" && Array.isArray(segments) ? { commit, segments } : undefined;
  } catch {
    return undefined;
  }
}
