// How a run ended, in one vocabulary, whatever the result that tells of it looks like.
import { trimmed, truthy } from "../coerce.ts";
import { asMap, type JsonMap, snapshotMap, type UnknownMap } from "../json.ts";

const statuses = [
  "completed",
  "failed",
  "runtime_tool_pending",
  "approval_required",
  "budget_exceeded",
  "stalled",
  "cancelled",
  "interrupted",
  "incomplete",
] as const;

type RunStatus = (typeof statuses)[number];

export type RunOutcome = {
  readonly schema: "agents-api.run-outcome";
  readonly version: 1;
  readonly status: RunStatus;
  readonly completed: boolean;
  readonly stop_reason: string;
  readonly retryable: boolean;
  readonly failure?: JsonMap;
  readonly assertions?: JsonMap;
  readonly provider_error?: JsonMap;
  readonly metadata?: JsonMap;
};

const nothing: UnknownMap = {};

/** The outcome of a result: what the given outcome states, and for the rest what follows from the result. */
export function normalize(outcome: unknown, result: unknown): RunOutcome {
  const given = asMap(outcome) ?? nothing;
  const told = asMap(result) ?? nothing;
  const ended = ending(given, told);
  const isProviders = ended.stop_reason === "provider_error";
  const failure = firstMap(given.failure, told.failure);
  const providerError = firstMap(given.provider_error, isProviders ? told.failure : null);
  const assertions = firstMap(given.assertions);
  const metadata = firstMap(given.metadata);
  return Object.freeze({
    schema: "agents-api.run-outcome",
    version: 1,
    ...ended,
    ...(failure && { failure }),
    ...(assertions && { assertions }),
    ...(providerError && { provider_error: providerError }),
    ...(metadata && { metadata }),
  });
}

/** The status that run control shows for a result; an incomplete run is still `running`. */
export function runControlStatus(result: unknown): Exclude<RunStatus, "incomplete"> | "running" {
  const { status } = normalize(asMap(result)?.run_outcome, result);
  return status === "incomplete" ? "running" : status;
}

type Ending = Pick<RunOutcome, "status" | "completed" | "stop_reason" | "retryable">;

// Nothing ran, so nothing can have completed, even where an outcome that came along says so.
const contended: Ending = {
  status: "incomplete",
  completed: false,
  stop_reason: "transcript_lock_contention",
  retryable: false,
};

function ending(given: UnknownMap, result: UnknownMap): Ending {
  const named = keyword(given.status);
  const stated = statuses.find((status) => status === named);
  if (keyword(result.status) === contended.stop_reason && (stated ?? "completed") === "completed") return contended;
  const status = stated ?? derivedStatus(given, result);
  const completed = status === "completed" && isSaidCompleted(given, result);
  return {
    status,
    completed,
    stop_reason: keyword(given.stop_reason) ?? derivedStopReason(status, completed, result),
    retryable: given.retryable === undefined ? isRetryable(status, result) : truthy(given.retryable),
  };
}

/** Statuses of a result that name its outcome directly. */
const telling = [
  "runtime_tool_pending",
  "approval_required",
  "budget_exceeded",
  "stalled",
  "interrupted",
  "cancelled",
] as const;

function derivedStatus(given: UnknownMap, result: UnknownMap): RunStatus {
  const named = keyword(result.status);
  const told = telling.find((status) => status === named);
  if (told !== undefined) return told;
  if (named === "failed" || result.failure != null) return "failed";
  return isSaidCompleted(given, result) ? "completed" : "incomplete";
}

/** What is said about completion, whatever the status; where nothing is, the run came to its end. */
function isSaidCompleted(given: UnknownMap, result: UnknownMap): boolean {
  return truthy(given.completed === undefined ? (result.completed ?? true) : given.completed);
}

function derivedStopReason(status: RunStatus, completed: boolean, result: UnknownMap): string {
  const named = keyword(result.status);
  if (named === "budget_exceeded" && keyword(result.budget) === "turns") return "max_turns";
  if (status === "failed") return "provider_error";
  // A run that is called completed but is said not to be came to no natural end.
  if (completed) return "natural";
  return named ?? status;
}

function isRetryable(status: RunStatus, result: UnknownMap): boolean {
  switch (status) {
    case "runtime_tool_pending":
    case "approval_required":
    case "cancelled":
    case "interrupted":
      return false;
    default:
      return status === "failed" || keyword(result.status) === "budget_exceeded";
  }
}

/** A word as results and outcomes use them, however it was written. */
function keyword(value: unknown): string | undefined {
  return trimmed(value)?.toLowerCase();
}

/** The first value that is a map. An empty one that was given says that there is nothing to tell, and stays. */
function firstMap(...values: unknown[]): JsonMap | undefined {
  const found = values.map(asMap).find((value) => value !== undefined);
  return found && snapshotMap(found);
}
