// Where sessions are kept: the transcripts that somebody has consented to keep, apart from the records of threads, which
// are there only for as long as the threads need them.
import type { Json, JsonMap } from "../contracts/json.ts";
import type { Session, SessionSummary } from "../contracts/sessions/session.ts";
import type { SessionLock } from "../contracts/sessions/session-lock.ts";
import type { ConversationOwner } from "../contracts/trust/conversation-owner.ts";
import type { Workspace } from "../contracts/workspace.ts";

export type NewSession = {
  readonly agent_slug?: string;
  /** A `token_id` in it is what `recentPending` finds the sessions of one token by. */
  readonly metadata?: JsonMap;
  /** `chat` unless given. */
  readonly context?: string;
  /** The audience that its owner is a visitor of. */
  readonly audience_id?: string | null;
  readonly consent?: JsonMap | null;
  /** Seconds after which nobody sees it any more. */
  readonly expires_after?: number | null;
};

export type SessionQuery = {
  /** 50 unless given. */
  readonly limit?: number;
  readonly offset?: number;
  readonly agent_slug?: string;
  readonly context?: string;
  /** Those of a visitor of this audience: elsewhere there may be another of his name. */
  readonly audience_id?: string;
  readonly include_messages?: boolean;
};

export type SessionUpdate = {
  /** The whole transcript. */
  readonly messages: readonly Json[];
  /** All of it; what is not given is gone. */
  readonly metadata?: JsonMap;
  /** Kept when empty, as is the model. */
  readonly provider?: string;
  readonly model?: string;
  /** Null: the provider remembers nothing of this transcript. Kept when absent. */
  readonly provider_response_id?: string | null;
  /** The decision that allows to keep this; the one before stays when absent. */
  readonly consent?: JsonMap | null;
};

export type PendingSessionQuery = {
  /** How far back to look, from now; 600 unless given. */
  readonly seconds?: number;
  /** `chat` unless given. */
  readonly context?: string;
  readonly token_id?: number | null;
};

/** A session without messages is listed as a summary. What has expired is not there, whether it was removed yet or not. */
export interface SessionStore extends SessionLock {
  /** The id of a new session without messages. */
  create(workspace: Workspace, userId: number, session?: NewSession): Promise<string>;
  createForOwner(workspace: Workspace, owner: ConversationOwner, session?: NewSession): Promise<string>;
  get(sessionId: string): Promise<Session | undefined>;
  /** Undefined also for a session that belongs to somebody else. */
  getForOwner(workspace: Workspace, owner: ConversationOwner, sessionId: string): Promise<Session | undefined>;
  /** Newest first. */
  list(workspace: Workspace, userId: number, query?: SessionQuery): Promise<readonly (SessionSummary | Session)[]>;
  listForOwner(
    workspace: Workspace,
    owner: ConversationOwner,
    query?: SessionQuery,
  ): Promise<readonly (SessionSummary | Session)[]>;
  /** False when there is no such session. */
  update(sessionId: string, update: SessionUpdate): Promise<boolean>;
  updateTitle(sessionId: string, title: string): Promise<boolean>;
  /** True, however often. */
  delete(sessionId: string): Promise<boolean>;
  /** The newest session of that time if nobody has said anything in it yet, or somebody is at it just now. */
  recentPending(workspace: Workspace, userId: number, query?: PendingSessionQuery): Promise<Session | undefined>;
  recentPendingForOwner(
    workspace: Workspace,
    owner: ConversationOwner,
    query?: PendingSessionQuery,
  ): Promise<Session | undefined>;
  /** Its owner has read it now. */
  touchRead(sessionId: string): Promise<boolean>;
  /**
   * Removes sessions that have expired, and those that nobody has written to since `before` (microseconds since 1970), at
   * most `limit` of them; how many it were.
   */
  expire(query?: { readonly before?: number; readonly limit?: number }): Promise<number>;
}
