// How a run ended, in one vocabulary, whatever the result that tells of it looks like.
import { nonEmptyString, trimmed, truthy } from "../coerce.ts";
import { asMap, isEmpty, isMap, type JsonMap, snapshotMap, type UnknownMap } from "../json.ts";

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
  const { status, stop_reason, retryable } = ending(given, told);
  const failure = firstFilled(given.failure, told.failure);
  const providerError = firstFilled(given.provider_error, stop_reason === "provider_error" ? told.failure : null);
  const assertions = firstFilled(given.assertions);
  const metadata = firstFilled(given.metadata);
  return Object.freeze({
    schema: "agents-api.run-outcome",
    version: 1,
    status,
    completed: status === "completed" && isSaidCompleted(given, told),
    stop_reason,
    retryable,
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

type Ending = Pick<RunOutcome, "status" | "stop_reason" | "retryable">;

// Nothing ran, so nothing can have completed, even where an outcome that came along says so.
const contended: Ending = { status: "incomplete", stop_reason: "transcript_lock_contention", retryable: false };

function ending(given: UnknownMap, result: UnknownMap): Ending {
  const stated = keyword(given.status, statuses);
  if (result.status === contended.stop_reason && (stated ?? "completed") === "completed") return contended;
  const status = stated ?? derivedStatus(given, result);
  return {
    status,
    stop_reason: trimmed(given.stop_reason)?.toLowerCase() ?? derivedStopReason(status, result),
    retryable: given.retryable == null ? isRetryable(status, result) : truthy(given.retryable),
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
  const told = telling.find((status) => status === result.status);
  if (told !== undefined) return told;
  if (result.status === "failed" || result.failure != null) return "failed";
  return isSaidCompleted(given, result) ? "completed" : "incomplete";
}

/** What is said about completion, whatever the status; where nothing is, the run came to its end. */
function isSaidCompleted(given: UnknownMap, result: UnknownMap): boolean {
  return truthy(given.completed === undefined ? (result.completed ?? true) : given.completed);
}

function derivedStopReason(status: RunStatus, result: UnknownMap): string {
  if (result.status === "budget_exceeded" && result.budget === "turns") return "max_turns";
  if (status === "failed") return "provider_error";
  if (status === "completed") return "natural";
  return nonEmptyString(result.status) ?? status;
}

function isRetryable(status: RunStatus, result: UnknownMap): boolean {
  switch (status) {
    case "runtime_tool_pending":
    case "approval_required":
    case "cancelled":
    case "interrupted":
      return false;
    default:
      return status === "failed" || result.status === "budget_exceeded";
  }
}

function keyword<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  const spoken = trimmed(value)?.toLowerCase();
  return words.find((word) => word === spoken);
}

function firstFilled(...values: unknown[]): JsonMap | undefined {
  const filled = values.find((value) => isMap(value) && !isEmpty(value));
  return filled === undefined ? undefined : snapshotMap(filled);
}
