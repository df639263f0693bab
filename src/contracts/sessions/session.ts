// A session: the transcript of a conversation that is kept under its owner's name, beyond the records that a thread needs.
import { scalarText } from "../coerce.ts";
import { asMap, emptyMap, type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import type { ConversationOwner } from "../trust/conversation-owner.ts";
import { userId } from "../trust/user-id.ts";
import type { Workspace } from "../workspace.ts";

/** A session as it is listed: without its messages. Times are ISO 8601. */
export type SessionSummary = {
  readonly session_id: string;
  /** The thread whose transcript this is; null for one that a host keeps itself. */
  readonly thread_id: string | null;
  readonly workspace_type: string;
  readonly workspace_id: string;
  readonly owner_type: string;
  readonly owner_key: string;
  /** The audience that its owner is a visitor of; null for who is none. */
  readonly audience_id: string | null;
  /** The user for a session of a user, else 0. */
  readonly user_id: number;
  readonly agent_slug: string;
  readonly title: string;
  readonly metadata: JsonMap;
  readonly provider: string;
  readonly model: string;
  /** What the provider remembers the conversation by; null when it remembers nothing. */
  readonly provider_response_id: string | null;
  /** What kind of request it was begun by; `chat` unless told otherwise. */
  readonly context: string;
  /** Another name for `context`, which older clients read. */
  readonly mode: string;
  /** The decision under which it is kept; null for what nobody has said anything in yet, and what a host answers for. */
  readonly consent: JsonMap | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_read_at: string | null;
  readonly expires_at: string | null;
};

export type Session = SessionSummary & { readonly messages: readonly Json[] };

const texts = [
  ...["session_id", "workspace_type", "workspace_id", "owner_type", "owner_key"],
  ...["agent_slug", "title", "provider", "model", "context"],
];

/** A row of whatever store in the form that clients rely on: every field is there, and what else it holds stays. */
export function full(row: unknown): UnknownMap {
  const given = asMap(row) ?? emptyMap;
  const filled = texts.map((field) => [field, scalarText(given[field]) ?? ""] as const);
  return Object.freeze({
    ...given,
    ...Object.fromEntries(filled),
    user_id: userId(given.user_id),
    messages: Array.isArray(given.messages) ? snapshot(given.messages) : [],
    metadata: snapshotMap(given.metadata),
  });
}

/**
 * True when a stored row belongs to this workspace and this owner. Rows from before owners had types name a user by number;
 * a row that names half an owner belongs to nobody.
 */
export function owned(row: unknown, workspace: Workspace, owner: ConversationOwner): boolean {
  const given = asMap(row);
  if (given === undefined) return false;
  if (scalarText(given.workspace_type) !== workspace.workspace_type) return false;
  if (scalarText(given.workspace_id) !== workspace.workspace_id) return false;
  const type = given.owner_type ?? given.principal_owner_type ?? null;
  const key = given.owner_key ?? given.principal_owner_key ?? null;
  if (type !== null || key !== null) return scalarText(type) === owner.type && scalarText(key) === owner.key;
  return owner.type === "user" && given.user_id != null && userId(given.user_id) === userId(owner.key);
}

/** An owner as it is stored: a user unless a type is given, and nobody unless a key is. */
export function ownerOf(value: unknown): ConversationOwner {
  const given = asMap(value) ?? emptyMap;
  return { type: scalarText(given.type) || "user", key: scalarText(given.key) ?? "0" };
}
