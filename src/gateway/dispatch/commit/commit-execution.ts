// The commit with which an execution takes effect: all of it or nothing, tried again for as long as it is refused for
// something that can be left out or read anew.
import type { JobCommitOutcome } from "../../../backend/gateway/job-store.ts";
import { LeaseLost, retryWhileDatabaseDown } from "../../../engine/retry-commit.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Executed } from "../execute/execute-job.ts";
import type { Applied, Outcome } from "../execute/executed-job.ts";
import type { JobControl } from "../execute/job-control.ts";
import type { Opened } from "../execute/opened-job.ts";
import { readState, type StoredState } from "../execute/stored-state.ts";
import type { Snapshot } from "../snapshot.ts";
import { addsTooMuch, eventsTooLarge } from "./added-bytes.ts";
import { asBefore } from "./apply-again.ts";
import { applyExecution, refused } from "./apply-execution.ts";
import { droppedJob } from "./dropped-job.ts";
import { type Duplicate, findDuplicates } from "./duplicates.ts";
import { onlyChildren } from "./only-children.ts";
import { isExempt, storeCommit, storedRows } from "./store-commit.ts";
import { isTooMany, treeTooLarge } from "./tree-limit.ts";

/** Commits until it is known what came of it. `again`: the execution itself has to be repeated. */
export async function commitExecution(
  deps: DispatchDeps,
  snapshot: Snapshot,
  opened: Opened,
  executed: Executed & { readonly state: StoredState },
  control: JobControl,
): Promise<"done" | "again"> {
  const { job } = opened;
  const { outcome } = executed;
  let { state } = executed;
  const random = deps.random();
  const now = new Date(deps.now()).toISOString();
  const most = snapshot.config.service.max_tree_jobs;
  const rows = storedRows(deps, snapshot);
  const left = new Set<string>();
  const answered = new Set<string>();
  let hasRoom = true;
  let applied = apply(outcome);
  for (;;) {
    const result = await attempt();
    if (result === undefined) return "done";
    switch (result.outcome) {
      case "committed":
        await deps.onCrashPoint("after commit job");
        for (const warning of applied.warnings) deps.log("warn", warning, job);
        await deps.committed(opened, applied);
        return "done";
      case "lease_lost":
        return "done";
      case "duplicate": {
        // Another job took the identity since it was looked for. All others are looked for again.
        const refusedFor = applied.children.filter(({ id }) => id === result.child_id);
        const known = await unlessLost(() => findDuplicates(deps, job, refusedFor), control);
        if (known === undefined) return "done";
        const { existing_job_id } = result;
        leaveOut(known.length > 0 ? known : refusedFor.map((child) => ({ child, existing_job_id, has_ended: false })));
        break;
      }
      case "state_changed":
        if (opened.executed.isAgent) return "again";
        state = await readState(deps, job.plugin);
        applied = applyAgain(state.problem ? { kind: "failed", failure: state.problem } : outcome);
        break;
      case "tree_too_large": {
        // A run hears that there is no room for what it has requested, and ends with that.
        if (isTurn() && hasRoom) {
          hasRoom = false;
          applied = applyAgain(outcome);
          break;
        }
        const error = treeTooLarge(job.root_job_id, result.jobs, applied, most);
        if (applied.settlement.status === "succeeded") {
          const failure = { ...refused(error), refusal: "max_tree_jobs_exceeded" } as const;
          applied = applyAgain({ kind: "failed", failure });
        } else {
          deps.log("warn", `its dead letter was not queued: ${error}`, job);
          // The end of the job, the call of its agent and its hooks, none of which count in the tree.
          applied = onlyChildren(applied, isExempt);
        }
        break;
      }
      case "events_too_large":
        applied = applyAgain({ kind: "failed", failure: refused(eventsTooLarge(applied)) });
        break;
      default:
        throw result satisfies never;
    }
  }

  /** What is sure to be refused is found before it is sealed, which would hold up every other job. */
  async function attempt(): Promise<JobCommitOutcome | { readonly outcome: "events_too_large" } | undefined> {
    const known = await unlessLost(() => findDuplicates(deps, job, applied.children), control);
    if (known === undefined) return undefined;
    leaveOut(known);
    if (isTooMany(applied, most)) return await countTree();
    // What the end of a job without success adds follows from the configuration, and has to be added.
    if (applied.settlement.status === "succeeded" && addsTooMuch(applied)) return { outcome: "events_too_large" };
    const written = storeCommit(deps, snapshot, opened, { ...executed, applied, state, rows });
    await deps.onCrashPoint("before commit job");
    return await unlessLost(() => deps.jobs.commit(written), control);
  }

  /** An agent hears of a request for which there is only a job that has ended: nothing would answer it. */
  function leaveOut(duplicates: readonly Duplicate[]): void {
    for (const { child, existing_job_id } of duplicates) {
      left.add(child.id);
      deps.log("info", droppedJob(child, existing_job_id), job);
    }
    const ended = isTurn() ? duplicates.filter(({ has_ended }) => has_ended) : [];
    for (const { child } of ended) answered.add(child.id);
    applied = ended.length > 0 ? applyAgain(outcome) : withoutLeft(applied);
  }

  function countTree(): Promise<JobCommitOutcome | undefined> {
    return unlessLost(async () => {
      return { outcome: "tree_too_large", jobs: await deps.jobs.countedJobs(job.root_job_id) };
    }, control);
  }

  function apply(of: Outcome): Applied {
    const { tables } = snapshot;
    return applyExecution(opened.executed, of, { tables, state: state.value, now, random, answered, hasRoom });
  }

  function applyAgain(of: Outcome): Applied {
    return asBefore(applied, withoutLeft(apply(of)));
  }

  function withoutLeft(of: Applied): Applied {
    return onlyChildren(of, ({ id }) => !left.has(id));
  }

  function isTurn(): boolean {
    return opened.executed.isAgent && applied.settlement.status === "succeeded";
  }
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
