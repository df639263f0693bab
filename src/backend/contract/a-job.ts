// Jobs of the gateway and their commits, for tests: everything that a test does not care about has a value.
import type { StreamEntry } from "../gateway/gateway-event-store.ts";
import type { ClaimedJob, JobClaim, JobCommit, NewAttempt, NewContext, NewJob } from "../gateway/job-store.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { MINUTE } from "./a-commit.ts";
import { WORKER } from "./stores-in-test.ts";

export function aJob(parts: Partial<NewJob> = {}): NewJob {
  const id = parts.id ?? crypto.randomUUID();
  return {
    id,
    plugin: "echo",
    command: "handle",
    max_attempts: 4,
    submitted_by: "api",
    parent_job_id: null,
    root_job_id: id,
    source_event_id: null,
    context_id: null,
    place: null,
    user_id: null,
    sealed_payload: `payload of ${id}`,
    dedupe: null,
    waits_for_instance: null,
    ...parts,
  };
}

/** In the tree of its parent, of an event of its own. */
export function aChildJob(parent: Pick<ClaimedJob, "id" | "root_job_id">, parts: Partial<NewJob> = {}): NewJob {
  const lineage = { parent_job_id: parent.id, root_job_id: parent.root_job_id, submitted_by: "route" };
  return aJob({ ...lineage, source_event_id: `event ${crypto.randomUUID()}`, ...parts });
}

export function aContext(parts: Partial<NewContext> = {}): NewContext {
  const id = parts.id ?? crypto.randomUUID();
  return {
    ...{ id, parent_id: null, pipeline: "pipeline", step_id: "step", sealed_accumulated: `context ${id}` },
    ...{ root_job_id: "root", ...parts },
  };
}

export function anAttempt(parts: Partial<NewAttempt> = {}): NewAttempt {
  return {
    ...{ attempt: 1, outcome: "succeeded", reason: null, exit_code: 0, started_at: 1, sealed_response: null },
    ...{ sealed_stderr: null, sealed_error: null, ...parts },
  };
}

/** One that succeeds, unless told otherwise. */
export function aJobCommit(job: JobCommit["job"], parts: Partial<JobCommit> = {}): JobCommit {
  return {
    job,
    worker: WORKER,
    settlement: { status: "succeeded", reason: null, sealed_error: null },
    attempt: anAttempt(),
    contexts: [],
    children: [],
    stream: [],
    max_tree_jobs: 1_000,
    exempt: [],
    ...parts,
  };
}

export const ends = (status: "succeeded" | "failed" | "timed_out" | "dead") =>
  ({ status, reason: null, sealed_error: null }) as const;

export const retries = (retry_after_us = 0) =>
  ({ status: "queued", retry_after_us, reason: "plugin_error", sealed_error: "sealed error" }) as const;

/** Wide limits, unless told otherwise. */
export async function claimJob(
  { gateway }: Pick<Stores, "gateway">,
  parts: Partial<JobClaim> = {},
): Promise<ClaimedJob | undefined> {
  const parallelism = { echo: 100, fetch: 100 };
  return await gateway.jobs.claim({ worker: WORKER, lease_us: MINUTE, max_workers: 100, parallelism, ...parts });
}

export async function queued({ gateway }: Pick<Stores, "gateway">, ...jobs: readonly NewJob[]): Promise<void> {
  for (const job of jobs) {
    const [outcome] = await gateway.jobs.enqueue([job]);
    if (outcome?.outcome !== "queued") throw new Error(`Job ${job.id} was not queued.`);
  }
}

/** The entries of the event stream that commits have added: a claim adds one too. */
export async function committedEntries({ gateway }: Pick<Stores, "gateway">): Promise<readonly StreamEntry[]> {
  const entries = await gateway.events.read({ after: 0, limit: 100 });
  return entries.filter(({ type }) => type !== "job.started");
}

/** A job that the worker has leased. */
export async function heldJob(
  stores: Pick<Stores, "gateway">,
  parts: Partial<NewJob> = {},
  claim: Partial<JobClaim> = {},
): Promise<ClaimedJob> {
  const job = aJob(parts);
  await queued(stores, job);
  const held = await claimJob(stores, claim);
  if (held?.id !== job.id) throw new Error(`Job ${job.id} was not claimed, but ${held?.id}.`);
  return held;
}

/** Fails a test unless it was committed. */
export async function commitJob({ gateway }: Pick<Stores, "gateway">, commit: JobCommit): Promise<void> {
  const { outcome } = await gateway.jobs.commit(commit);
  if (outcome !== "committed") throw new Error(`The commit of job ${commit.job.id} came to ${outcome}.`);
}

/** What the counters of trees and identities say that the jobs do not: nothing, whatever a test has done. */
export async function wrongCounters(driver: SqlDriver): Promise<readonly string[]> {
  const jobs = await driver.all("select root_job_id, dedupe_hash from gateway_jobs where due_at is not null");
  const trees = await driver.all("select root_job_id, outstanding, ended_at from gateway_trees");
  const identities = await driver.all("select hash, holders from gateway_dedupe");
  const found: string[] = [];
  for (const { root_job_id, outstanding, ended_at } of trees) {
    const own = jobs.filter((job) => job.root_job_id === root_job_id).length;
    if (own !== outstanding || (own === 0) !== (ended_at !== null)) found.push(`tree ${root_job_id}: ${outstanding}`);
  }
  for (const { hash, holders } of identities) {
    if (jobs.filter(({ dedupe_hash }) => dedupe_hash === hash).length !== holders) found.push(`${hash}: ${holders}`);
  }
  return found;
}
