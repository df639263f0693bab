// The tables of channels and bridges.
import type { MigrationStatement } from "./migration.ts";

const ITEM = `
  queue_id text not null unique,
  client_id text not null,
  session_id text,
  item text not null`;

export const channels: readonly MigrationStatement[] = [
  // Which session an external conversation goes on in.
  "create table channel_sessions (storage_key text primary key, session_id text not null, updated_at bigint not null)",
  // Messages that came in. Whoever lost the answer to a claim finds out by its id who has it.
  "create table inbound_messages (storage_key text primary key, claim_id text not null, expires_at bigint not null)",
  "create index inbound_messages_expiring on inbound_messages (expires_at)",
  "create table bridge_clients (client_id text primary key, client text not null)",
  // The position is the order in which items came; it stays when an item is replaced.
  {
    sqlite: `create table bridge_items (position integer primary key autoincrement,${ITEM})`,
    postgres: `create table bridge_items (position bigint generated always as identity primary key,${ITEM})`,
  },
  "create index bridge_items_of_clients on bridge_items (client_id, position)",
];
