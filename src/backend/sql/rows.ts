// From rows to what the ports speak of.
import type { Entry, EntryKind } from "../inbox.ts";
import type { ChildLink, ThreadKind } from "../new-thread.ts";
import type { RequestKind, RequestStatus, StoredRequest } from "../request-store.ts";
import type { Row } from "../sql-driver.ts";
import type { StoredEffect, StoredVariable } from "../state-store.ts";
import type {
  CallPhase,
  MessageKind,
  StoredCall,
  StoredEvent,
  StoredMessage,
  StoredRun,
  Thread,
  ThreadStatus,
} from "../thread-rows.ts";
import type { EffectStatus, FileRecord, VariableType } from "../write.ts";

/** The columns of a thread that are listed. */
export const THREAD = `id, thread_key, agent, status, created_at, updated_at, terminated_at, run, steps, next_seq,
  next_message, stuck_at, budget, origin_agent, parent_id, user_id, tags, child, child_status, kind`;

/** The condition that a row of a table belongs to nothing else than a thread. */
export function ofThread(table: string): string {
  return `not exists (select 1 from threads where threads.id = ${table}.thread_id and threads.kind <> 'thread')`;
}

export function thread(row: Row): Thread {
  return {
    id: text(row.id),
    kind: row.kind as ThreadKind,
    key: text(row.thread_key),
    agent: text(row.agent),
    origin_agent: text(row.origin_agent),
    parent_id: optionalText(row.parent_id),
    user_id: optionalText(row.user_id),
    tags: JSON.parse(text(row.tags)) as readonly string[],
    child: row.child == null ? null : (JSON.parse(text(row.child)) as ChildLink),
    child_status: optionalText(row.child_status),
    budget: optionalText(row.budget),
    status: row.stuck_at == null ? (row.status as ThreadStatus) : "stuck",
    created_at: number(row.created_at),
    updated_at: number(row.updated_at),
    terminated_at: optionalNumber(row.terminated_at),
    run: number(row.run),
    steps: number(row.steps),
    next_seq: number(row.next_seq),
    next_message: number(row.next_message),
  };
}

export const MESSAGE = "seq, run, step, kind, supersedes, envelope, salt, hash, at, depth, parent_seq";

export function message(row: Row): StoredMessage {
  return {
    seq: number(row.seq),
    run: number(row.run),
    step: number(row.step),
    kind: row.kind as MessageKind,
    supersedes: optionalNumber(row.supersedes),
    depth: number(row.depth),
    parent_seq: optionalNumber(row.parent_seq),
    envelope: text(row.envelope),
    salt: text(row.salt),
    hash: text(row.hash),
    at: number(row.at),
  };
}

export const EVENT =
  "seq, run, step, records, notes, salt, notes_hash, messages_from, messages_to, tail_from, summary_seq, settled, at, hash";

export function event(row: Row): StoredEvent {
  return {
    seq: number(row.seq),
    run: number(row.run),
    step: number(row.step),
    records: text(row.records),
    notes: optionalText(row.notes),
    salt: optionalText(row.salt),
    notes_hash: optionalText(row.notes_hash),
    messages_from: number(row.messages_from),
    messages_to: number(row.messages_to),
    tail_from: number(row.tail_from),
    summary_seq: optionalNumber(row.summary_seq),
    settled: row.settled === 1,
    at: number(row.at),
    hash: text(row.hash),
  };
}

export function run(row: Row): StoredRun {
  return {
    run: number(row.run),
    run_key: text(row.run_key),
    status: text(row.status),
    outcome: optionalText(row.outcome),
    started_at: number(row.started_at),
    ended_at: optionalNumber(row.ended_at),
  };
}

export const CALL = `thread_id, run, number, tool_call_id, tool_name, phase, idempotency_key, arguments_hmac, epoch,
  begun_at, certain_at, outcome, message_seq, settled_at`;

export function call(row: Row): StoredCall {
  return {
    thread_id: text(row.thread_id),
    run: number(row.run),
    number: number(row.number),
    tool_call_id: text(row.tool_call_id),
    tool_name: text(row.tool_name),
    phase: row.phase as CallPhase,
    idempotency_key: text(row.idempotency_key),
    arguments_hmac: text(row.arguments_hmac),
    epoch: number(row.epoch),
    begun_at: number(row.begun_at),
    certain_at: number(row.certain_at),
    outcome: optionalText(row.outcome),
    message_seq: optionalNumber(row.message_seq),
    settled_at: optionalNumber(row.settled_at),
  };
}

export function entry(row: Row): Entry {
  return {
    seq: number(row.seq),
    id: text(row.id),
    kind: row.kind as EntryKind,
    body: text(row.body),
    created_at: number(row.created_at),
  };
}

export const REQUEST = `id, thread_id, run, call, kind, tool_name, status, shown, sealed, binding, answer, payload_hash,
  agent, creator, workspace_type, workspace_id, policy_version, approvers, answer_mac, resolver, decided_by, created_at,
  expires_at, ended_at`;

export function request(row: Row): StoredRequest {
  return {
    id: text(row.id),
    thread_id: text(row.thread_id),
    run: number(row.run),
    call: number(row.call),
    kind: row.kind as RequestKind,
    tool_name: text(row.tool_name),
    status: row.status as RequestStatus,
    shown: text(row.shown),
    sealed: optionalText(row.sealed),
    binding: text(row.binding),
    answer: optionalText(row.answer),
    payload_hash: optionalText(row.payload_hash),
    terms: {
      agent: text(row.agent),
      creator: optionalText(row.creator),
      workspace_type: optionalText(row.workspace_type),
      workspace_id: optionalText(row.workspace_id),
      policy_version: text(row.policy_version),
      approvers: optionalText(row.approvers),
    },
    answer_mac: optionalText(row.answer_mac),
    resolver: optionalText(row.resolver),
    decided_by: optionalText(row.decided_by),
    created_at: number(row.created_at),
    expires_at: optionalNumber(row.expires_at),
    ended_at: optionalNumber(row.ended_at),
  };
}

export const FILE = "path, name, mime_type, size, is_directory, hash, width, height, metadata, created_at";

export function file(row: Row): FileRecord {
  return {
    path: text(row.path),
    name: text(row.name),
    mime_type: text(row.mime_type),
    size: number(row.size),
    is_directory: row.is_directory === 1,
    hash: text(row.hash),
    width: optionalNumber(row.width),
    height: optionalNumber(row.height),
    metadata: optionalText(row.metadata),
    created_at: number(row.created_at),
  };
}

export function variable(row: Row): StoredVariable {
  return {
    name: text(row.name),
    sealed: text(row.sealed),
    type: row.type as VariableType,
    inherited: row.inherited === 1,
  };
}

export const EFFECT = `id, thread_id, name, args, status, scheduled_at, created_at, attempts, error, completed_at,
  manual_run, manual_run_at, replayed_from`;

export function effect(row: Row): StoredEffect {
  return {
    id: text(row.id),
    thread_id: text(row.thread_id),
    name: text(row.name),
    args: text(row.args),
    status: row.status as EffectStatus,
    scheduled_at: number(row.scheduled_at),
    created_at: number(row.created_at),
    attempts: number(row.attempts),
    error: optionalText(row.error),
    completed_at: optionalNumber(row.completed_at),
    manual_run: row.manual_run === 1,
    manual_run_at: optionalNumber(row.manual_run_at),
    replayed_from: optionalText(row.replayed_from),
  };
}

type Column = Row[string] | undefined;

export function number(column: Column): number {
  return Number(column);
}

export function text(column: Column): string {
  return String(column ?? "");
}

export function optionalNumber(column: Column): number | null {
  return column == null ? null : Number(column);
}

export function optionalText(column: Column): string | null {
  return column == null ? null : String(column);
}
