// The audit of an installation: signed checkpoints over all that its threads have written, and exports that a stranger can
// verify with the public key alone.
import type { AuditedThread, AuditStore, StoredCheckpoint, Vanished } from "../backend/audit-store.ts";
import type { ThreadStore } from "../backend/thread-store.ts";
import { type AuditExport, type AuditThread, manifestText } from "../contracts/audit/audit-export.ts";
import { checkpointText, type Gone, statementHash, UNEXPLAINED } from "../contracts/audit/checkpoint.ts";
import { leafHash, merkleRoot } from "../contracts/audit/merkle.ts";
import { readPublicKey, type Signer } from "../contracts/audit/signer.ts";
import { isTombstone } from "../contracts/audit/verify-gone.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { auditEvent, auditMessage, exportedCheckpoints } from "./exported.ts";

export type SignedCheckpoint = { readonly statement: string; readonly signature: string };

export interface Audit {
  /** What `verifyAudit` needs beside an export. Hand it over by another way than that. */
  readonly publicKey: string;
  /** Tells one public key from another; every export names it. */
  readonly fingerprint: string;
  /**
   * Signs where all threads stand that have changed since the last checkpoint, and which are gone. When nothing has
   * changed that is the last one. Of several at once one is made, and all get that.
   */
  checkpoint(): Promise<SignedCheckpoint>;
  /** Oldest first, all unless so many are wanted. One that is kept elsewhere shows later that none was taken away. */
  checkpoints(page?: { readonly offset?: number; readonly limit?: number }): Promise<readonly SignedCheckpoint[]>;
  /**
   * One thread, or all there are and what else the checkpoints cover, with a checkpoint that is made for it. Throws
   * `thread_not_found`; `audit_damaged` when the checkpoints cannot be shown for one thread; `thread_busy` when a thread is
   * erased from again and again meanwhile.
   */
  export(which?: { readonly thread?: string }): Promise<AuditExport>;
}

/** `now` gives milliseconds since 1970; `reached` is told of the places where a crash may hurt. */
export function createAudit({
  store,
  threads,
  signer,
  now,
  reached,
}: {
  readonly store: AuditStore;
  readonly threads: Pick<ThreadStore, "events" | "messages">;
  readonly signer: Signer;
  readonly now: () => number;
  readonly reached: (point: string) => void | Promise<void>;
}): Audit {
  const microseconds = () => Math.floor(now() * 1_000);
  const signed = (statement: string) => ({ statement, signature: signer.sign(statement) });
  const own = readPublicKey(signer.publicKey);
  /** What anybody can write to the database explains nothing: only what was signed does. */
  const goneAs = ({ head, tombstone }: Vanished): Gone =>
    own && tombstone && isTombstone(tombstone, own)
      ? tombstone
      : { ...head, reason: UNEXPLAINED, deleted_at: null, signature: null };

  async function checkpoint(): Promise<SignedCheckpoint> {
    for (;;) {
      const before = await store.lastCheckpoint();
      // Read after the last checkpoint: when another one is made meanwhile, this one does not get its number.
      const heads = await store.changedHeads();
      const gone = (await store.newlyGone()).map(goneAs);
      // Then the last one covers it all, and that may be one that was made meanwhile.
      if (before && heads.length + gone.length === 0) return signedOf((await store.lastCheckpoint()) ?? before);
      const number = (before?.number ?? 0) + 1;
      const at = microseconds();
      const previous = before ? statementHash(before.statement) : null;
      const root = merkleRoot(heads.map(leafHash));
      const made = signed(checkpointText({ number, previous, at, root, heads: heads.length, gone }));
      await reached("before checkpoint");
      const outcome = await store.addCheckpoint({ ...made, number, at, heads, gone });
      await reached("after checkpoint");
      if (outcome === "added") return made;
      const other = await store.lastCheckpoint();
      if (other && other.number >= number) return signedOf(other);
    }
  }

  /**
   * Undefined when it is deleted meanwhile. What is added while it is read belongs to the next export; but what is erased
   * would be gone here without a word of why, so that it is read once more.
   */
  async function exportThread(first: AuditedThread): Promise<AuditThread | undefined> {
    const whole = { limit: Number.MAX_SAFE_INTEGER };
    const { thread: id } = first;
    let read: AuditedThread | undefined = first;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { agent, parent_id: parent, created_at, seq, hash, next_message } = read;
      const events = (await threads.events(id, whole)).filter((event) => event.seq <= seq).map(auditEvent);
      const messages = (await threads.messages(id, whole)).filter((row) => row.seq < next_message).map(auditMessage);
      const isErased = await store.isErasedSince(id, next_message);
      read = await store.thread(id);
      if (!read) return undefined;
      if (!isErased) return { id, agent, parent, created_at, head: { seq, hash }, events, messages };
    }
    throw holdfastError("thread_busy", `Thread "${id}" was erased from each time it was about to be exported.`);
  }

  async function exportAll(): Promise<readonly AuditThread[]> {
    const exported: AuditThread[] = [];
    for (let after: string | null = null; ; ) {
      const page: readonly AuditedThread[] = await store.threads({ after, limit: PAGE });
      for (const thread of page) {
        const whole = await exportThread(thread);
        if (whole) exported.push(whole);
      }
      after = page.at(-1)?.thread ?? null;
      if (page.length < PAGE) return exported;
    }
  }

  async function exportOne(id: string): Promise<AuditThread> {
    const thread = await store.thread(id);
    const whole = thread && (await exportThread(thread));
    if (!whole) throw threadNotFound(id);
    return whole;
  }

  return {
    publicKey: signer.publicKey,
    fingerprint: signer.fingerprint,
    checkpoint,
    async checkpoints(page) {
      return (await store.checkpoints(page)).map(signedOf);
    },
    async export(which) {
      const id = wantedThread(which);
      if (id !== undefined && (await store.thread(id))?.kind !== "thread") throw threadNotFound(id);
      await checkpoint();
      // The checkpoints come first and the tombstones last: a thread that is deleted meanwhile is in one of the lists.
      const checkpoints = exportedCheckpoints(await store.checkpoints(), await store.heads(), id);
      const exported = id === undefined ? await exportAll() : [await exportOne(id)];
      const tombstones = id === undefined ? await store.tombstones() : [];
      const deleted = new Set(tombstones.map(({ thread }) => thread));
      const covered = { threads: exported.filter((each) => !deleted.has(each.id)), checkpoints, tombstones };
      const about = { at: microseconds(), key: signer.fingerprint, thread: id ?? null };
      const manifest = signed(manifestText(covered, about));
      return { schema: "holdfast.audit-export", version: 1, ...covered, manifest };
    },
  };
}

/** How often a thread is read anew because something was erased from it meanwhile. */
const MOST_TRIES = 20;

/** The thread that is asked for; undefined when it is all of them. A slip must not hand out more than was meant. */
function wantedThread(which: unknown = {}): string | undefined {
  const wanted = isMap(which) ? Object.entries(which) : undefined;
  if (wanted?.length === 0) return undefined;
  const [name, value] = wanted?.length === 1 ? (wanted[0] ?? []) : [];
  if (name !== "thread" || typeof value !== "string") {
    throw holdfastError("invalid_argument", "which must be { thread: <id> }, or nothing for all threads.");
  }
  // No database has this in a text, and one of them would say so in its own words.
  if (value.includes("\0")) throw threadNotFound(value);
  return value;
}

function threadNotFound(id: string) {
  return holdfastError("thread_not_found", `There is no thread "${id}".`);
}

const PAGE = 100;

function signedOf({ statement, signature }: StoredCheckpoint): SignedCheckpoint {
  return { statement, signature };
}
