// The tables of sessions, which are kept beyond the threads they come from, and of the instances of agents.
import type { MigrationStatement } from "./migration.ts";

const IDENTITY = `
  agent_slug text not null,
  owner_user_id bigint not null,
  instance_key text not null,
  config text not null,
  meta text not null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (agent_slug, owner_user_id, instance_key)`;

export const sessions: readonly MigrationStatement[] = [
  `create table sessions (
    session_id text primary key,
    thread_id text,
    workspace_type text not null,
    workspace_id text not null,
    owner_type text not null,
    owner_key text not null,
    user_id bigint not null,
    agent_slug text not null,
    title text not null,
    metadata text not null,
    provider text not null,
    model text not null,
    provider_response_id text,
    context text not null,
    consent text,
    token_id bigint,
    created_at bigint not null,
    updated_at bigint not null,
    last_read_at bigint,
    expires_at bigint,
    lock_token text,
    lock_until bigint
  )`,
  `create index sessions_of_owners
    on sessions (workspace_type, workspace_id, owner_type, owner_key, created_at, session_id)`,
  "create index sessions_of_threads on sessions (thread_id) where thread_id is not null",
  "create index sessions_expiring on sessions (expires_at) where expires_at is not null",
  "create index sessions_updated on sessions (updated_at)",
  // One row a message, so that what a run adds costs what it says and not what was said before.
  `create table session_messages (
    session_id text not null,
    seq bigint not null,
    envelope text not null,
    primary key (session_id, seq)
  )`,
  // A number that is never given twice, not even when its identity is gone.
  {
    sqlite: `create table identities (id integer primary key autoincrement,${IDENTITY})`,
    postgres: `create table identities (id bigint generated always as identity primary key,${IDENTITY})`,
  },
];
