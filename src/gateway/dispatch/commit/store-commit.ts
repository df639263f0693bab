// What was decided about a job as the commit that makes it so: sealed and redacted.
import type {
  JobCommit,
  JobSettlement,
  ListedJob,
  NewAttempt,
  NewStreamEntry,
} from "../../../backend/gateway/job-store.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Execution } from "../../plugins/plugin.ts";
import { loggedAnswer, nextOwners, noOwners, ownerOf, type RunOwners, sealOwners } from "../agents/run-owners.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Applied } from "../execute/executed-job.ts";
import type { Opened } from "../execute/opened-job.ts";
import { redactedJson } from "../redacted-json.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Child, StreamEvent } from "./new-child.ts";
import { createStoredRows, type StoredRows } from "./store-child.ts";

export type Decided = {
  readonly applied: Applied;
  readonly execution: Execution | undefined;
  /** Microseconds. */
  readonly startedAt: number;
  /** The state that the new one was made from. */
  readonly state: { readonly value: JsonMap; readonly owners: RunOwners; readonly revision: number };
  /** Of this execution. */
  readonly rows: StoredRows;
};

export function storeCommit(
  deps: DispatchDeps,
  snapshot: Snapshot,
  { job, executed }: Opened,
  decided: Decided,
): JobCommit {
  const { applied, state, rows } = decided;
  const { sealed, worker } = deps;
  const next =
    executed.isAgent && applied.state
      ? nextOwners(state.owners, state.value, applied.state.value, job.user_id)
      : state.owners;
  // A turn may end a run and forget it.
  const owners: RunOwners = executed.isAgent ? new Map([...state.owners, ...next]) : noOwners;
  return {
    job,
    worker,
    settlement: storeSettlement(deps, job.id, applied),
    attempt: storeAttempt(deps, job, decided, owners),
    ...(applied.state && {
      state: {
        plugin: job.plugin,
        sealed_state: sealed.seal("state", job.plugin, applied.state.value),
        sealed_owners: sealOwners(sealed, job.plugin, next),
        revision: state.revision,
        facts: applied.state.facts.map(({ fact_type, value }) => ({
          ...{ fact_type, command: job.command },
          sealed_value: sealed.seal("fact", job.plugin, value),
        })),
      },
    }),
    ...storeParts(deps, rows, job, applied, owners),
    max_tree_jobs: snapshot.config.service.max_tree_jobs,
    exempt: applied.children.filter(isExempt).map(({ id }) => id),
  };
}

/** A hook begins a tree of its own. */
export function isExempt({ is_exempt, submitted_by }: Child): boolean {
  return is_exempt || submitted_by === "hook";
}

/** The rows of what a job adds, each sealed once. */
export function storedRows({ sealed }: Pick<DispatchDeps, "sealed">, { config }: Snapshot): StoredRows {
  return createStoredRows({ sealed, dedupeKeepUs: config.service.dedupe_ttl_ms * 1_000 });
}

/** What is added to the tree and to the event stream. */
export function storeParts(
  { redact }: Pick<DispatchDeps, "redact">,
  rows: StoredRows,
  job: Pick<ListedJob, "id" | "root_job_id" | "user_id">,
  { children, contexts, stream }: Pick<Applied, "children" | "contexts" | "stream">,
  /** Of an agent: what a turn says of a run belongs to the user of that run, whichever user's job the turn was. */
  owners: RunOwners = noOwners,
): Pick<JobCommit, "children" | "contexts" | "stream"> {
  // A plugin may emit very many events: nothing here looks at each job for each other one.
  const firstOf = new Map<string, Child>();
  for (const child of children) {
    if (child.context_id !== null && !firstOf.has(child.context_id)) firstOf.set(child.context_id, child);
  }
  const rootOf = ({ id, submitted_by }: Child) => (submitted_by === "hook" ? id : job.root_job_id);
  return {
    // Those of children that are added: the others were left out.
    contexts: contexts.flatMap((context) => {
      const child = firstOf.get(context.id);
      return child ? [rows.context(context, rootOf(child))] : [];
    }),
    children: children.map((child) =>
      rows.child(child, {
        parent_job_id: job.id,
        root_job_id: rootOf(child),
        user_id: ownerOf(owners, child.payload) ?? job.user_id,
      }),
    ),
    stream: stream.map((event) => storeEntry(event, job.id, redact, ownerOf(owners, event.data))),
  };
}

export function storeEntry(
  { type, data }: StreamEvent,
  jobId: string | null,
  redact: (text: string) => string,
  userId?: string,
): NewStreamEntry {
  const job_id = typeof data.job_id === "string" ? data.job_id : jobId;
  const text = redactedJson(JSON.stringify(data), redact);
  return { type, data: text, job_id, ...(userId !== undefined && { user_id: userId }) };
}

function storeSettlement({ sealed, redact }: DispatchDeps, id: string, { settlement }: Applied): JobSettlement {
  const seal = (error: string) => sealed.sealText("error", id, redact(error));
  if (settlement.status === "queued") {
    const { retryAfterMs, reason, error } = settlement;
    return { status: "queued", retry_after_us: retryAfterMs * 1_000, reason, sealed_error: seal(error) };
  }
  const { status, reason, error } = settlement;
  return { status, reason, sealed_error: error === null ? null : seal(error) };
}

function storeAttempt(
  { sealed, redact }: DispatchDeps,
  job: Opened["job"],
  decided: Decided,
  owners: RunOwners,
): NewAttempt {
  const { applied, execution, startedAt } = decided;
  const { settlement } = applied;
  const text = (kind: "response" | "stderr", value: string | undefined) =>
    value === undefined || value === "" ? null : sealed.sealText(kind, job.id, value);
  const { error } = settlement;
  return {
    attempt: job.attempt,
    outcome: attemptOutcome(settlement.status, settlement.reason, execution),
    reason: settlement.reason,
    exit_code: execution?.exit_code ?? null,
    started_at: startedAt,
    sealed_response: text("response", execution && loggedAnswer(execution.stdout, owners, job.user_id)),
    sealed_stderr: text("stderr", execution?.stderr),
    sealed_error: error === null ? null : sealed.sealText("error", job.id, redact(error)),
  };
}

function attemptOutcome(
  status: Applied["settlement"]["status"],
  reason: string | null,
  execution: Execution | undefined,
): NewAttempt["outcome"] {
  if (reason === "cancelled") return "cancelled";
  if (status === "queued") return execution?.outcome === "timed_out" ? "timed_out" : "failed";
  return status;
}
