// The errors that the durable driver itself gives to steps.
import type { JsonMap } from "../../contracts/json.ts";

function error(code: string, message: string, more: JsonMap = {}): JsonMap {
  return { code, message, data: null, ...more };
}

/** Nothing is gained by another attempt. */
const final = { retryable: false };

export const cancelled = error("cancel_requested", "The run was asked to stop.");

export const outcomeUnknown = error(
  "workflow_step_outcome_unknown",
  "The process stopped while the step was at work; what it did is unknown.",
  final,
);

export const timedOut = error("workflow_step_timed_out", "The step did not end within its time.", final);

export const revoked = error("token_revoked", "The token that the run was started with was revoked.", final);

export const runTerminated = error("workflow_run_terminated", "The run was ended for good from outside.");

export function runBroken(message: string): JsonMap {
  return error("workflow_run_broken", message);
}

export const approvalExpired = error("approval_expired", "The approval was not decided in time.", final);

export function approvalRejected(reason: unknown): JsonMap {
  const why = typeof reason === "string" && reason !== "" ? ` Reason: ${reason}` : "";
  return error("approval_rejected", `The approval was rejected.${why}`, final);
}

export const requestMismatch = error("request_mismatch", "The answer was not submitted for this request.", final);

export const approvalOutdated = error(
  "approval_outdated",
  "The rules under which the approval was asked have changed.",
  final,
);

export function requestFailed(words: unknown): JsonMap {
  const message = typeof words === "string" && words !== "" ? words : "The request was answered with an error.";
  return error("workflow_request_failed", message);
}

export function childFailed(words: unknown): JsonMap {
  return error("workflow_agent_failed", typeof words === "string" ? words : "The agent did not succeed.");
}

export function unknownWorkflow(id: unknown): JsonMap {
  return error("workflow_not_found", `There is no workflow "${String(id)}".`, final);
}

export function unknownAgent(slug: unknown): JsonMap {
  return error("agent_not_found", `There is no agent "${String(slug)}" that the run may use.`, final);
}

export const tooDeep = error("workflow_too_deep", "Runs and threads stand too deep below one another.", final);
