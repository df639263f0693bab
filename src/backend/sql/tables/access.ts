// The tables of access: who may act, what was decided once and for all, and what waits for a decision outside of threads.
import type { MigrationStatement } from "./migration.ts";

/** A number that counts up from 1 and is never given twice, not even when its row is gone. */
const counted = {
  sqlite: "integer primary key autoincrement",
  postgres: "bigint generated always as identity",
} as const;

/** A table whose first column is counted. */
function countedTable(name: string, key: string, rest: string): MigrationStatement {
  return {
    sqlite: `create table ${name} (${key} ${counted.sqlite}, ${rest})`,
    postgres: `create table ${name} (${key} ${counted.postgres} primary key, ${rest})`,
  };
}

// A change_id is that of the last change: whoever lost the answer to one finds by it what the change came to.
export const access: readonly MigrationStatement[] = [
  // The number of a token may own conversations, so no other token ever gets it. The hash goes when it is revoked.
  countedTable(
    "tokens",
    "token_id",
    `agent_id text not null,
      owner_user_id bigint not null,
      token_hash text unique,
      token_prefix text not null,
      label text not null,
      allowed_capabilities text,
      expires_at text,
      last_used_at bigint,
      created_at bigint not null,
      revoked_at bigint,
      client_id text,
      workspace_id text,
      metadata text not null,
      change_id text not null`,
  ),
  "create index tokens_of_agents on tokens (agent_id, token_id)",

  // The key says whose grant it is. It is one text because a workspace may be absent, and what is absent is never equal.
  countedTable(
    "grants",
    "grant_id",
    `grant_key text not null unique,
      agent_id text not null,
      user_id bigint not null,
      audience_id text,
      role text not null,
      workspace_id text,
      granted_by_user_id bigint,
      granted_at bigint not null,
      metadata text not null`,
  ),
  "create index grants_of_agents on grants (agent_id, grant_id)",
  "create index grants_of_users on grants (user_id, grant_id) where user_id > 0",
  "create index grants_of_audiences on grants (audience_id, grant_id) where user_id = 0",

  `create table approval_memory (
    workspace_type text not null,
    workspace_id text not null,
    user_id bigint not null,
    agent_id text not null,
    tool_name text not null,
    policy text not null,
    policy_version text,
    request_id text,
    decided_by text,
    mac text not null,
    created_at bigint not null,
    primary key (workspace_type, workspace_id, user_id, agent_id, tool_name)
  )`,

  // Times are kept as they were written, and beside that as the moment they name, where they name one.
  countedTable(
    "pending_actions",
    "seq",
    `action_id text not null unique,
      revision integer not null,
      kind text not null,
      status text not null,
      workspace_type text,
      workspace_id text,
      agent text,
      creator text,
      resolver text,
      created_at text not null,
      created_us bigint,
      expires_at text,
      expires_us bigint,
      resolved_at text,
      resolved_us bigint,
      shown text not null,
      sealed text,
      outcome text,
      claim_id text,
      claim_decision text,
      claimed_by text,
      claimed_at text,
      change_id text not null`,
  ),
  "create index pending_actions_changes on pending_actions (change_id)",
  "create index pending_actions_waiting on pending_actions (seq) where status = 'pending'",
  "create index pending_actions_expiring on pending_actions (expires_us) where status = 'pending' and expires_us is not null",
];
