// Identities of jobs: one row each. Taking one that is outstanding, or that has succeeded within its window, refuses the batch.
import type { Dedupe, ExistingJob, Identified, JobSettlement, NewJob } from "../../gateway/job-store.ts";
import type { Row, SqlDriver, Statement } from "../../sql-driver.ts";
import * as rows from "../rows.ts";
import { storableEventId } from "./event-id.ts";

/** Expects that the identity is free, or held only by jobs of the same source event: those are other steps. */
export function takeIdentity(hash: string, { id, source_event_id }: NewJob): Statement {
  const sql = `insert into gateway_dedupe (hash, job_id, source_event_id, holders, expires_at) values ($1, $2, $3, 1, 0)
    on conflict (hash) do update set job_id = excluded.job_id, source_event_id = excluded.source_event_id,
      holders = gateway_dedupe.holders + 1
    where gateway_dedupe.expires_at <= now_us()
      and (gateway_dedupe.holders = 0 or gateway_dedupe.source_event_id = excluded.source_event_id)`;
  return { sql, params: [hash, id, storableEventId(source_event_id)], expect: 1 };
}

/** Hashes that are looked for in one statement. */
const MOST_AT_ONCE = 1_000;

/** The jobs whose identity another one has, each with that one: what `takeIdentity` would refuse. */
export async function findTaken(
  driver: SqlDriver,
  jobs: readonly Identified[],
): Promise<ReadonlyMap<string, ExistingJob>> {
  const hashes = [...new Set(jobs.map(({ hash }) => hash))];
  const taken = new Map<string, Row>();
  for (let from = 0; from < hashes.length; from += MOST_AT_ONCE) {
    const some = hashes.slice(from, from + MOST_AT_ONCE);
    // A job that has left the queue has ended.
    const sql = `select hash, job_id, case when expires_at <= now_us() then source_event_id end as open_to,
        (select status from gateway_jobs where id = gateway_dedupe.job_id and status in ('queued', 'running')) as going_on
      from gateway_dedupe
      where hash in (${some.map((_, index) => `$${index + 1}`).join(", ")}) and (holders > 0 or expires_at > now_us())`;
    for (const row of await driver.all(sql, some)) taken.set(rows.text(row.hash), row);
  }
  return new Map(
    jobs.flatMap(({ id, source_event_id, hash }): [string, ExistingJob][] => {
      const row = taken.get(hash);
      const isOpen = row?.open_to != null && row.open_to === storableEventId(source_event_id);
      return row && !isOpen ? [[id, { job_id: rows.text(row.job_id), has_ended: row.going_on === null }]] : [];
    }),
  );
}

/** Held by no job: it ends with its time alone. Expects that it is free. */
export function takeOnce({ hash, keep_us }: Dedupe, { id }: Pick<NewJob, "id">): Statement {
  const sql = `insert into gateway_dedupe (hash, job_id, source_event_id, holders, expires_at)
    values ($1, $2, null, 0, now_us() + cast($3 as bigint))
    on conflict (hash) do update set job_id = excluded.job_id, expires_at = excluded.expires_at
    where gateway_dedupe.expires_at <= now_us() and gateway_dedupe.holders = 0`;
  return { sql, params: [hash, id, keep_us], expect: 1 };
}

/** Only success keeps the identity, for the window of the job; a retry goes on holding it. */
export function settleIdentity(hash: string, jobId: string, status: JobSettlement["status"]): readonly Statement[] {
  if (status === "queued") return [];
  if (status !== "succeeded") {
    return [{ sql: "update gateway_dedupe set holders = holders - 1 where hash = $1", params: [hash] }];
  }
  const sql = `update gateway_dedupe set holders = holders - 1, job_id = $2,
      expires_at = now_us() + coalesce((select dedupe_keep_us from gateway_jobs where id = $2), 0)
    where hash = $1`;
  return [{ sql, params: [hash, jobId] }];
}
