// Identities of jobs: one row each. Taking one that is outstanding, or that has succeeded within its window, refuses the batch.
import type { Dedupe, JobSettlement, NewJob } from "../../gateway/job-store.ts";
import type { Statement } from "../../sql-driver.ts";
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
