// What was decided about a job as the commit that makes it so: sealed, redacted, and without the children left out.
import type {
  JobCommit,
  JobSettlement,
  ListedJob,
  NewAttempt,
  NewStreamEntry,
} from "../../backend/gateway/job-store.ts";
import type { Execution } from "../plugins/plugin.ts";
import type { DispatchDeps } from "./deps.ts";
import type { Applied } from "./executed-job.ts";
import type { Child, StreamEvent } from "./new-child.ts";
import type { Opened } from "./opened-job.ts";
import type { Snapshot } from "./snapshot.ts";
import { storeChild, storeContext } from "./store-child.ts";

export type Decided = {
  readonly applied: Applied;
  readonly execution: Execution | undefined;
  /** Microseconds. */
  readonly startedAt: number;
  /** The state that the new one was made from. */
  readonly state: { readonly revision: number };
  /** Children that turned out to be duplicates. */
  readonly left: ReadonlySet<string>;
};

export function storeCommit(deps: DispatchDeps, snapshot: Snapshot, { job }: Opened, decided: Decided): JobCommit {
  const { applied, state, left } = decided;
  const { sealed, worker } = deps;
  return {
    job,
    worker,
    settlement: storeSettlement(deps, job.id, applied),
    attempt: storeAttempt(deps, job, decided),
    ...(applied.state && {
      state: {
        plugin: job.plugin,
        sealed_state: sealed.seal("state", job.plugin, applied.state.value),
        revision: state.revision,
        ...(applied.state.fact && {
          fact: {
            fact_type: applied.state.fact.fact_type,
            command: job.command,
            sealed_value: sealed.seal("fact", job.plugin, applied.state.fact.value),
          },
        }),
      },
    }),
    ...storeParts(deps, snapshot, job, applied, left),
    max_tree_jobs: snapshot.config.service.max_tree_jobs,
    exempt: applied.children.filter(isExempt).map(({ id }) => id),
  };
}

/** A hook begins a tree of its own. */
function isExempt({ is_exempt, submitted_by }: Child): boolean {
  return is_exempt || submitted_by === "hook";
}

/** What is added to the tree and to the event stream. */
export function storeParts(
  { sealed, redact }: Pick<DispatchDeps, "sealed" | "redact">,
  { config }: Snapshot,
  job: Pick<ListedJob, "id" | "root_job_id" | "user_id">,
  applied: Pick<Applied, "children" | "contexts" | "stream">,
  /** Ids of children that turned out to be duplicates. */
  left: ReadonlySet<string>,
): Pick<JobCommit, "children" | "contexts" | "stream"> {
  const children = applied.children.filter(({ id }) => !left.has(id));
  const contexts = applied.contexts.filter(({ id }) => children.some((child) => child.context_id === id));
  const options = { sealed, dedupeKeepUs: config.service.dedupe_ttl_ms * 1_000 };
  const rootOf = ({ id, submitted_by }: Child) => (submitted_by === "hook" ? id : job.root_job_id);
  return {
    contexts: contexts.map((context) => {
      const child = children.find(({ context_id }) => context_id === context.id);
      return storeContext(context, child ? rootOf(child) : job.root_job_id, sealed);
    }),
    children: children.map((child) =>
      storeChild(
        child,
        {
          parent_job_id: job.id,
          root_job_id: rootOf(child),
          user_id: job.user_id,
        },
        options,
      ),
    ),
    stream: applied.stream
      .filter(({ data }) => typeof data.job_id !== "string" || !left.has(data.job_id))
      .map((event) => storeEntry(event, job.id, redact)),
  };
}

export function storeEntry(
  { type, data }: StreamEvent,
  jobId: string | null,
  redact: (text: string) => string,
): NewStreamEntry {
  return { type, data: redact(JSON.stringify(data)), job_id: typeof data.job_id === "string" ? data.job_id : jobId };
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

function storeAttempt({ sealed, redact }: DispatchDeps, job: Opened["job"], decided: Decided): NewAttempt {
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
    sealed_response: text("response", execution?.stdout),
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
