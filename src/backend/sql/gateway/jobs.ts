// The queue of jobs in SQL.
import type { JobCommitOutcome, JobStore } from "../../gateway/job-store.ts";
import { jobTransitions } from "../../gateway/job-transitions.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED, type Known } from "../attempt-batch.ts";
import * as leased from "../leased-table.ts";
import { beat } from "../membership.ts";
import * as rows from "../rows.ts";
import { type Addition, additionStatements } from "./add-jobs.ts";
import { attemptAddition, attemptGuarded, twinOf } from "./attempt-addition.ts";
import { endQueued, findStanding, requestCancel } from "./cancel-job.ts";
import { CLAIMED_AT, claimStatements, findClaimed, GATEWAY_JOBS } from "./claim-job.ts";
import { commitStatements } from "./commit-job.ts";
import { findTaken } from "./dedupe.ts";
import { eraseJobsOfUser } from "./erase-user.ts";
import { claimedJob } from "./job-rows.ts";
import { pruneJobs } from "./prune.ts";
import * as read from "./read-jobs.ts";

export function createJobStore(driver: SqlDriver): JobStore {
  async function committedIf(sql: string, params: readonly (string | number)[]): Promise<Known | undefined> {
    return (await driver.all(sql, params)).length > 0 ? COMMITTED : undefined;
  }

  /** Under the epoch of a claim one commit is logged; or, by the claim that follows, that there was none. */
  function isLogged(id: string, epoch: number): Promise<Known | undefined> {
    const sql = "select 1 from gateway_attempts where job_id = $1 and epoch = $2 and outcome <> 'orphaned'";
    return committedIf(sql, [id, epoch]);
  }

  /** Logged as the end of a job that was not executed again. */
  function isCancelled(id: string, epoch: number): Promise<Known | undefined> {
    const sql = `select 1 from gateway_attempts
      where job_id = $1 and epoch = $2 and outcome = 'cancelled' and started_at is null`;
    return committedIf(sql, [id, epoch]);
  }

  return {
    async enqueue(jobs, { contexts = [], stream = [] } = {}) {
      const build = (left: Addition) =>
        left.jobs.length === 0 ? [] : additionStatements<never>(left, { guards: [], signals: true });
      const happened = async (left: Addition) => {
        const ids = left.jobs.map((_, index) => `$${index + 1}`).join(", ");
        const sql = `select id from gateway_jobs where id in (${ids})`;
        const found = await driver.all(
          sql,
          left.jobs.map(({ id }) => id),
        );
        return found.length === left.jobs.length ? COMMITTED : undefined;
      };
      const added = await attemptAddition(driver, { jobs, contexts, stream }, build, happened);
      if (added.outcome === "refused") throw new Error("Only duplicates refuse new jobs.");
      return added.jobs;
    },

    async claim(claim) {
      const claimId = crypto.randomUUID();
      const known = await attemptBatch(driver, claimStatements(claim, claimId), async () => {
        const { sql, params } = findClaimed(claim.worker, claimId);
        const claimed = await driver.all(sql, params);
        return claimed.length > 0 ? { outcome: "committed", rows: Array(CLAIMED_AT + 1).fill(claimed) } : undefined;
      });
      const row = known.outcome === "committed" ? known.rows[CLAIMED_AT]?.[0] : undefined;
      return row && claimedJob(row);
    },

    async renew(worker, jobIds, leaseMicroseconds) {
      const hold = jobIds.length > 0 ? [leased.renew(GATEWAY_JOBS, worker, jobIds, leaseMicroseconds)] : [];
      const renewed = await attemptBatch(driver, [beat(worker), ...hold]);
      if (renewed.outcome !== "committed") return [];
      return (renewed.rows[1] ?? []).map((row) => ({
        id: rows.text(row.id),
        epoch: rows.number(row.epoch),
        cancelRequestedBy: rows.optionalText(row.cancel_requested_by),
      }));
    },

    async commit(commit): Promise<JobCommitOutcome> {
      const { job, children } = commit;
      const refusal = await attemptGuarded(driver, commitStatements(commit, driver.isShared), () =>
        isLogged(job.id, job.epoch),
      );
      if (refusal === undefined) return { outcome: "committed" };
      if (typeof refusal === "object") {
        const { duplicate } = refusal;
        const others = children.filter((child) => child !== duplicate);
        const existing_job_id = await twinOf(driver, duplicate, others);
        return { outcome: "duplicate", child_id: duplicate.id, existing_job_id };
      }
      if (refusal !== "tree_too_large") return { outcome: refusal };
      return { outcome: refusal, jobs: (await read.readTreeCounts(driver, job.root_job_id)).counted };
    },

    duplicates: (all) => findTaken(driver, all),

    async putBack(job) {
      await attemptBatch(driver, [leased.putBack(GATEWAY_JOBS, job)]);
    },

    async nextDue() {
      const { sql, params } = leased.nextDue(GATEWAY_JOBS, () => "wake_rev >= 0");
      const [row] = await driver.all(sql, params);
      return row?.wait == null ? null : Math.max(0, rows.number(row.wait));
    },

    get: (id) => read.readJob(driver, id),
    list: (query) => read.listJobs(driver, query),
    tree: (rootJobId) => read.readTree(driver, rootJobId),
    attempts: (jobId) => read.readAttempts(driver, jobId),
    log: (query) => read.listLog(driver, query),
    context: (id) => read.readContext(driver, id),
    counts: () => read.countJobs(driver),

    outstandingOf: (sourceEventId) => read.readOutstandingOf(driver, sourceEventId),

    async outstanding(rootJobId) {
      return (await read.readTreeCounts(driver, rootJobId)).outstanding;
    },

    async countedJobs(rootJobId) {
      return (await read.readTreeCounts(driver, rootJobId)).counted;
    },

    async transitions(jobId) {
      const [job, attempts] = await Promise.all([read.readJob(driver, jobId), read.readAttempts(driver, jobId)]);
      return jobTransitions(attempts, job);
    },

    async cancel(id, by, { children = [], contexts = [], stream = [] } = {}) {
      // Again whenever the job was claimed, or ended, in between.
      for (;;) {
        const job = await findStanding(driver, id);
        if (!job) return "not_found";
        if (job.status === "running") {
          const asked = await attemptBatch(driver, requestCancel(job.id, by));
          if (asked.outcome === "committed") return "requested";
        } else if (job.status === "queued") {
          const ended = await attemptAddition(
            driver,
            { jobs: children, contexts, stream },
            (left) => endQueued(job, by, left),
            () => isCancelled(job.id, job.epoch + 1),
          );
          if (ended.outcome === "committed") return "cancelled";
        } else return "ended";
      }
    },

    prune: (retention) => pruneJobs(driver, retention),
    eraseUser: (userId) => eraseJobsOfUser(driver, userId),
  };
}
