// What a run of a thread adds to the session that keeps its transcript. The messages are copied within the database, so
// that a run costs what it said and not what was said before.
import type { Statement } from "../sql-driver.ts";
import type { Write } from "../write.ts";
import { storableText } from "./storable-text.ts";

type Transcript = Extract<Write, { write: "transcript" }>;

/** The session first: its row holds off whoever else writes to it. */
export function transcriptStatements(write: Transcript): readonly Statement[] {
  return [keepSession(write), ...copyMessages(write)];
}

export function eraseFromSessions(threadId: string, seqs: readonly number[]): readonly Statement[] {
  const sql = `delete from session_messages
    where seq = $2 and session_id in (select session_id from sessions where thread_id = $1 /*few rows*/)`;
  return seqs.map((seq) => ({ sql, params: [threadId, seq] }));
}

/** Also after consent was taken back: what is kept must not say what its thread says no more. */
export function changeInSessions(threadId: string, from: number): readonly Statement[] {
  const superseded = (
    kind: string,
  ) => `session_id in (select session_id from sessions where thread_id = $1 /*few rows*/)
    and seq in (select supersedes from messages where thread_id = $1 and seq >= $2 and kind = '${kind}')`;
  return [
    {
      sql: `update session_messages set envelope = (
          select messages.envelope from messages
          where thread_id = $1 and messages.seq >= $2 and kind = 'edit' and supersedes = session_messages.seq
          order by messages.seq desc limit 1
        ) where ${superseded("edit")}`,
      params: [threadId, from],
    },
    { sql: `delete from session_messages where ${superseded("deletion")}`, params: [threadId, from] },
  ];
}

/** The consent is still the one from which it was decided. */
function isAgreed(thread: string, consent: string): string {
  return `coalesce((select thread_subjects.consent from thread_subjects where thread_subjects.thread_id = ${thread}), '')
    = coalesce(cast(${consent} as text), '')`;
}

function keepSession({ session_id, thread_id, session, if_consent }: Transcript): Statement {
  const { metadata, provider, model, provider_response_id: responseId } = session;
  const unlessEmpty = (column: string) =>
    `${column} = case when excluded.${column} = '' then sessions.${column} else excluded.${column} end`;
  const changes = [
    "thread_id = excluded.thread_id",
    "consent = excluded.consent",
    "expires_at = excluded.expires_at",
    "updated_at = excluded.updated_at",
    "title = case when sessions.title = '' then excluded.title else sessions.title end",
    unlessEmpty("provider"),
    unlessEmpty("model"),
    ...(metadata === undefined ? [] : ["metadata = excluded.metadata"]),
    ...(responseId === undefined ? [] : ["provider_response_id = excluded.provider_response_id"]),
  ];
  const sql = `insert into sessions (session_id, thread_id, workspace_type, workspace_id, owner_type, owner_key, user_id,
      agent_slug, title, metadata, provider, model, provider_response_id, context, consent, token_id, audience_id,
      created_at, updated_at, expires_at)
    select $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, cast($16 as bigint), $17, now_us(),
      now_us(), now_us() + cast($18 as bigint)
    from threads where id = $2 and ${isAgreed("$2", "$19")}
    on conflict (session_id) do update set ${changes.join(", ")}
    where sessions.workspace_type = excluded.workspace_type and sessions.workspace_id = excluded.workspace_id
      and sessions.owner_type = excluded.owner_type and sessions.owner_key = excluded.owner_key
      and (sessions.thread_id is null or sessions.thread_id = excluded.thread_id)`;
  const { user_id, agent_slug, title, context, consent, token_id, audience_id, expires_after } = session;
  const words = [agent_slug, title].map(storableText);
  const state = [metadata ?? "{}", storableText(provider), storableText(model), responseId ?? null];
  const visited = audience_id === null ? null : storableText(audience_id);
  const kept = [storableText(context), consent, token_id, visited, expires_after];
  const own = [session_id, thread_id, ...ownerParams(session), user_id];
  return { sql, params: [...own, ...words, ...state, ...kept, if_consent] };
}

/** Nothing is copied into a session that is not this thread's and this owner's. */
function copyMessages(write: Transcript): readonly Statement[] {
  const { session_id, thread_id, run_from, run_to, session, if_consent } = write;
  const own = `sessions.session_id = $1 and sessions.thread_id = $2 and sessions.workspace_type = $3
    and sessions.workspace_id = $4 and sessions.owner_type = $5 and sessions.owner_key = $6`;
  const params = [session_id, thread_id, ...ownerParams(session), run_from];
  const superseded = (kind: string) => `session_id = $1
    and seq in (select supersedes from messages where thread_id = $2 and seq >= $7 and kind = '${kind}')
    and exists (select 1 from sessions where ${own})`;
  return [
    {
      sql: `insert into session_messages (session_id, seq, envelope)
        select sessions.session_id, messages.seq, messages.envelope
        from sessions join messages on messages.thread_id = sessions.thread_id
        where ${own} and messages.seq >= $7 and messages.seq < $8 and messages.kind = 'message' and messages.depth = 0
          and ${isAgreed("$2", "$9")}
        on conflict (session_id, seq) do nothing`,
      params: [...params, run_to, if_consent],
    },
    // What was said in this run or before, and changed since. The last change counts.
    {
      sql: `update session_messages set envelope = (
          select messages.envelope from messages
          where thread_id = $2 and messages.seq >= $7 and kind = 'edit' and supersedes = session_messages.seq
          order by messages.seq desc limit 1
        ) where ${superseded("edit")}`,
      params,
    },
    { sql: `delete from session_messages where ${superseded("deletion")}`, params },
  ];
}

function ownerParams({ workspace_type, workspace_id, owner_type, owner_key }: Transcript["session"]) {
  return [workspace_type, workspace_id, owner_type, owner_key].map(storableText);
}
