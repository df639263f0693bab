// A run as others see it while it goes on: a record with a status, and the events that changed it.
import { identifier, scalarText, trim, truthy, wholeNumber } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { emptyMap, isContainer, type JsonMap, snapshot, snapshotMap } from "../json.ts";
import type { OperationError } from "../operation-error.ts";

const statuses = [
  "queued",
  "running",
  "cancelling",
  "cancelled",
  "completed",
  "succeeded",
  "failed",
  "runtime_tool_pending",
  "approval_required",
  "budget_exceeded",
  "stalled",
  "interrupted",
] as const;

export type RunStatus = (typeof statuses)[number];

// What waits for a client or an approval has not ended, so it can still be cancelled.
export const endedStatuses: ReadonlySet<RunStatus> = new Set<RunStatus>([
  "completed",
  "succeeded",
  "failed",
  "cancelled",
  "budget_exceeded",
  "stalled",
  "interrupted",
]);

/** One run. Chat runs always have a `session_id`; the other optional fields belong to workflows, tasks and queues. */
export type Run = {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly started_at: string;
  readonly updated_at: string;
  readonly metadata: JsonMap;
  readonly session_id?: string;
  readonly workflow_id?: string;
  readonly executor_id?: string;
  readonly queued_message_id?: string;
  readonly position?: number;
  readonly cancelled?: boolean;
};

export type RunEvent = {
  readonly id: string;
  readonly type: "run_started" | "run_updated" | "run_finished" | "cancel_requested";
  readonly created_at: string;
  readonly metadata: { readonly status: RunStatus };
};

/** A run with one page of its events; `cursor` is where the next page starts, `""` after the last. */
export type RunEvents = Run & {
  readonly events: readonly RunEvent[];
  readonly cursor: string;
  readonly has_more: boolean;
};

/** Who a run belongs to. */
export type RunOwner = { readonly type: string; readonly key: string };

/** What a conversation asks of run control. A run is visible to its owner alone; to others it does not exist. */
export interface RunControl {
  /** Begins a run, or says why its id cannot be used. */
  start(run: {
    readonly run_id: string;
    readonly session_id: string;
    readonly metadata?: JsonMap | undefined;
    readonly owner?: RunOwner | undefined;
  }): Promise<Run | OperationError>;
  /** Asked several times a turn, so it may answer at once. */
  get(runId: string, owner?: RunOwner): Run | undefined | Promise<Run | undefined>;
  finish(runId: string, status: RunStatus, owner?: RunOwner): Promise<Run | undefined>;
}

/** A run record with every field in shape; throws `invalid_run_record` without an id. */
export function normalizeRun(value: unknown): Run {
  const given = snapshotMap(value);
  const runId = identifier(given.run_id);
  if (runId === undefined) throw holdfastError("invalid_run_record", "run_id must be a non-empty string");
  return snapshot({
    run_id: runId,
    status: runStatus(given.status),
    started_at: scalarText(given.started_at) ?? "",
    updated_at: scalarText(given.updated_at) ?? "",
    metadata: isContainer(given.metadata) ? given.metadata : emptyMap,
    session_id: nameIn(given.session_id),
    workflow_id: nameIn(given.workflow_id),
    executor_id: nameIn(given.executor_id),
    queued_message_id: nameIn(given.queued_message_id),
    position: given.position == null ? undefined : (wholeNumber(given.position, 0) ?? 0),
    cancelled: given.cancelled == null ? undefined : truthy(given.cancelled),
  }) as Run;
}

/** A name that was given; empty when it is none, so that the field is not taken for absent. */
function nameIn(value: unknown): string | undefined {
  return value == null ? undefined : (scalarText(value) ?? "");
}

/** Runs and their events, kept in memory. Nothing here asks whose run it is. */
interface RunStore {
  start(run: unknown): Run;
  /** Stores a run that changed elsewhere; the time of the change is the one it states, or else now. */
  save(run: unknown): Run;
  /** Replaces a record without an event, because to those who watch the run nothing happened. */
  adopt(run: Run): Run;
  get(runId: string): Run | undefined;
  all(): Iterable<Run>;
  finish(runId: string, status?: unknown): Run | undefined;
  /** Asks a run to stop; one that has ended keeps its status and answers `cancelled: false`. */
  cancel(runId: string): Run | undefined;
  cancelRequested(runId: string): boolean;
  events(runId: string, page?: { readonly cursor?: unknown; readonly limit?: unknown }): RunEvents | undefined;
}

/** An empty store. `normalize` and `eventId` are what one kind of run does differently from another. */
export function createMemoryRunStore({
  now,
  normalize = normalizeRun,
  eventId = (runId, index) => `${runId}:${index}`,
}: {
  readonly now: () => Date;
  readonly normalize?: (value: unknown) => Run;
  readonly eventId?: (runId: string, index: number) => string;
}): RunStore {
  const runs = new Map<string, Run>();
  const logs = new Map<string, RunEvent[]>();

  function write(value: object, updated_at: string): Run {
    const run = normalize({ ...value, updated_at });
    runs.set(run.run_id, run);
    return run;
  }

  function record(type: RunEvent["type"], value: object, updatedAt?: string): Run {
    const created_at = now().toISOString();
    const run = write(value, updatedAt || created_at);
    const { run_id, status } = run;
    const log = logs.get(run_id) ?? [];
    log.push({ id: eventId(run_id, log.length), type, created_at, metadata: { status } });
    logs.set(run_id, log);
    return run;
  }

  function change(runId: string, type: RunEvent["type"], changed: (run: Run) => object): Run | undefined {
    const run = runs.get(runId);
    return run && record(type, { ...run, ...changed(run) });
  }

  return {
    start(value) {
      const given = snapshotMap(value);
      const started_at = scalarText(given.started_at) ?? now().toISOString();
      return record("run_started", { ...given, status: "running", started_at });
    },
    save(value) {
      const given = snapshotMap(value);
      return record("run_updated", given, scalarText(given.updated_at));
    },
    adopt: (run) => write(run, now().toISOString()),
    get: (runId) => runs.get(runId),
    all: () => runs.values(),
    finish: (runId, status = "completed") =>
      change(runId, "run_finished", () =>
        runStatus(status) === "cancelled" ? { status, cancelled: true } : { status },
      ),
    cancel: (runId) =>
      change(runId, "cancel_requested", (run) =>
        endedStatuses.has(run.status) ? { cancelled: false } : { status: "cancelling", cancelled: true },
      ),
    cancelRequested: (runId) => runs.get(runId)?.status === "cancelling",
    events(runId, page = {}) {
      const run = runs.get(runId);
      return run && eventsPage(run, logs.get(runId) ?? [], page);
    },
  };
}

const MOST_EVENTS = 500;
const USUAL_EVENTS = 100;

/** A run and a page of what happened in it. */
export function eventsPage(
  run: Run,
  log: readonly RunEvent[],
  page: { readonly cursor?: unknown; readonly limit?: unknown },
): RunEvents {
  const start = wholeNumber(page.cursor, 0) ?? 0;
  const limit = Math.min(wholeNumber(page.limit, 1) ?? USUAL_EVENTS, MOST_EVENTS);
  const events = log.slice(start, start + limit);
  const next = start + events.length;
  const hasMore = next < log.length;
  return snapshot({ ...run, events, cursor: hasMore ? String(next) : "", has_more: hasMore }) as RunEvents;
}

function runStatus(value: unknown): RunStatus {
  const given = typeof value === "string" ? trim(value).toLowerCase() : "";
  return statuses.find((status) => status === given) ?? "running";
}
