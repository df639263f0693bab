// Commits and what they are made of, for tests: everything that a test does not care about has a value.
import type { Held } from "../engine.ts";
import type { NewEntry } from "../inbox.ts";
import type { NewRequest } from "../request-store.ts";
import type { CallChange, Commit } from "../thread-commit.ts";
import type { NewMessage } from "../thread-rows.ts";
import type { NewThread } from "../thread-store.ts";

/** In microseconds, longer than any test. */
export const MINUTE = 60_000_000;

export function aThread(parts: Partial<NewThread> = {}): NewThread {
  const id = crypto.randomUUID();
  return {
    id,
    key: `key of ${id}`,
    agent: "support",
    budget: null,
    state_version: 1,
    hash: "first hash",
    parent_id: null,
    user_id: null,
    tags: [],
    child: null,
    child_status: null,
    arguments: null,
    ...parts,
  };
}

export function anEntry(parts: Partial<NewEntry> = {}): NewEntry {
  const id = crypto.randomUUID();
  return {
    id,
    kind: "message",
    body: '{"text":"Hello"}',
    operation: "send",
    idempotency_key: `key of ${parts.id ?? id}`,
    payload_hash: "hash of Hello",
    wakes_stopped: false,
    urgent: false,
    ...parts,
  };
}

export function aMessage(text: string, parts: Partial<NewMessage> = {}): NewMessage {
  const envelope = JSON.stringify({ text });
  const hash = `hash of ${text}`;
  return { kind: "message", supersedes: null, envelope, salt: "salt", hash, depth: 0, parent_seq: null, ...parts };
}

export function aRequest(parts: Partial<NewRequest> = {}): NewRequest {
  return {
    id: crypto.randomUUID(),
    call: 0,
    kind: "approval",
    tool_name: "shop/refund",
    shown: '{"order":7}',
    sealed: "sealed request",
    binding: "binding",
    expires_after: null,
    ...parts,
  };
}

export function aBegunCall(number: number, parts: { certain_after?: number } = {}): CallChange {
  return {
    change: "begun",
    number,
    tool_call_id: `call ${number}`,
    tool_name: "shop/refund",
    idempotency_key: `idempotency key ${number}`,
    arguments_hmac: `hmac ${number}`,
    certain_after: MINUTE,
    ...parts,
  };
}

export type CommitParts = Partial<Omit<Commit, "event">> & { readonly event?: Partial<Commit["event"]> };

/** The first commit of a thread, unless told otherwise; how many messages there are then follows from those it brings. */
export function aCommit({ id, epoch }: Pick<Held, "id" | "epoch">, { event, ...parts }: CommitParts = {}): Commit {
  const run = parts.run ?? 1;
  const messages = parts.messages ?? [];
  const messages_from = event?.messages_from ?? 0;
  return {
    id: crypto.randomUUID(),
    thread_id: id,
    worker: "worker 1",
    epoch,
    seq: 0,
    lease_us: MINUTE,
    status: "running",
    state: null,
    working: null,
    run,
    steps: 0,
    progresses: true,
    next_message: messages_from + messages.length,
    tail_from: 0,
    summary_seq: null,
    messages,
    drained: [],
    queued: [],
    run_change: null,
    calls: [],
    opened_requests: [],
    closed_requests: [],
    budget_change: null,
    writes: [],
    settle: null,
    ...parts,
    event: {
      ...{ run, records: "[]", notes: null, salt: null, notes_hash: null, messages_from, settled: false, hash: "hash" },
      ...event,
    },
  };
}
