// The commit with which an execution takes effect: all of it or nothing, tried again for as long as it is refused for
// something that can be left out or read anew.
import type { JobCommitOutcome } from "../../../backend/gateway/job-store.ts";
import { dedupeIdentity } from "../../../contracts/gateway/dedupe.ts";
import { LeaseLost, retryWhileDatabaseDown } from "../../../engine/retry-commit.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Executed } from "../execute/execute-job.ts";
import type { Applied, Outcome } from "../execute/executed-job.ts";
import type { JobControl } from "../execute/job-control.ts";
import type { Opened } from "../execute/opened-job.ts";
import { readState, type StoredState } from "../execute/stored-state.ts";
import type { Snapshot } from "../snapshot.ts";
import { applyExecution, refused } from "./apply-execution.ts";
import { droppedJob } from "./dropped-job.ts";
import type { Child } from "./new-child.ts";
import { isExempt, storeCommit } from "./store-commit.ts";

/** Commits until it is known what came of it. `again`: the execution itself has to be repeated. */
export async function commitExecution(
  deps: DispatchDeps,
  snapshot: Snapshot,
  opened: Opened,
  executed: Executed & { readonly state: StoredState },
  control: JobControl,
): Promise<"done" | "again"> {
  const { outcome } = executed;
  let { state } = executed;
  const random = deps.random();
  const now = new Date(deps.now()).toISOString();
  const left = new Set<string>();
  const answered = new Set<string>();
  let hasRoom = true;
  let applied = apply(outcome);
  for (const [{ id, dedupe_key }, first] of twins(applied)) {
    left.add(id);
    deps.log("info", droppedJob({ id, dedupe_key }, first.id), opened.job);
  }
  for (;;) {
    const result = isTooMany(applied, snapshot.config.service.max_tree_jobs) ? await countTree() : await store();
    if (result === undefined) return "done";
    switch (result.outcome) {
      case "committed":
        await deps.onCrashPoint("after commit job");
        for (const warning of applied.warnings) deps.log("warn", warning, opened.job);
        await deps.committed(opened, applied);
        return "done";
      case "lease_lost":
        return "done";
      case "duplicate": {
        const { child_id: id, existing_job_id } = result;
        const dedupe_key = applied.children.find((child) => child.id === id)?.dedupe_key ?? null;
        left.add(id);
        deps.log("info", droppedJob({ id, dedupe_key }, existing_job_id), opened.job);
        if (isTurn() && (await hasEnded(existing_job_id))) {
          answered.add(id);
          applied = apply(outcome);
        }
        break;
      }
      case "state_changed":
        if (opened.executed.isAgent) return "again";
        state = await readState(deps, opened.job.plugin);
        applied = apply(state.problem ? { kind: "failed", failure: state.problem } : outcome);
        break;
      case "tree_too_large": {
        // A run hears that there is no room for what it has requested, and ends with that.
        if (isTurn() && hasRoom) {
          hasRoom = false;
          applied = apply(outcome);
          break;
        }
        const most = snapshot.config.service.max_tree_jobs;
        const more = applied.children.filter((child) => !isExempt(child) && !left.has(child.id)).length;
        const error = `tree_too_large: The tree of job ${opened.job.root_job_id} has ${result.jobs} jobs and would get ${more} more; service.max_tree_jobs is ${most}.`;
        if (applied.settlement.status !== "succeeded")
          deps.log("warn", `its dead letter was not queued: ${error}`, opened.job);
        applied =
          applied.settlement.status === "succeeded"
            ? apply({ kind: "failed", failure: { ...refused(error), refusal: "max_tree_jobs_exceeded" } })
            : alone(applied);
        break;
      }
      default:
        throw result satisfies never;
    }
  }

  async function store(): Promise<JobCommitOutcome | undefined> {
    const written = storeCommit(deps, snapshot, opened, { ...executed, applied, state, left });
    await deps.onCrashPoint("before commit job");
    return await unlessLost(() => deps.jobs.commit(written), control);
  }

  function countTree(): Promise<JobCommitOutcome | undefined> {
    return unlessLost(async () => {
      return { outcome: "tree_too_large", jobs: await deps.jobs.countedJobs(opened.job.root_job_id) };
    }, control);
  }

  function apply(of: Outcome): Applied {
    const { tables } = snapshot;
    return applyExecution(opened.executed, of, { tables, state: state.value, now, random, answered, hasRoom });
  }

  function isTurn(): boolean {
    return opened.executed.isAgent && applied.settlement.status === "succeeded";
  }

  /** A job that is in no log any more has ended too; null is the very job that is to be added. */
  async function hasEnded(jobId: string | null): Promise<boolean> {
    if (jobId === null) return false;
    const job = await unlessLost(() => deps.jobs.get(jobId), control);
    return job?.status !== "queued" && job?.status !== "running";
  }
}

/** Jobs with the key of an earlier one of another event, and that one. The database would refuse the batch for each of them. */
function twins({ children }: Applied): readonly (readonly [Child, Child])[] {
  const firsts = new Map<string, Child>();
  return children.flatMap((child): [Child, Child][] => {
    const identity = dedupeIdentity(child);
    if (identity === undefined) return [];
    const first = firsts.get(identity);
    if (!first) firsts.set(identity, child);
    return first && first.source_event_id !== child.source_event_id ? [[child, first]] : [];
  });
}

/**
 * More jobs than a whole tree may have, none of which can turn out to be a duplicate. They are refused before they are
 * sealed, which would hold up every other job.
 */
function isTooMany({ children }: Applied, most: number): boolean {
  if (children.length < most) return false;
  const counted = children.filter((child) => !isExempt(child) && child.dedupe_key === null);
  const deliveries = counted.map(({ source_event_id, place }) => [source_event_id, place?.pipeline, place?.step_id]);
  return new Set(deliveries.map((delivery) => JSON.stringify(delivery))).size >= most;
}

/** In a tree that is full: the end of the job, the call of its agent and its hooks, none of which count in the tree. */
function alone(applied: Applied): Applied {
  const children = applied.children.filter(isExempt);
  const dropped = new Set(applied.children.filter((child) => !isExempt(child)).map(({ id }) => id));
  const stream = applied.stream.filter(({ data }) => typeof data.job_id !== "string" || !dropped.has(data.job_id));
  return { ...applied, children, stream };
}

/** Undefined when the job was given up while the database was away. */
async function unlessLost<Answer>(ask: () => Promise<Answer>, control: JobControl): Promise<Answer | undefined> {
  try {
    return await retryWhileDatabaseDown(ask, control.isLost);
  } catch (thrown) {
    if (thrown instanceof LeaseLost) return undefined;
    throw thrown;
  }
}
