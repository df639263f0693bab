// Sessions in SQL.
import { wholeNumber } from "../../contracts/coerce.ts";
import { isContainer, type Json, snapshotMap } from "../../contracts/json.ts";
import { ownerOf, type Session } from "../../contracts/sessions/session.ts";
import type { ConversationOwner } from "../../contracts/trust/conversation-owner.ts";
import { userId } from "../../contracts/trust/user-id.ts";
import type { Workspace } from "../../contracts/workspace.ts";
import type { NewSession, SessionStore, SessionUpdate } from "../session-store.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import * as rows from "./rows.ts";
import { SESSION, sessionSummary } from "./session-rows.ts";
import { storableText } from "./storable-text.ts";

const LIVING = "(expires_at is null or expires_at > now_us())";

/** How long a lock is held unless told otherwise. */
const LOCK_SECONDS = 300;
const SECOND = 1_000_000;

export function createSessionStore(driver: SqlDriver): SessionStore {
  /** Writes one session or nothing; false when it is not there. */
  async function changed(statements: readonly Statement[]): Promise<boolean> {
    return (await attemptBatch(driver, statements)).outcome === "committed";
  }

  async function withMessages(found: readonly Row[]): Promise<readonly Session[]> {
    if (found.length === 0) return [];
    const ids = found.map((row) => rows.text(row.session_id));
    const sql = `select session_id, envelope from session_messages where session_id in (${placeholders(ids)})
      order by session_id, seq`;
    const messages = Map.groupBy(await driver.all(sql, ids), (row) => rows.text(row.session_id));
    return found.map((row) => {
      const own = messages.get(rows.text(row.session_id)) ?? [];
      return { ...sessionSummary(row), messages: own.map(({ envelope }) => JSON.parse(rows.text(envelope)) as Json) };
    });
  }

  const store: SessionStore = {
    create: (workspace, user, session) => store.createForOwner(workspace, userOwner(user), session),

    async createForOwner(workspace, owner, session = {}) {
      const sessionId = crypto.randomUUID();
      await attemptBatch(driver, [insertSession(sessionId, workspace, ownerOf(owner), session)]);
      return sessionId;
    },

    async get(sessionId) {
      const sql = `select ${SESSION} from sessions where session_id = $1 and ${LIVING}`;
      const [session] = await withMessages(await driver.all(sql, [storableText(sessionId)]));
      return session;
    },

    async getForOwner(workspace, owner, sessionId) {
      const of = ofOwner(workspace, owner);
      const sql = `select ${SESSION} from sessions where ${of.sql} and session_id = $5 and ${LIVING}`;
      const [session] = await withMessages(await driver.all(sql, [...of.params, storableText(sessionId)]));
      return session;
    },

    list: (workspace, user, query) => store.listForOwner(workspace, userOwner(user), query),

    async listForOwner(workspace, owner, { limit, offset, include_messages, ...wanted } = {}) {
      const of = ofOwner(workspace, owner);
      const params: Scalar[] = [...of.params, atLeast(1, limit, 50), atLeast(0, offset)];
      const conditions = [of.sql, LIVING];
      for (const column of ["agent_slug", "context", "audience_id"] as const) {
        const value = wanted[column];
        if (value) conditions.push(`${column} = $${params.push(storableText(value))}`);
      }
      const sql = `select ${SESSION} from sessions where ${conditions.join(" and ")} ${NEWEST} limit $5 offset $6`;
      const found = await driver.all(sql, params);
      return include_messages ? withMessages(found) : found.map(sessionSummary);
    },

    update: (sessionId, update) => changed(updateStatements(storableText(sessionId), update)),

    updateTitle(sessionId, title) {
      const sql = `update sessions set title = $2, updated_at = now_us() where session_id = $1 and ${LIVING}`;
      return changed([{ sql, params: [storableText(sessionId), storableText(title)], expect: 1 }]);
    },

    async delete(sessionId) {
      const params = [storableText(sessionId)];
      // The session first: whoever writes to it meanwhile waits for its row, and then finds it gone.
      return changed([
        { sql: "delete from sessions where session_id = $1", params },
        { sql: "delete from session_messages where session_id = $1", params },
      ]);
    },

    recentPending: (workspace, user, query) => store.recentPendingForOwner(workspace, userOwner(user), query),

    async recentPendingForOwner(workspace, owner, { seconds, context, token_id } = {}) {
      const of = ofOwner(workspace, owner);
      const params: Scalar[] = [...of.params, storableText(context || CONTEXT), atLeast(1, seconds, 600)];
      // Whole seconds, so that the last one belongs to the window. Asked once, so that an index finds what is recent.
      const recent = `created_at >= (select (now_us() / ${SECOND} - $6) * ${SECOND})`;
      const conditions = [of.sql, "context = $5", recent, LIVING];
      if (token_id != null) conditions.push(`token_id = $${params.push(token_id)}`);
      const sql = `select ${SESSION}, lock_until > now_us() as is_locked from sessions
        where ${conditions.join(" and ")} ${NEWEST} limit 1`;
      const found = await driver.all(sql, params);
      const [session] = await withMessages(found);
      return session && (session.messages.length === 0 || found[0]?.is_locked === 1) ? session : undefined;
    },

    async acquireLock(sessionId, ttlSeconds) {
      const token = crypto.randomUUID();
      const id = storableText(sessionId);
      const sql = `update sessions set lock_token = $2, lock_until = now_us() + $3
        where session_id = $1 and (lock_token is null or lock_until <= now_us()) and ${LIVING}`;
      const lock = { sql, params: [id, token, atLeast(1, ttlSeconds, LOCK_SECONDS) * SECOND], expect: 1 };
      const { outcome } = await attemptBatch(driver, [lock], async () => {
        const [held] = await driver.all("select 1 from sessions where session_id = $1 and lock_token = $2", [
          id,
          token,
        ]);
        return held && COMMITTED;
      });
      return outcome === "committed" ? token : null;
    },

    async releaseLock(sessionId, token) {
      const params = [storableText(sessionId), storableText(token)];
      const sql = "update sessions set lock_token = null, lock_until = null where session_id = $1 and lock_token = $2";
      const { outcome } = await attemptBatch(driver, [{ sql, params, expect: 1 }], async () => {
        // Nobody else can have released it: the token is known to its holder alone.
        const [held] = await driver.all("select 1 from sessions where session_id = $1 and lock_token = $2", params);
        return held ? undefined : COMMITTED;
      });
      return outcome === "committed";
    },

    touchRead(sessionId) {
      const sql = `update sessions set last_read_at = now_us() where session_id = $1 and ${LIVING}`;
      return changed([{ sql, params: [storableText(sessionId)], expect: 1 }]);
    },

    async expire({ before = 0, limit = 1_000 } = {}) {
      const over = "(expires_at <= (select now_us()) or updated_at < $1)";
      const found = await driver.all(`select session_id from sessions where ${over} limit $2`, [before, limit]);
      if (found.length === 0) return 0;
      const ids = found.map((row) => rows.text(row.session_id));
      const named = `session_id in (${placeholders(ids, 1)})`;
      const done = await attemptBatch(driver, [
        // Looked at again: somebody may have written to it since.
        { sql: `delete from sessions where ${over} and ${named} returning session_id`, params: [before, ...ids] },
        {
          sql: `delete from session_messages where session_id in (${placeholders(ids)})
            and not exists (select 1 from sessions where sessions.session_id = session_messages.session_id)`,
          params: ids,
        },
      ]);
      return done.outcome === "committed" ? (done.rows[0]?.length ?? 0) : 0;
    },
  };
  return store;
}

/** What a session is begun by where nobody says, or says nothing. */
const CONTEXT = "chat";

const NEWEST = "order by created_at desc, session_id desc";

function insertSession(id: string, workspace: Workspace, owner: ConversationOwner, session: NewSession): Statement {
  const { agent_slug = "", context, consent = null, audience_id = null, expires_after = null } = session;
  const metadata = snapshotMap(session.metadata);
  const sql = `insert into sessions (session_id, workspace_type, workspace_id, owner_type, owner_key, user_id, agent_slug,
      title, metadata, provider, model, context, consent, token_id, audience_id, created_at, updated_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, '', $8, '', '', $9, $10, $11, $12, now_us(), now_us(),
      now_us() + cast($13 as bigint))
    on conflict (session_id) do nothing`;
  const { params } = ofOwner(workspace, owner);
  const user = owner.type === "user" ? userId(owner.key) : 0;
  const kept = [JSON.stringify(metadata), storableText(context || CONTEXT), consent && JSON.stringify(consent)];
  const token = metadata.token_id == null ? null : userId(metadata.token_id);
  const lasts = expires_after === null ? null : atLeast(0, expires_after) * SECOND;
  const visited = audience_id === null ? null : storableText(audience_id);
  return { sql, params: [id, ...params, user, storableText(agent_slug), ...kept, token, visited, lasts] };
}

function updateStatements(sessionId: string, update: SessionUpdate): readonly Statement[] {
  const { messages, metadata = {}, provider, model, provider_response_id: responseId, consent } = update;
  const params: Scalar[] = [sessionId, JSON.stringify(snapshotMap(metadata))];
  const sets = ["metadata = $2", "updated_at = now_us()"];
  const set = (column: string, value: string | null) => {
    sets.push(`${column} = $${params.push(value === null ? null : storableText(value))}`);
  };
  if (provider) set("provider", provider);
  if (model) set("model", model);
  if (responseId !== undefined) set("provider_response_id", responseId || null);
  if (consent !== undefined) set("consent", consent && JSON.stringify(consent));
  const all: readonly unknown[] = isContainer(messages) ? Object.values(messages) : [];
  return [
    { sql: `update sessions set ${sets.join(", ")} where session_id = $1 and ${LIVING}`, params, expect: 1 },
    { sql: "delete from session_messages where session_id = $1", params: [sessionId] },
    ...all.map((message, index) => ({
      sql: "insert into session_messages (session_id, seq, envelope) values ($1, $2, $3)",
      // Below the numbers that a thread gives its messages: what it says later comes behind all of this.
      params: [sessionId, index - all.length, JSON.stringify(message ?? null)],
    })),
  ];
}

/** The first four placeholders. */
function ofOwner({ workspace_type, workspace_id }: Workspace, given: ConversationOwner) {
  const { type, key } = ownerOf(given);
  return {
    sql: "workspace_type = $1 and workspace_id = $2 and owner_type = $3 and owner_key = $4",
    params: [workspace_type, workspace_id, type, key].map(storableText),
  };
}

function userOwner(user: number): ConversationOwner {
  return { type: "user", key: String(user) };
}

/** A whole number from `floor` on. */
function atLeast(floor: number, value: number | null | undefined, otherwise = floor): number {
  return value == null ? otherwise : (wholeNumber(value, floor) ?? floor);
}

function placeholders(values: readonly unknown[], after = 0): string {
  return values.map((_, index) => `$${after + index + 1}`).join(", ");
}
