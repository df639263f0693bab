// The tables of the audit: what the chain of a thread covers beside its messages, and where all chains stood when.
import type { MigrationStatement } from "./migration.ts";

export const audit: readonly MigrationStatement[] = [
  // The hash of the notes stays when they and their salt are erased.
  "alter table events add column salt text",
  "alter table events add column notes_hash text",
  // The statement is kept as it was signed.
  `create table audit_checkpoints (
    number bigint primary key,
    statement text not null,
    signature text not null,
    at bigint not null
  )`,
  // The heads of a checkpoint in the order of its leaves.
  `create table audit_heads (
    checkpoint bigint not null,
    leaf integer not null,
    thread_id text not null,
    seq bigint not null,
    hash text not null,
    primary key (checkpoint, leaf)
  )`,
  "create index audit_heads_of_threads on audit_heads (thread_id, checkpoint)",
  // The last head of each thread that is in a checkpoint, and not known to be gone.
  "create table audit_latest (thread_id text primary key, seq bigint not null, hash text not null)",
  // What stays of a thread that was deleted.
  `create table audit_tombstones (
    thread_id text primary key,
    seq bigint not null,
    hash text not null,
    reason text not null,
    deleted_at bigint not null,
    signature text not null
  )`,
];
