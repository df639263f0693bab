// The batch that adds jobs, with their identities, the counters of their trees, contexts, payloads and stream entries,
// together with what its caller has to change. The order is the one in which all batches lock what they write to.
import { JOBS_DUE, type NewContext, type NewJob, type NewStreamEntry } from "../../gateway/job-store.ts";
import type { Statement } from "../../sql-driver.ts";
import { storableText } from "../storable-text.ts";
import { takeNumbers } from "./control-row.ts";
import { takeIdentity, takeOnce } from "./dedupe.ts";
import { storableEventId } from "./event-id.ts";
import { DUE } from "./job-rows.ts";

export type Addition = {
  readonly jobs: readonly NewJob[];
  readonly contexts: readonly NewContext[];
  readonly stream: readonly NewStreamEntry[];
};

/** A statement, and what it means when it refuses its batch. */
export type Guarded<Refusal> = { readonly statement: Statement; readonly refusal?: Refusal };

/** The job is a duplicate, or its event was delivered to its step before. */
export type Duplicate = { readonly duplicate: NewJob };

/** What else happens in the batch. */
export type Around<Refusal> = {
  /** First: what must be as the caller expects. */
  readonly guards: readonly Guarded<Refusal>[];
  /** The identity of a job that is settled, and how. */
  readonly identity?: { readonly hash: string; readonly statements: readonly Statement[] } | undefined;
  /** In place of counting all jobs in their trees. */
  readonly trees?: readonly Guarded<Refusal>[];
  /** Needs no numbers. */
  readonly log?: readonly Statement[];
  readonly facts?: readonly Statement[];
  /** Whether other processes are to look for jobs. */
  readonly signals: boolean;
};

export function additionStatements<Refusal>(
  { jobs, contexts, stream }: Addition,
  { guards, identity, trees = treeStatements(jobs).map(plain), log = [], facts = [], signals }: Around<Refusal>,
): readonly Guarded<Refusal | Duplicate>[] {
  const numbers = { jobs: jobs.length, entries: stream.length, facts: facts.length };
  const needsNumbers = jobs.length + stream.length + facts.length > 0;
  return [
    ...guards,
    ...identityStatements(jobs, identity),
    ...trees,
    ...[...contexts.map(insertContext), ...jobs.map(insertPayload), ...log].map(plain),
    ...(needsNumbers ? [plain(takeNumbers(numbers))] : []),
    ...jobs.map((job, index) => ({ statement: insertJob(job, jobs.length - 1 - index), refusal: { duplicate: job } })),
    ...[...facts, ...entryStatements(stream), ...(signals ? [signalDue] : [])].map(plain),
  ];
}

/** Without a job, the contexts that are only for it, and its stream entries. */
export function leaveOut({ jobs, contexts, stream }: Addition, left: NewJob): Addition {
  const others = jobs.filter((job) => job !== left);
  const isEmpty = others.every(({ root_job_id }) => root_job_id !== left.root_job_id);
  return {
    jobs: others,
    contexts: contexts.filter(
      ({ id, root_job_id }) => id !== left.context_id && !(isEmpty && root_job_id === left.root_job_id),
    ),
    stream: stream.filter(({ job_id }) => job_id !== left.id),
  };
}

function plain(statement: Statement): Guarded<never> {
  return { statement };
}

/** In the order of the hashes, so that no two batches wait for each other. */
function identityStatements(jobs: readonly NewJob[], own: Around<never>["identity"]): readonly Guarded<Duplicate>[] {
  const taken = jobs.flatMap((job) => {
    const { dedupe, once } = job;
    const refusal = { duplicate: job };
    return [
      ...(dedupe ? [{ hash: dedupe.hash, statement: takeIdentity(dedupe.hash, job), refusal }] : []),
      ...(once ? [{ hash: once.hash, statement: takeOnce(once, job), refusal }] : []),
    ];
  });
  // First of its hash: a child with the identity of its parent finds what becomes of that.
  const settled = own?.statements.map((statement) => ({ hash: own.hash, statement })) ?? [];
  return [...settled, ...taken].toSorted((one, other) => compare(one.hash, other.hash));
}

/** Counts jobs in trees that may not be there yet. */
export function treeStatements(jobs: readonly NewJob[]): readonly Statement[] {
  const sql = `insert into gateway_trees (root_job_id, jobs, outstanding) values ($1, $2, $2)
    on conflict (root_job_id) do update set jobs = gateway_trees.jobs + excluded.jobs,
      outstanding = gateway_trees.outstanding + excluded.outstanding, ended_at = null`;
  return Array.from(Map.groupBy(jobs, ({ root_job_id }) => root_job_id))
    .toSorted(([one], [other]) => compare(one, other))
    .map(([root, own]) => ({ sql, params: [root, own.length] }));
}

function insertContext(context: NewContext): Statement {
  const sql = `insert into gateway_contexts (id, parent_id, pipeline, step_id, sealed_accumulated, root_job_id, created_at)
    values ($1, $2, $3, $4, $5, $6, now_us()) on conflict (id) do nothing`;
  const { id, parent_id, pipeline, step_id, sealed_accumulated, root_job_id } = context;
  return { sql, params: [id, parent_id, pipeline, step_id, sealed_accumulated, root_job_id] };
}

function insertPayload({ id, sealed_payload }: NewJob): Statement {
  const sql = "insert into gateway_payloads (job_id, sealed) values ($1, $2) on conflict (job_id) do nothing";
  return { sql, params: [id, sealed_payload] };
}

/** `behind`: how many numbers were taken after its own. An id in the log is taken, with the payload and attempts beside it. */
function insertJob(job: NewJob, behind: number): Statement {
  const sql = `insert into gateway_jobs (seq, id, plugin, command, status, attempt, max_attempts, submitted_by, parent_job_id,
      root_job_id, source_event_id, context_id, pipeline, step_id, instance_id, depth, user_id, dedupe_hash, dedupe_keep_us,
      waits_for_instance, step_digest, created_at, due_at, wake_rev, lease_until, epoch, claims)
    select job_seq - $1, $2, $3, $4, 'queued', 1, $5, $6, $7, $8, $9, $10, $11, $12, $13, cast($14 as integer), $15, $16,
      cast($17 as bigint), $18, $19, stamped_at, ${DUE}, 0, 0, 0, 0
    from gateway_control where id = 1 and not exists (select 1 from gateway_logged_jobs as logged where logged.id = $2)
    on conflict do nothing`;
  const { place, dedupe } = job;
  const params = [
    ...[behind, job.id, job.plugin, job.command, job.max_attempts, storableText(job.submitted_by), job.parent_job_id],
    ...[job.root_job_id, storableEventId(job.source_event_id), job.context_id],
    ...[place?.pipeline ?? null, place?.step_id ?? null, place?.instance_id ?? null, place?.depth ?? null],
    ...[
      job.user_id === null ? null : storableText(job.user_id),
      dedupe?.hash ?? null,
      dedupe?.keep_us ?? null,
      job.waits_for_instance,
      place?.step_digest ?? null,
    ],
  ];
  return { sql, params, expect: 1 };
}

/** Behind `takeNumbers` of as many entries. `appendId` marks the first one; where it was used before, the batch is refused. */
export function entryStatements(entries: readonly NewStreamEntry[], appendId?: string): readonly Statement[] {
  const sql = `insert into gateway_events (id, type, data, job_id, user_id, at, append_id)
    select stream_id - $1, $2, $3, $4,
      coalesce(cast($5 as text), (select user_id from gateway_jobs where gateway_jobs.id = $4)), stamped_at, $6
    from gateway_control where id = 1`;
  return entries.map(({ type, data, job_id, user_id = null }, index) => {
    const owner = user_id === null ? null : storableText(user_id);
    const entry = [entries.length - 1 - index, storableText(type), storableText(data), job_id, owner];
    if (index > 0 || appendId === undefined) return { sql, params: [...entry, null] };
    return { sql: `${sql} on conflict do nothing`, params: [...entry, appendId], expect: 1 };
  });
}

export const signalDue: Statement = { sql: "select signal($1)", params: [JOBS_DUE] };

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
