// Refusals over HTTP: the status that belongs to a code, and the body that tells it (RFC 9457), never a stack trace.
import type { Context } from "hono";
import { hintOf } from "../contracts/error.ts";
import type { JsonMap } from "../contracts/json.ts";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import type { ServerEnv } from "./door.ts";
import { namesError } from "./gateway-paths.ts";

/** Codes whose status their name does not tell. */
const statuses: Readonly<Record<string, number>> = {
  unauthenticated: 401,
  channel_signature_invalid: 401,
  request_timeout: 408,
  headers_too_large: 431,
  ability_invalid_permissions: 403,
  consent_denied: 403,
  guideline_forbidden: 403,
  origin_not_allowed: 403,
  event_reserved: 403,
  pending_action_denied: 403,
  webhook_refused: 403,
  request_foreign: 403,
  tool_not_allowed: 403,
  thread_owner_missing: 403,
  thread_acts_with_more: 403,
  workflow_run_acts_with_more: 403,
  method_not_allowed: 405,
  bridge_item_foreign: 409,
  call_not_unknown: 409,
  agent_run_ended: 409,
  agents_reconcile_lock_unavailable: 409,
  agents_reconcile_workflow_branch_key_mismatch: 409,
  gateway_config_invalid: 409,
  job_ended: 409,
  effect_not_pending: 409,
  directory_not_empty: 409,
  file_exists: 409,
  file_is_directory: 409,
  file_not_directory: 409,
  fork_not_settled: 409,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  message_cancelled: 409,
  no_run: 409,
  pending_action_changed: 409,
  pending_action_claimed: 409,
  pending_action_ended: 409,
  pending_action_overtaken: 409,
  request_answered: 409,
  request_cancelled: 409,
  subagent_limit_reached: 409,
  subagent_too_deep: 409,
  thread_busy: 409,
  thread_key_taken: 409,
  thread_not_stuck: 409,
  thread_stopped: 409,
  thread_stuck: 409,
  thread_terminated: 409,
  workflow_events_full: 409,
  workflow_key_taken: 409,
  workflow_outcome_unknown: 409,
  workflow_run_ended: 409,
  workflow_run_has_parent: 409,
  workflow_run_not_failed: 409,
  workflow_run_rolled_back: 409,
  workflow_run_stuck: 409,
  pending_action_expired: 410,
  request_expired: 410,
  body_too_large: 413,
  file_too_large: 413,
  too_many_files: 413,
  unsupported_media_type: 415,
  host_not_allowed: 421,
  too_many_requests: 429,
  too_many_streams: 429,
  aborted: 499,
  ability_aborted: 499,
  ability_exception: 500,
  agents_chat_stream_failed: 500,
  internal_error: 500,
  pending_action_failed: 502,
  model_refused: 502,
  model_answer_broken: 502,
  invalid_model_answer: 502,
  provider_turn_failed: 502,
  model_unavailable: 503,
  model_stalled: 504,
  gateway_busy: 503,
  gateway_closed: 503,
  gateway_not_configured: 404,
  agents_reconcile_workflow_branch_unknown_handle: 404,
  server_closing: 503,
};

/** What a code that is not listed tells by its name; the first that fits counts. */
const byName: readonly (readonly [RegExp, number])[] = [
  [/_not_found$/, 404],
  [/_conflict$/, 409],
  [/(^|_)forbidden$/, 403],
  [/^database_/, 503],
  [/_(no_handler|missing_handler|no_recorder)$/, 501],
];

/** The HTTP status of a refusal; 400 for one that nothing tells more about, because an operation refused it. */
export function statusOf(code: string): number {
  if (Object.hasOwn(statuses, code)) return statuses[code] as number;
  return byName.find(([pattern]) => pattern.test(code))?.[1] ?? 400;
}

/** What went wrong in here is for the log; whoever asked is told the id to ask about. */
const hidden: ReadonlySet<number> = new Set([500]);

/** What to do about refusals that are no errors of ours. */
const hints: Readonly<Record<string, string>> = {
  ability_not_found: "List the operations there are with GET /abilities.",
  ability_invalid_permissions: "Use a token that may do this.",
  ability_exception: "Tell whoever runs the server the request's id; its log has more.",
};

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
  readonly data?: JsonMap;
  readonly request_id: string;
};

/** A refusal as whoever asked is told it, at whatever door. */
export function toldRefusal(refusal: OperationError): OperationError {
  const { code } = refusal;
  const isHidden = hidden.has(statusOf(code)) || code.startsWith("database_");
  return isHidden ? operationError(code, HIDDEN) : refusal;
}

const HIDDEN = "Something went wrong in the server; its log tells more about this request.";

/** A refusal as it is sent; with the status of its code unless another is given. */
export function problemOf(refusal: OperationError, requestId: string, status = statusOf(refusal.code)): Problem {
  const { code, message, data } = toldRefusal(refusal);
  const hint = hintOf(code) ?? (Object.hasOwn(hints, code) ? hints[code] : undefined);
  return {
    type: `urn:holdfast:problem:${code}`,
    title: titleOf(code),
    status,
    code,
    detail: message,
    ...(hint !== undefined && { hint }),
    ...(data !== undefined && { data }),
    request_id: requestId,
  };
}

/** Answers with a refusal. */
export function problem(
  context: Context<ServerEnv>,
  refusal: OperationError,
  headers: Readonly<Record<string, string>> = {},
  status?: number,
): Response {
  context.set("refusal", refusal);
  const told = problemOf(refusal, context.get("requestId") ?? "", status);
  const body = context.get("isWebhook") || namesError(context.req.path) ? { ...told, error: told.detail } : told;
  return context.body(JSON.stringify(body), told.status as 400, {
    "Content-Type": "application/problem+json",
    ...headers,
  });
}

function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
