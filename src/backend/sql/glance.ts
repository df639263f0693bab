// A thread as whoever asks for it needs to see it first, in one statement.
import type { SqlDriver } from "../sql-driver.ts";
import type { ThreadStore } from "../thread-store.ts";
import * as rows from "./rows.ts";
import { SUBJECT, subjectRow } from "./subjects.ts";

const GLANCE = `select ${rows.THREAD}, ${SUBJECT},
    case when exists (select 1 from inbox where inbox.thread_id = threads.id and drained_at is null) then 1 else 0 end
      as has_waiting
  from threads left join thread_subjects on thread_subjects.thread_id = threads.id
  where threads.id = $1 and kind = 'thread'`;

export function createGlance(driver: SqlDriver): Pick<ThreadStore, "glance"> {
  return {
    async glance(id) {
      const [row] = await driver.all(GLANCE, [id]);
      return (
        row && {
          thread: rows.thread(row),
          subject: row.principal === null ? null : subjectRow(row),
          has_waiting: rows.number(row.has_waiting) === 1,
        }
      );
    },
  };
}
