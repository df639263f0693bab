// The durable queue of the gateway: jobs, and the one commit with which a finished job takes effect.
import type { EndedStatus, JobStatus, PipelinePlace } from "../../contracts/gateway/job.ts";

/** A job that is to be queued. What is called sealed is opaque text to the store. */
export type NewJob = {
  readonly id: string;
  readonly plugin: string;
  readonly command: string;
  readonly max_attempts: number;
  /** `api`, `cli`, `route`, `hook`, `bridge`, `webhook:<path>`, or the name of the gateway for scheduled jobs. */
  readonly submitted_by: string;
  readonly parent_job_id: string | null;
  /** Its own id for the root of a tree. */
  readonly root_job_id: string;
  /** Plugins may choose it; one that is long is stored as its hash. */
  readonly source_event_id: string | null;
  readonly context_id: string | null;
  readonly place: PipelinePlace | null;
  /** The user on whose behalf the job was submitted; its tree inherits it, so that erasing a person finds every job. */
  readonly user_id: string | null;
  readonly sealed_payload: string;
  readonly dedupe: Dedupe | null;
  /** Kept from the moment the job is added, whatever becomes of it: no other job is added with it within its time. */
  readonly once?: Dedupe;
  /** The job is not claimed while another job of this pipeline instance is queued or running. */
  readonly waits_for_instance: string | null;
};

/**
 * At most one job of an identity is outstanding, and none is added for so long after one has succeeded. An outstanding
 * job from the same source event does not count: those are two steps.
 */
export type Dedupe = {
  /** Of dedupe key, plugin and command. */
  readonly hash: string;
  readonly keep_us: number;
};

/** A job that is about to be added, as far as it may be a duplicate. */
export type Identified = Pick<NewJob, "id" | "source_event_id"> & Pick<Dedupe, "hash">;

/** The job that another one would repeat. */
export type ExistingJob = { readonly job_id: string; readonly has_ended: boolean };

/** A job without its payload, which may be large. Times are in microseconds by the database's clock. */
export type ListedJob = Omit<NewJob, "dedupe" | "once" | "sealed_payload"> & {
  readonly status: JobStatus;
  /** From 1: the execution that is next, under way, or was the last. One whose worker died counts: it may be one too many. */
  readonly attempt: number;
  readonly dedupe_hash: string | null;
  readonly reason: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
  /** When a queued job may be claimed. */
  readonly due_at: number | null;
  /** The job is due at once then, and its worker ends it. */
  readonly cancel_requested_by: string | null;
  readonly sealed_error: string | null;
};

export type Job = ListedJob & {
  /** Null once it was erased. */
  readonly sealed_payload: string | null;
};

/** A job that this worker has leased. */
export type ClaimedJob = Job & {
  readonly epoch: number;
  /** Null without a context, and once it was erased. */
  readonly sealed_context: string | null;
};

export type JobClaim = {
  readonly worker: string;
  readonly lease_us: number;
  /** The most jobs that are leased in the whole installation. */
  readonly max_workers: number;
  /** Per plugin; 1 for a plugin that is not listed. */
  readonly parallelism: Readonly<Record<string, number>>;
  /** Plugins of which this process claims nothing. */
  readonly except_plugins?: readonly string[];
  /** Jobs that this process runs: their leases are kept even if they seem to be over, because a clock was moved. */
  readonly except?: readonly string[];
};

export type NewContext = {
  readonly id: string;
  readonly parent_id: string | null;
  readonly pipeline: string;
  readonly step_id: string;
  readonly sealed_accumulated: string;
  readonly root_job_id: string;
};

/** An entry of the gateway's event stream. `data` is redacted already. */
export type NewStreamEntry = {
  readonly type: string;
  readonly data: string;
  readonly job_id: string | null;
  /** Whom it is about, where that is not the user of the job. */
  readonly user_id?: string | null;
};

/** What one execution came to, for the job's log. */
export type NewAttempt = {
  readonly attempt: number;
  readonly outcome: "succeeded" | "failed" | "timed_out" | "cancelled" | "dead";
  readonly reason: string | null;
  readonly exit_code: number | null;
  readonly started_at: number;
  readonly sealed_response: string | null;
  readonly sealed_stderr: string | null;
  readonly sealed_error: string | null;
};

/** What becomes of the job itself. */
export type JobSettlement =
  | { readonly status: EndedStatus; readonly reason: string | null; readonly sealed_error: string | null }
  /** Another attempt, at its old place in the queue. */
  | {
      readonly status: "queued";
      readonly retry_after_us: number;
      readonly reason: string;
      readonly sealed_error: string;
    };

type NewFact = { readonly fact_type: string; readonly command: string; readonly sealed_value: string };

export type StateWrite = {
  readonly plugin: string;
  readonly sealed_state: string;
  /** Of an agent: for whom its runs were started. */
  readonly sealed_owners?: string | null;
  /** Of the state that the new one was made from; 0 when there was none. */
  readonly revision: number;
  /** Recorded beside the state in this order, append-only. */
  readonly facts?: readonly NewFact[];
};

/** Everything with which a job takes effect. All of it or nothing. */
export type JobCommit = {
  /** As it was claimed. */
  readonly job: Pick<ClaimedJob, "id" | "epoch" | "root_job_id" | "dedupe_hash">;
  readonly worker: string;
  readonly settlement: JobSettlement;
  readonly attempt: NewAttempt;
  readonly state?: StateWrite;
  readonly contexts: readonly NewContext[];
  readonly children: readonly NewJob[];
  readonly stream: readonly NewStreamEntry[];
  /** The most jobs that the tree may have; children that are exempt are not counted against it. */
  readonly max_tree_jobs: number;
  readonly exempt: readonly string[];
};

export type JobCommitOutcome =
  | { readonly outcome: "committed" }
  /** The lease was lost: nothing was changed. */
  | { readonly outcome: "lease_lost" }
  /** This child is a duplicate, or was delivered before: nothing was changed; commit again without it. */
  | { readonly outcome: "duplicate"; readonly child_id: string; readonly existing_job_id: string | null }
  /** The plugin's state has changed since it was read: nothing was changed. */
  | { readonly outcome: "state_changed" }
  /** `jobs`: how many jobs count against the limit now. Nothing was changed. */
  | { readonly outcome: "tree_too_large"; readonly jobs: number };

export type EnqueueOutcome =
  | { readonly outcome: "queued"; readonly job_id: string }
  | { readonly outcome: "duplicate"; readonly existing_job_id: string | null };

export type JobQuery = {
  readonly plugin?: string;
  readonly command?: string;
  readonly statuses?: readonly JobStatus[];
  readonly root_job_id?: string;
  readonly submitted_by?: string;
  /** Microseconds, of `created_at`. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  /** The list goes on behind this job. */
  readonly after?: { readonly created_at: number; readonly id: string };
};

/** One execution of a job, or the end of one that was never executed. */
export type JobAttempt = Omit<NewAttempt, "outcome" | "started_at"> & {
  /** `orphaned`: its worker died. */
  readonly outcome: NewAttempt["outcome"] | "orphaned";
  /** What became of the job. */
  readonly status: JobStatus;
  /** Null when the job was cancelled before it was executed. */
  readonly started_at: number | null;
  readonly ended_at: number;
};

export type JobTransition = {
  readonly from: JobStatus | null;
  readonly to: JobStatus;
  readonly reason: string | null;
  readonly at: number;
};

export interface JobStore {
  /**
   * Queues the roots of one event together, with their contexts and stream entries. A duplicate is left out, together with
   * the contexts of its tree and the stream entries of its id; where no job is left, nothing is written. Outcomes in the order
   * of the jobs. A job whose id is known already counts as a duplicate, so that the same call may be repeated.
   */
  enqueue(
    jobs: readonly NewJob[],
    parts?: { readonly contexts?: readonly NewContext[]; readonly stream?: readonly NewStreamEntry[] },
  ): Promise<readonly EnqueueOutcome[]>;

  /**
   * Leases the first job that may run now, in the order of insertion. A retry keeps its place. Undefined when there is none,
   * when the installation has no room for it, and while the dispatcher is paused.
   */
  claim(claim: JobClaim): Promise<ClaimedJob | undefined>;
  /**
   * Extends the leases and shows that the worker is alive. Resolves with the jobs that it still holds, and who asked for
   * the cancellation of each.
   */
  renew(worker: string, jobIds: readonly string[], leaseMicroseconds: number): Promise<readonly RenewedJob[]>;
  /** All of it or nothing, once. Exactly the holder of the lease can commit, and only once per claim. */
  commit(commit: JobCommit): Promise<JobCommitOutcome>;
  /**
   * Which of these jobs would be refused as duplicates of jobs that are stored: by their ids, the job that each would repeat.
   * Whatever adds them checks it again.
   */
  duplicates(jobs: readonly Identified[]): Promise<ReadonlyMap<string, ExistingJob>>;
  /** Puts a job back as it was before it was claimed: there is no room for it. A worker that shuts down releases its leases. */
  putBack(job: { readonly id: string; readonly epoch: number }): Promise<void>;
  /** Microseconds until the next job is due, 0 when one is, null when there is none. Ignores limits and pauses. */
  nextDue(): Promise<number | null>;

  /** A job of the queue, or one that is in the log alone: that one has ended, and its context and identity are gone. */
  get(id: string): Promise<Job | undefined>;
  /** Jobs of the queue, newest first, by `created_at`, then id. */
  list(query: JobQuery): Promise<readonly ListedJob[]>;
  /** The same of the job log, which holds the jobs of the queue and those that have left it. */
  log(query: JobQuery): Promise<readonly ListedJob[]>;
  /** Every job of a tree, oldest first; those in the log too. */
  tree(rootJobId: string): Promise<readonly ListedJob[]>;
  /** The roots of trees that were queued for an event and have not ended, the oldest first. */
  outstandingOf(sourceEventId: string): Promise<readonly string[]>;
  /** How many jobs of the tree have not ended. */
  outstanding(rootJobId: string): Promise<number>;
  /** How many jobs of the tree count against its limit. */
  countedJobs(rootJobId: string): Promise<number>;
  /** Oldest first. */
  attempts(jobId: string): Promise<readonly JobAttempt[]>;
  /** Oldest first; made from the job and its attempts. */
  transitions(jobId: string): Promise<readonly JobTransition[]>;
  context(id: string): Promise<string | undefined>;

  /**
   * A queued job ends `dead` at once, with the reason `cancelled`; one that runs is ended by its worker, which is signalled
   * its id, and learns of it when it renews at the latest. `parts` are added only when the job ends at once: what its end is to cause, such as a bridge. Children
   * that are duplicates are left out.
   */
  cancel(id: string, by: string, parts?: CancelParts): Promise<"cancelled" | "requested" | "ended" | "not_found">;
  /**
   * Removes what is older than the retention, up to `limit` of each: from the queue trees as a whole, once all of their jobs
   * have ended, which are in the log from then on; and jobs from the log, with payloads and attempts. Resolves with how many
   * jobs left the one or the other, whichever were more: with fewer than the limit, nothing is left to remove.
   */
  prune(retention: { readonly queue_us: number; readonly log_us: number; readonly limit: number }): Promise<number>;
  /**
   * Removes payloads, contexts, responses, stderr, errors, facts and stream data of every job in a tree of the user, except
   * jobs of other users; the rows stay. It reaches the log too. Resolves with how many jobs there were. What such a job
   * commits afterwards has to be erased again.
   */
  eraseUser(userId: string): Promise<number>;
  /** `oldest_due_us`: for how long the job that has been due longest has been waiting, of those that wait for no other job. */
  counts(): Promise<{ readonly byStatus: Readonly<Record<JobStatus, number>>; readonly oldest_due_us: number | null }>;
}

export type CancelParts = Partial<Pick<JobCommit, "contexts" | "children" | "stream">>;

/**
 * Signalled when jobs were queued or resumed, on every database; and when a commit has made jobs due, where other processes
 * share the database: the process that commits knows of those itself.
 */
export const JOBS_DUE = "gateway jobs";

export type RenewedJob = { readonly id: string; readonly epoch: number; readonly cancelRequestedBy: string | null };
