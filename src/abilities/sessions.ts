// The operations on sessions: what somebody lists, reads, begins, names and deletes of the conversations that are kept for
// them. Nobody is told anything about the conversations of others.
import type { SessionStore } from "../backend/session-store.ts";
import { identifier, scalarText, wholeNumber } from "../contracts/coerce.ts";
import { HoldfastError } from "../contracts/error.ts";
import { asMap, emptyMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import * as session from "../contracts/sessions/session.ts";
import { type ConversationOwner, conversationOwner, fromInput } from "../contracts/trust/conversation-owner.ts";
import { currentPrincipal, type SessionHost } from "../contracts/trust/current-principal.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as workspace from "../contracts/workspace.ts";

/** Who asks, and where sessions are kept; without a store each operation answers that there is none. */
export type ConversationSessionHost = SessionHost & {
  readonly store?: Pick<SessionStore, "createForOwner" | "listForOwner" | "get" | "updateTitle" | "delete"> | undefined;
  /** Where nobody names a workspace; `default` unless given. */
  readonly workspaceId?: string | undefined;
  /** True for somebody who may see to the sessions of others. */
  readonly isAdministrator?: ((principal: Principal) => boolean | Promise<boolean>) | undefined;
};

type Store = NonNullable<ConversationSessionHost["store"]>;

/** A request whose asker, owner and store are known. */
type Asked = {
  readonly given: UnknownMap;
  readonly host: ConversationSessionHost;
  readonly store: Store;
  readonly principal: Principal;
  readonly owner: ConversationOwner;
};

type OneSession = { readonly session: UnknownMap };

/** The sessions of whoever asks in a workspace, the newest first and without their messages. */
export function list(
  input: unknown,
  host: ConversationSessionHost,
  context: UnknownMap = {},
): Promise<{ readonly sessions: readonly UnknownMap[] } | OperationError> {
  return asked(input, host, context, async ({ given, store, owner }) => {
    const place = workspaceOf(given, host);
    if (isOperationError(place)) return place;
    const found = await store.listForOwner(place, owner, {
      limit: Math.min(100, wholeNumber(given.limit, 1) ?? 50),
      offset: wholeNumber(given.offset, 0) ?? 0,
      agent_slug: scalarText(given.agent) ?? "",
      context: scalarText(given.context) ?? "",
    });
    return { sessions: found.map(withoutMessages) };
  });
}

/** One session with its messages. */
export function get(
  input: unknown,
  host: ConversationSessionHost,
  context: UnknownMap = {},
): Promise<OneSession | OperationError> {
  return asked(input, host, context, (request) => ownSession(request, async (row) => ({ session: session.full(row) })));
}

/** A new session of whoever asks. Nothing has been said in it, so nobody's consent is needed yet. */
export function create(
  input: unknown,
  host: ConversationSessionHost,
  context: UnknownMap = {},
): Promise<OneSession | OperationError> {
  return asked(input, host, context, async ({ given, store, owner, principal }) => {
    const place = workspaceOf(given, host);
    if (isOperationError(place)) return place;
    const sessionId = await store.createForOwner(place, owner, {
      agent_slug: given.agent == null ? principal.effective_agent_id : (scalarText(given.agent) ?? ""),
      metadata: snapshotMap(given.metadata),
      context: given.context == null ? "chat" : (scalarText(given.context) ?? ""),
    });
    if (sessionId === "") return refused("create_failed", "The session was not created.");
    return { session: session.full((await store.get(sessionId)) ?? { session_id: sessionId }) };
  });
}

/** Names a session. */
export function updateTitle(
  input: unknown,
  host: ConversationSessionHost,
  context: UnknownMap = {},
): Promise<OneSession | OperationError> {
  return asked(input, host, context, (request) =>
    ownSession(request, async (row) => {
      const title = identifier(request.given.title);
      if (title === undefined) return refused("invalid_title", "title must be a non-empty string");
      if (!(await request.store.updateTitle(row.session_id, title))) {
        return refused("update_failed", "The title was not stored.");
      }
      return { session: session.full({ ...row, title }) };
    }),
  );
}

/** Deletes a session with all that was said in it. */
export function remove(
  input: unknown,
  host: ConversationSessionHost,
  context: UnknownMap = {},
): Promise<{ readonly deleted: true } | OperationError> {
  return asked(input, host, context, (request) =>
    ownSession(request, async (row) => {
      if (!(await request.store.delete(row.session_id))) return refused("delete_failed", "The session is still there.");
      return { deleted: true };
    }),
  );
}

async function asked<Answer>(
  input: unknown,
  host: ConversationSessionHost,
  context: UnknownMap,
  operate: (request: Asked) => Promise<Answer | OperationError>,
): Promise<Answer | OperationError> {
  const given = asMap(input) ?? emptyMap;
  const principal = await principalOf(given, context, host);
  if (principal === null) return refused("unauthenticated", "Nobody is known to ask for this.");
  const claimed = fromInput(given, principal);
  if (isOperationError(claimed)) return claimed;
  const owner = claimed ?? conversationOwner(principal);
  if (owner === null) return refused("owner_required", "Whoever asks can own no conversation.");
  const { store } = host;
  if (store === undefined) return refused("no_store", "There is no store for sessions.");
  return operate({ given, host, store, principal, owner });
}

/** Who asks is known from the context, which is the host's; the input can only say where. */
function principalOf({ workspace_id }: UnknownMap, { principal }: UnknownMap, host: SessionHost) {
  return currentPrincipal({ principal, request_context: "rest", workspace_id, allow_anonymous_audience: false }, host);
}

function workspaceOf(given: UnknownMap, { workspaceId = "default" }: ConversationSessionHost) {
  const parts = { workspace_type: given.workspace_type ?? "site", workspace_id: given.workspace_id ?? workspaceId };
  try {
    return workspace.normalize(asMap(given.workspace) ?? parts);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return refused("invalid_workspace", thrown.detail);
  }
}

type Row = Awaited<ReturnType<Store["get"]>> & object;

async function ownSession<Answer>(
  { given, host, store, principal, owner }: Asked,
  operate: (row: Row) => Promise<Answer | OperationError>,
): Promise<Answer | OperationError> {
  const sessionId = identifier(given.session_id);
  if (sessionId === undefined) return refused("invalid_id", "session_id must be a non-empty string");
  const place = workspaceOf(given, host);
  if (isOperationError(place)) return place;
  const row = await store.get(sessionId);
  if (row === undefined) return refused("not_found", `There is no session "${sessionId}".`, 404);
  if (session.owned(row, place, owner) || (await host.isAdministrator?.(principal)) === true) return operate(row);
  return refused("forbidden", "The session belongs to somebody else.", 403);
}

function withoutMessages(row: unknown): UnknownMap {
  const { messages: _, ...summary } = session.full(row);
  return summary;
}

function refused(code: string, message: string, status?: number): OperationError {
  const name = `agents_conversation_session_${code}`;
  return status === undefined ? operationError(name, message) : operationError(name, message, { status });
}
