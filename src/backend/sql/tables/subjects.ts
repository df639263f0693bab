// Whom a thread acts for, and what that person has agreed to.
import type { MigrationStatement } from "./migration.ts";

export const subjects: readonly MigrationStatement[] = [
  // Written once and read with the thread: not part of the row that every commit rewrites. The last two follow from the
  // others, and are what lists are narrowed by: the principal's audience, and where the thread is, or else its principal.
  `create table thread_subjects (
    thread_id text primary key,
    principal text not null,
    workspace_type text,
    workspace_id text,
    owner_type text,
    owner_key text,
    context text not null,
    consent text not null,
    audience_id text,
    place_id text
  )`,
  "create index thread_subjects_owned on thread_subjects (owner_type, owner_key)",
  "create index thread_subjects_placed on thread_subjects (place_id) where place_id is not null",
  // A transcript that left its place, and what allowed that.
  `create table session_shares (
    id text primary key,
    session_id text not null,
    shared_with text not null,
    shared_by text not null,
    consent text not null,
    at bigint not null
  )`,
  "create index session_shares_of on session_shares (session_id, at, id)",
];
