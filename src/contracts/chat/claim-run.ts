// Taking a run id for a chat: each is used once, in one session, by one owner, and only in a session that is the owner's.
import { randomBytes } from "node:crypto";
import { scalarText } from "../coerce.ts";
import type { ChatRunControl } from "../conversation/chat-run-control.ts";
import type { RunStatus } from "../conversation/run-control.ts";
import { asMap, emptyMap, type JsonMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import { owned } from "../sessions/session.ts";
import type { ConversationOwner } from "../trust/conversation-owner.ts";
import { userId } from "../trust/user-id.ts";
import type { Workspace } from "../workspace.ts";
import type { ChatRunContext } from "./run-context.ts";

export type ClaimHost = {
  readonly runs: Pick<ChatRunControl, "start" | "finish">;
  /** What knows whose a session is; without it nobody can say so of a session that has an owner. */
  readonly conversations?: Conversations | undefined;
  /** Where sessions are when nobody names a workspace. */
  readonly workspace?: Workspace | undefined;
};

/** Whose sessions are. */
export interface Conversations {
  /** True when a session is this owner's there; with null, when it is nobody's, or not known. */
  owns(sessionId: string, owner: ConversationOwner | null, place: Workspace): Promise<boolean>;
}

/** Sessions whose rows say whose they are. */
export function keptConversations(store: { get(sessionId: string): Promise<unknown> }): Conversations {
  return {
    async owns(sessionId, owner, place) {
      const row = await store.get(sessionId);
      return owner === null ? !hasOwner(row) : owned(row, place, owner);
    },
  };
}

/** A run id that was taken: to be bound to its session, and finished once. */
export type ClaimedRun = {
  /** Puts a run that was begun without a session into one. */
  bind(sessionId: string): Promise<OperationError | undefined>;
  finish(status: RunStatus): Promise<void>;
};

type Claim = ChatRunContext & {
  readonly run_id: string;
  /** Undefined for a run whose session begins with it. */
  readonly session_id: string | undefined;
  readonly agent: string;
};

const usualWorkspace: Workspace = { workspace_type: "site", workspace_id: "default" };

/** Takes the id, or says why it cannot be taken: it was used before, or the session is not the caller's. */
export async function claimRun(claim: Claim, host: ClaimHost): Promise<ClaimedRun | OperationError> {
  const { run_id, session_id, agent } = claim;
  const owner = claim.owner ?? undefined;
  const place = claim.workspace ?? host.workspace ?? usualWorkspace;
  const refusalOf = (sessionId: string) => sessionRefusal(sessionId, claim.owner, place, host);
  const refusal = session_id === undefined ? undefined : await refusalOf(session_id);
  if (refusal) return refusal;
  const _claim_token = randomBytes(16).toString("hex");
  const start = (sessionId: string, metadata: JsonMap) =>
    host.runs.start({ run_id, session_id: sessionId, metadata: { ...metadata, _claim_token }, owner });
  const started = await start(session_id ?? `pending:${run_id}`, { agent });
  if (isOperationError(started)) return started;
  return {
    async bind(sessionId) {
      if (session_id !== undefined) return undefined;
      // Whoever answers may have come to a session that is somebody else's.
      const foreign = await refusalOf(sessionId);
      if (foreign) return foreign;
      const bound = await start(sessionId, emptyMap);
      return isOperationError(bound) ? bound : undefined;
    },
    async finish(status) {
      await host.runs.finish(run_id, status, owner);
    },
  };
}

async function sessionRefusal(
  sessionId: string,
  owner: ConversationOwner | null,
  place: Workspace,
  { conversations }: ClaimHost,
): Promise<OperationError | undefined> {
  // What nobody owns and nobody keeps is open to everybody.
  if (!conversations && owner === null) return undefined;
  if (!conversations) {
    return operationError(
      "agents_chat_run_session_store_required",
      "Nothing here knows whose a session is, so nobody's can be continued.",
    );
  }
  return (await conversations.owns(sessionId, owner, place)) ? undefined : forbidden(sessionId);
}

function hasOwner(row: unknown): boolean {
  const { owner_type, owner_key, principal_owner_type, principal_owner_key, user_id } = asMap(row) ?? emptyMap;
  const named = [owner_type, owner_key, principal_owner_type, principal_owner_key].map(scalarText);
  return named.some((part) => part !== undefined && part !== "") || userId(user_id) > 0;
}

function forbidden(sessionId: string): OperationError {
  return operationError("agents_chat_run_owner_forbidden", `The session "${sessionId}" is not the caller's.`);
}
