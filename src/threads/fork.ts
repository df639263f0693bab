// A new thread that begins with another one's history. It shares nothing with it afterwards: not the queue, not what is
// waited for, and not the keys under which tools run.
import type { NewMessage, StoredEvent, StoredMessage, Thread } from "../backend/thread-rows.ts";
import type { Write } from "../backend/write.ts";
import { contentHash, firstHash, nextHash } from "../contracts/audit/chain.ts";
import { erasureOf, NO_SALT } from "../contracts/audit/erasure.ts";
import { createSigner } from "../contracts/audit/signer.ts";
import { holdfastError } from "../contracts/error.ts";
import { unpackRecords } from "../loop/packed-records.ts";
import { copiedHandover } from "./cast/handoff.ts";
import type { Host } from "./host.ts";

/** Forks at the last settled event, not after the given one. The same key again gives the thread that is there. */
export async function forkThread(host: Host, from: string, key: string, at: number | null): Promise<Thread> {
  const { threads } = host.stores;
  const known = await threads.byKey(key);
  if (known) return await checked(host, known, from);
  if (at !== null) await checkThere(host, from, at);
  const event = await threads.settledEvent(from, at);
  if (!event) throw notSettled(from, at);
  const id = crypto.randomUUID();
  const records = JSON.stringify([{ fact: { type: "forked", from, at_seq: event.seq } }]);
  const copied = await copiedMessages(host, from, event.messages_to);
  const deletions = deletionsFor(host, id, copied);
  const hash = nextHash(firstHash(id), linkOf(event, records, [...copied, ...deletions]));
  await host.onCrashPoint("before fork");
  const writes = [...(await copiedVariables(host, from, id)), ...(await copiedHandover(host, from, id))];
  const erased = { from: event.messages_to, rows: copied.filter(isErased).length, deletions };
  const outcome = await threads.fork({ id, key, from, at: event.seq, hash, records, erased, writes });
  await host.onCrashPoint("after fork");
  // Something was erased meanwhile: what was read of it is not there any more.
  if (outcome === "overtaken") return await forkThread(host, from, key, at);
  if (outcome === "not_settled") throw notSettled(from, at);
  const thread = await threads.byKey(key);
  if (!thread) throw new Error(`The fork "${key}" was neither made nor found.`);
  return thread.id === id ? thread : await checked(host, thread, from);
}

/** Variables are sealed for one thread alone. */
async function copiedVariables({ stores, sealing }: Host, from: string, id: string): Promise<readonly Write[]> {
  const variables = await stores.state.variables(from);
  return variables.map(({ name, sealed, type }) => {
    const value = sealing.seal(sealing.open(sealed, from), id);
    // It is nobody's child, so it has inherited nothing.
    return { write: "variable", thread_id: id, name, sealed: value, type, inherited: false };
  });
}

async function copiedMessages(host: Host, from: string, to: number): Promise<readonly StoredMessage[]> {
  return to === 0 ? [] : await host.stores.threads.messages(from, { from: 0, limit: to });
}

/** The chain of the new thread covers everything that was copied. */
function linkOf(event: StoredEvent, records: string, messages: readonly { readonly hash: string }[]) {
  const { step, tail_from, summary_seq } = event;
  const first = { seq: 0, run: 0, step, records, notes_hash: null, messages_from: 0, settled: true };
  return { ...first, messages: messages.map(({ hash }) => hash), tail_from, summary_seq };
}

function isErased({ salt }: StoredMessage): boolean {
  return salt === NO_SALT;
}

/** What was erased is copied without its content: the copy says so too, signed for itself. */
function deletionsFor({ sealing }: Host, id: string, copied: readonly StoredMessage[]): readonly NewMessage[] {
  const erased = new Set(copied.filter(isErased).map(({ seq, supersedes }) => supersedes ?? seq));
  if (erased.size === 0) return [];
  const { sign } = createSigner(sealing.signingSeed());
  return copied
    .filter(({ seq }) => erased.has(seq))
    .map(({ seq, hash }) => {
      const envelope = JSON.stringify(erasureOf({ thread: id, seq, hash }, sign));
      const place = { depth: 0, parent_seq: null };
      const row = { kind: "deletion", supersedes: seq, envelope, salt: crypto.randomUUID(), ...place } as const;
      return { ...row, hash: contentHash(row) };
    });
}

/** The key may belong to a thread that is no fork of this one. */
async function checked(host: Host, thread: Thread, from: string): Promise<Thread> {
  const [first] = await host.stores.threads.events(thread.id, { limit: 1 });
  const [record] = unpackRecords(first?.records ?? "[]") as readonly { fact: { type: string; from?: string } }[];
  if (record?.fact.type === "forked" && record.fact.from === from) return thread;
  throw holdfastError("thread_key_taken", `The key "${thread.key}" belongs to another thread.`);
}

/** What is yet to happen cannot be what was meant: the fork would be of another place than the one that was named. */
async function checkThere({ stores }: Host, from: string, at: number): Promise<void> {
  const thread = await stores.threads.get(from);
  if (!thread || at < thread.next_seq) return;
  throw holdfastError("fork_not_settled", `Thread "${from}" has no event ${at}: it has ${thread.next_seq}, from 0 on.`);
}

function notSettled(from: string, at: number | null) {
  const where = at === null ? "yet" : `at or before event ${at}`;
  return holdfastError("fork_not_settled", `Thread "${from}" has no settled step ${where}.`);
}
