// The tables, as numbered migrations that only go forward. One text serves both databases: JSON is text (a JSON type
// would reorder keys and break hashes), times are integer microseconds, flags 0 and 1.
import { access } from "./tables/access.ts";
import { approvals } from "./tables/approvals.ts";
import { audit } from "./tables/audit.ts";
import { channels } from "./tables/channels.ts";
import { gateway } from "./tables/gateway.ts";
import { gatewayLog } from "./tables/gateway-log.ts";
import { gatewaySchedules } from "./tables/gateway-schedules.ts";
import { guidelines } from "./tables/guidelines.ts";
import { kinds } from "./tables/kinds.ts";
import { memories } from "./tables/memories.ts";
import type { MigrationStatement } from "./tables/migration.ts";
import { oneOrder } from "./tables/one-order.ts";
import { operating } from "./tables/operating.ts";
import { outcomes } from "./tables/outcomes.ts";
import { sessions } from "./tables/sessions.ts";
import { subjects } from "./tables/subjects.ts";
import { swifter } from "./tables/swifter.ts";
import { workflows } from "./tables/workflows.ts";

/** Each entry brings a database from the version of its index to the next. Never edit one that was released: add another. */
export const migrations: readonly (readonly MigrationStatement[])[] = [
  [
    // The state of a run is bounded and rewritten; the engine is the last group of columns, so that work and its wake-up
    // are one update of one row.
    `create table threads (
      id text primary key,
      thread_key text not null unique,
      agent text not null,
      status text not null,
      created_at bigint not null,
      updated_at bigint not null,
      terminated_at bigint,
      parent_id text,
      state_version integer not null,
      state text,
      working text,
      run integer not null,
      steps integer not null,
      next_seq bigint not null,
      next_message bigint not null,
      tail_from bigint not null,
      summary_seq bigint,
      last_commit text,
      last_hash text not null,
      inbox_seq bigint not null,
      due_at bigint,
      wake_rev bigint not null,
      lease_by text,
      lease_until bigint not null,
      epoch bigint not null,
      claims integer not null,
      stuck_at bigint
    )`,
    "create index threads_due on threads (due_at) where due_at is not null",
    "create index threads_created on threads (created_at, id)",
    "create index threads_leased on threads (lease_by) where lease_by is not null",
    // An answer can be large and outlives many commits, so it is not part of the row that every commit rewrites.
    "create table answers (thread_id text primary key, sealed text not null)",
    // Entries stay after they were drained, without their body: they are also what makes a repeated write a repeat.
    `create table inbox (
      thread_id text not null,
      seq bigint not null,
      id text not null,
      kind text not null,
      body text,
      operation text not null,
      idempotency_key text not null,
      payload_hash text not null,
      run integer,
      created_at bigint not null,
      drained_at bigint,
      primary key (thread_id, seq),
      unique (thread_id, operation, idempotency_key)
    )`,
    "create index inbox_entries on inbox (thread_id, id)",
    "create index inbox_waiting on inbox (thread_id, seq) where drained_at is null",
    `create table messages (
      thread_id text not null,
      seq bigint not null,
      run integer not null,
      step integer not null,
      kind text not null,
      supersedes bigint,
      envelope text not null,
      salt text not null,
      hash text not null,
      at bigint not null,
      primary key (thread_id, seq)
    )`,
    `create table events (
      thread_id text not null,
      seq bigint not null,
      run integer not null,
      step integer not null,
      records text not null,
      notes text,
      messages_from bigint not null,
      messages_to bigint not null,
      tail_from bigint not null,
      summary_seq bigint,
      settled integer not null,
      at bigint not null,
      hash text not null,
      primary key (thread_id, seq)
    )`,
    `create table runs (
      thread_id text not null,
      run integer not null,
      run_key text not null,
      status text not null,
      outcome text,
      started_at bigint not null,
      ended_at bigint,
      primary key (thread_id, run)
    )`,
    `create table calls (
      thread_id text not null,
      run integer not null,
      number integer not null,
      tool_call_id text not null,
      tool_name text not null,
      phase text not null,
      idempotency_key text not null,
      arguments_hmac text not null,
      epoch bigint not null,
      begun_at bigint not null,
      certain_at bigint not null,
      outcome text,
      message_seq bigint,
      settled_at bigint,
      primary key (thread_id, run, number)
    )`,
    "create index calls_unknown on calls (settled_at) where phase = 'unknown'",
    `create table requests (
      id text primary key,
      thread_id text not null,
      run integer not null,
      call integer not null,
      kind text not null,
      tool_name text not null,
      status text not null,
      shown text not null,
      sealed text,
      binding text not null,
      answer text,
      payload_hash text,
      created_at bigint not null,
      expires_at bigint,
      ended_at bigint
    )`,
    "create index requests_pending on requests (thread_id, created_at) where status = 'pending'",
    "create table workers (id text primary key, started_at bigint not null, seen_at bigint not null)",
    // Text in flight: what is lost with a crash is told again by the next attempt.
    `create table live_text (
      thread_id text primary key,
      step integer not null,
      attempt integer not null,
      content text not null,
      updated_at bigint not null
    )`,
  ],
  [
    // Funds that several threads draw on.
    `create table budgets (
      name text primary key,
      tokens bigint,
      nanodollars bigint,
      used_tokens bigint not null,
      used_nanodollars bigint not null,
      reserved_tokens bigint not null,
      reserved_nanodollars bigint not null,
      updated_at bigint not null
    )`,
    "alter table threads add column budget text",
  ],
  [
    // Who a thread belongs to, and for a child what its parent's registry knows of it. The relationship and the request
    // stand in that too; they have columns because they are looked for.
    "alter table threads add column origin_agent text not null default ''",
    "update threads set origin_agent = agent",
    "alter table threads add column user_id text",
    "alter table threads add column tags text not null default '[]'",
    "alter table threads add column child text",
    "alter table threads add column child_status text",
    "alter table threads add column child_relationship text",
    "alter table threads add column child_request text",
    "create index threads_children on threads (parent_id, created_at, id) where parent_id is not null",
    `create index threads_live_children on threads (parent_id, child_relationship)
      where parent_id is not null and terminated_at is null`,
    // Never changed, and maybe large: not part of the row that every commit rewrites.
    "create table thread_arguments (thread_id text primary key, sealed text not null)",
    "alter table messages add column depth integer not null default 0",
    "alter table messages add column parent_seq bigint",
    `create table files (
      thread_id text not null,
      path text not null,
      name text not null,
      mime_type text not null,
      size bigint not null,
      is_directory integer not null,
      hash text not null,
      width integer,
      height integer,
      metadata text,
      created_at bigint not null,
      primary key (thread_id, path)
    )`,
    "create index files_by_hash on files (hash)",
    // Bytes are stored once, however many files of however many threads name them.
    "create table blobs (hash text primary key, size bigint not null, content blob not null)",
    `create table thread_values (
      thread_id text not null,
      name text not null,
      value text not null,
      primary key (thread_id, name)
    )`,
    `create table user_values (
      user_id text not null,
      name text not null,
      value text not null,
      primary key (user_id, name)
    )`,
    `create table variables (
      thread_id text not null,
      name text not null,
      sealed text not null,
      type text not null,
      inherited integer not null,
      primary key (thread_id, name)
    )`,
    `create table effects (
      thread_id text not null,
      id text not null,
      name text not null,
      args text not null,
      status text not null,
      scheduled_at bigint not null,
      created_at bigint not null,
      attempts integer not null,
      error text,
      completed_at bigint,
      manual_run integer not null,
      manual_run_at bigint,
      replayed_from text,
      primary key (thread_id, id)
    )`,
    `create index effects_open on effects (thread_id, scheduled_at, created_at, id)
      where status in ('pending', 'processing')`,
    "create index effects_created on effects (thread_id, created_at, id)",
    "create index requests_of_threads on requests (thread_id, created_at, id)",
  ],
  // Who acts and decides, what is remembered, and the proof of it.
  [
    ...[...subjects, ...approvals, ...sessions, ...memories, ...guidelines, ...access, ...channels, ...audit],
    "create index messages_superseding on messages (thread_id, supersedes, seq) where supersedes is not null",
  ],
  // What doors and those who operate them need.
  [...outcomes, ...operating],
  // Tokens that are good for as long as a grant is, visitors of two audiences who are called the same, and fewer pages a commit.
  [
    "alter table tokens add column by_grant integer not null default 0",
    "alter table sessions add column audience_id text",
    ...swifter,
  ],
  oneOrder,
  gateway,
  gatewayLog,
  gatewaySchedules,
  // Which step of its pipeline a job was queued for, where the id of the step does not say it.
  ["alter table gateway_jobs add column step_digest text"],
  kinds,
  workflows,
];
