// Rows of one instant, written past the runtime: no clock of a database gives two rows the same time on purpose.
import type { World } from "../databases.ts";

/** Microseconds; long ago, so that nothing waits for it. */
export const INSTANT = 1_700_000_000_000_000;

type Column = string | number | null;
export type NewRow = Readonly<Record<string, Column>>;

export async function insertRows(world: World, table: string, rows: readonly NewRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(", ")})`);
  await world.sql(`insert into ${table} (${columns.join(", ")}) values ${values.join(", ")}`);
}

function literal(value: Column): string {
  if (value === null) return "null";
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

/** Of an agent that no worker runs. */
export const aThreadRow = (id: string, parts: NewRow = {}): NewRow => ({
  ...{ id, thread_key: `key of ${id}`, agent: "elsewhere", origin_agent: "elsewhere", status: "idle" },
  ...{ created_at: INSTANT, updated_at: INSTANT, state_version: 1, run: 0, steps: 0, next_seq: 0, next_message: 0 },
  ...{ tail_from: 0, last_hash: "hash", inbox_seq: 0, wake_rev: 0, lease_until: 0, epoch: 0, claims: 0 },
  ...parts,
});

export const aRunRow = (run_id: string, parts: NewRow = {}): NewRow => ({
  ...{ run_id, workflow_id: "refunds", spec_hash: "hash", status: "failed", payload_hash: "hash", created_at: INSTANT },
  ...{ ended_at: INSTANT, has_problem: 1, body: "sealed" },
  ...parts,
});

export const aStepRow = (parent: string, position: number): NewRow => ({
  ...{ run_id: "run", parent, position, status: "succeeded", undo_order: position },
});

export const aRequestRow = (id: string, parts: NewRow = {}): NewRow => ({
  ...{ id, thread_id: "thread", run: 1, call: 1, kind: "approval", tool_name: "shop/refund", status: "pending" },
  ...{ shown: "{}", binding: "binding", created_at: INSTANT },
  ...parts,
});

export const anActionRow = (id: string): NewRow => ({
  ...{ action_id: id, stored_at: INSTANT, revision: 1, kind: "install", status: "pending" },
  ...{ created_at: "2026-01-01T00:00:00Z", change_id: `change of ${id}` },
  shown: JSON.stringify({ summary: "Install it.", preview: {}, metadata: {} }),
});

export const aCallRow = (thread_id: string, run: number, number: number): NewRow => ({
  ...{ thread_id, run, number, tool_call_id: "call", tool_name: "shop/refund", phase: "unknown" },
  ...{ idempotency_key: "key", arguments_hmac: "hmac", epoch: 1, begun_at: INSTANT, certain_at: INSTANT },
  settled_at: INSTANT,
});

export const anEffectRow = (id: string): NewRow => ({
  ...{ thread_id: "thread", id, name: "remind", args: "{}", status: "pending", scheduled_at: INSTANT },
  ...{ created_at: INSTANT, attempts: 0, manual_run: 0 },
});

export const aMessageRow = (seq: number): NewRow => ({
  ...{ thread_id: "thread", seq, run: 1, step: 1, kind: "message", envelope: `"${seq}"`, salt: "salt", hash: "hash" },
  ...{ at: INSTANT, depth: 0 },
});

export const anEventRow = (seq: number): NewRow => ({
  ...{ thread_id: "thread", seq, run: 1, step: 1, records: "[]", messages_from: 0, messages_to: 0, tail_from: 0 },
  ...{ settled: 1, at: INSTANT, hash: "hash" },
});

export const aGuidelineRow = (id: string): NewRow => ({
  ...{ id, type: "content", title: "Title", content: "Content", scope: "workspace_shared_guidance", user_id: 7 },
  ...{ workspace_id: "1", status: "publish", version: 1, created_at: INSTANT, updated_at: INSTANT },
});

export const aSessionRow = (session_id: string): NewRow => ({
  ...{ session_id, workspace_type: "site", workspace_id: "1", owner_type: "user", owner_key: "7", user_id: 7 },
  ...{ agent_slug: "desk", title: "", metadata: "{}", provider: "", model: "", context: "chat" },
  ...{ created_at: INSTANT, updated_at: INSTANT },
});

export const aFileRow = (path: string): NewRow => ({
  ...{ thread_id: "thread", path, name: path.slice(1), mime_type: "text/plain", size: 0, is_directory: 0, hash: "" },
  created_at: INSTANT,
});

export const aTokenRow = (label: string): NewRow => ({
  ...{ agent_id: "desk", owner_user_id: 7, token_hash: `hash of ${label}`, token_prefix: "hf", label },
  ...{ created_at: INSTANT, metadata: "{}", change_id: `change of ${label}` },
});

export const aGrantRow = (audience_id: string): NewRow => ({
  ...{ grant_key: `key of ${audience_id}`, agent_id: "desk", user_id: 0, audience_id, role: "operator" },
  ...{ granted_at: INSTANT, metadata: "{}" },
});

/** One that has failed, in the tree `root`. */
export const aJobRow = (id: string, seq: number): NewRow => ({
  ...{ seq, id, plugin: "echo", command: "handle", status: "failed", attempt: 1, max_attempts: 4, submitted_by: "api" },
  ...{ root_job_id: "root", created_at: INSTANT, wake_rev: 0, lease_until: 0, epoch: 1, claims: 0 },
});

export const aLoggedJobRow = (id: string, seq: number): NewRow => ({
  ...{ seq: 100 + seq, id, plugin: "echo", command: "handle", status: "failed", attempt: 1, max_attempts: 4 },
  ...{ submitted_by: "api", root_job_id: "root", created_at: INSTANT, completed_at: INSTANT },
});

export const anAttemptRow = (job_id: string, epoch: number): NewRow => ({
  ...{ job_id, epoch, attempt: epoch, status: "failed", outcome: "failed", ended_at: INSTANT },
});

export const aStreamRow = (id: number): NewRow => ({ id, type: "job.enqueued", data: "{}", at: INSTANT });

export const aFactRow = (seq: number): NewRow => ({
  ...{
    seq,
    plugin: "echo",
    fact_type: "greeting",
    command: "poll",
    job_id: "job",
    sealed_value: "",
    created_at: INSTANT,
  },
});

export const aScheduleRow = (schedule_id: string): NewRow => ({
  ...{ plugin: "echo", schedule_id, definition_hash: "hash", status: "active", change_id: `change of ${schedule_id}` },
});

export const aBreakerRow = (command: string): NewRow => ({
  ...{ plugin: "echo", command, state: "closed", failures: 0, change_id: `change of ${command}` },
});
