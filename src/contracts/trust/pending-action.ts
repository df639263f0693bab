// An action that somebody proposed and nobody has applied yet: what a person sees, what is needed to apply it, and what
// became of it.
import { trimmed } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import * as message from "../conversation/message.ts";
import { HoldfastError, holdfastError } from "../error.ts";
import {
  asMap,
  emptyMap,
  isContainer,
  isEmpty,
  type Json,
  type JsonMap,
  seal,
  snapshot,
  snapshotMap,
  type UnknownMap,
} from "../json.ts";
import type { Workspace } from "../workspace.ts";
import * as workspace from "../workspace.ts";

const statuses = ["pending", "accepted", "rejected", "expired", "deleted"] as const;

const STATUS_RULE = `status must be one of ${statuses.join(", ")}`;

/** Every status but `pending` is terminal: the action is kept for audit and changes no more. */
export type PendingActionStatus = (typeof statuses)[number];

export type PendingAction = {
  readonly action_id: string;
  readonly kind: string;
  readonly summary: string;
  /** What the person who decides is shown. */
  readonly preview: Json;
  /** What applying the action needs; it may hold what nobody is to be shown. */
  readonly apply_input: Json;
  readonly workspace: Workspace | null;
  readonly agent: string | null;
  readonly creator: string | null;
  readonly status: PendingActionStatus;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly resolved_at: string | null;
  readonly resolver: string | null;
  readonly resolution_result: Json;
  readonly resolution_error: string | null;
  readonly resolution_metadata: JsonMap | readonly Json[];
  readonly metadata: JsonMap | readonly Json[];
};

/**
 * A frozen record with all its fields. Throws `invalid_ai_pending_action` with the first field that is wrong; an action
 * that has ended must say when and, unless it expired, through whom.
 */
export function fromArray(value: unknown): PendingAction {
  const given = fieldsOf(value);
  const action: PendingAction = {
    action_id: requiredText(given, "action_id"),
    kind: requiredText(given, "kind"),
    summary: requiredText(given, "summary"),
    preview: requiredJson(given, "preview"),
    apply_input: requiredJson(given, "apply_input"),
    workspace: workspaceOf(given),
    agent: optionalText(given, "agent"),
    creator: optionalText(given, "creator"),
    status: statusOf(given),
    created_at: requiredText(given, "created_at"),
    expires_at: optionalText(given, "expires_at"),
    resolved_at: optionalText(given, "resolved_at"),
    resolver: optionalText(given, "resolver"),
    resolution_result: json(given, "resolution_result"),
    resolution_error: optionalText(given, "resolution_error"),
    resolution_metadata: container(given, "resolution_metadata"),
    metadata: container(given, "metadata"),
  };
  const { status, resolved_at, resolver } = action;
  if (isTerminal(status)) {
    if (resolved_at === null) throw invalid(`resolved_at must be given when the status is ${status}`);
    if (resolver === null && status !== "expired") throw invalid(`resolver must be given when the status is ${status}`);
  }
  return seal(action);
}

/** The trimmed status; throws `invalid_ai_pending_action_status`. */
export function normalizeStatus(value: unknown): PendingActionStatus {
  const status = readStatus(value);
  if (status === undefined) throw holdfastError("invalid_ai_pending_action_status", STATUS_RULE);
  return status;
}

/** True for a status exactly as it is written in a record. */
export function isStatus(value: unknown): value is PendingActionStatus {
  return statuses.some((status) => status === value);
}

export function isTerminal(status: PendingActionStatus): boolean {
  return status !== "pending";
}

/**
 * The message that asks for the approval of an action. Its payload is the whole record, `apply_input` included: whoever
 * shows the message to others redacts it first.
 */
export function approvalEnvelope(
  action: PendingAction,
  extra: { readonly instruction?: unknown; readonly grants?: unknown; readonly metadata?: unknown } = {},
): Message {
  const instruction = trimmed(extra.instruction);
  const grants = Array.isArray(extra.grants)
    ? extra.grants.flatMap((grant) => asMap(grant) ?? []).map(snapshotMap)
    : [];
  return message.approvalRequired({
    content: action.summary,
    payload: {
      ...action,
      ...(instruction !== undefined && { instruction }),
      ...(grants.length > 0 && { grants }),
    },
    metadata: snapshotMap(extra.metadata),
  });
}

// Spread, so that whatever reading the fields sets off happens once and here.
function fieldsOf(value: unknown): UnknownMap {
  try {
    return { ...asMap(value) };
  } catch (thrown) {
    throw invalid("the record cannot be read", thrown);
  }
}

function requiredText(given: UnknownMap, field: string): string {
  const text = trimmed(given[field]);
  if (text === undefined) throw invalid(`${field} must be a non-empty string`);
  return text;
}

// Blank is not absent: whoever wrote the field meant to say something.
function optionalText(given: UnknownMap, field: string): string | null {
  return given[field] == null ? null : requiredText(given, field);
}

function requiredJson(given: UnknownMap, field: string): Json {
  if (given[field] === undefined) throw invalid(`${field} is required; it may be null`);
  return json(given, field);
}

function container(given: UnknownMap, field: string): JsonMap | readonly Json[] {
  const copied = json(given, field);
  if (copied === null) return emptyMap;
  if (!isContainer(copied)) throw invalid(`${field} must be a map or a list`);
  return isEmpty(copied) ? emptyMap : copied;
}

function json(given: UnknownMap, field: string): Json {
  let copied: Json;
  let isExact: boolean;
  try {
    copied = snapshot(given[field]);
    isExact = !losesNumber(given[field], copied);
  } catch (thrown) {
    throw invalid(`${field} cannot be written as JSON`, thrown);
  }
  if (!isExact) throw invalid(`${field} holds a number that JSON cannot write`);
  return copied;
}

// A copy writes NaN and infinity as null. Here that is refused, because what is applied must be what was approved.
function losesNumber(given: unknown, copied: unknown): boolean {
  if (copied === null) return typeof given === "number";
  if (copied === given || !isContainer(copied) || !isContainer(given)) return false;
  return Object.entries(copied).some(([key, item]) => losesNumber((given as UnknownMap)[key], item));
}

function workspaceOf({ workspace: given }: UnknownMap): Workspace | null {
  if (given == null) return null;
  try {
    return workspace.normalize(given);
  } catch (thrown) {
    throw invalid(thrown instanceof HoldfastError ? `workspace.${thrown.detail}` : "workspace cannot be read", thrown);
  }
}

function statusOf(given: UnknownMap): PendingActionStatus {
  const status = readStatus(given.status ?? "pending");
  if (status === undefined) throw invalid(STATUS_RULE);
  return status;
}

function readStatus(value: unknown): PendingActionStatus | undefined {
  const status = trimmed(value);
  return isStatus(status) ? status : undefined;
}

function invalid(detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_ai_pending_action", detail, cause);
}
