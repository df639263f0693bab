// From what is stored to what an export shows of it.
import type { StoredCheckpoint, StoredHead } from "../backend/audit-store.ts";
import type { StoredEvent, StoredMessage } from "../backend/thread-rows.ts";
import type { AuditEvent, AuditMessage, ExportedCheckpoint } from "../contracts/audit/audit-export.ts";
import { readCheckpoint } from "../contracts/audit/checkpoint.ts";
import { NO_SALT } from "../contracts/audit/erasure.ts";
import { leafHash, merkleProof, merkleRoot } from "../contracts/audit/merkle.ts";
import { holdfastError } from "../contracts/error.ts";

/** Without what the chain does not cover. */
export function auditEvent({ at: _at, ...covered }: StoredEvent): AuditEvent {
  return covered;
}

export function auditMessage(row: StoredMessage): AuditMessage {
  const { seq, kind, supersedes, depth, parent_seq, hash } = row;
  const content = row.salt === NO_SALT ? { salt: null, envelope: null } : { salt: row.salt, envelope: row.envelope };
  return { seq, kind, supersedes, depth, parent_seq, hash, ...content };
}

/**
 * With all of their heads, or with what shows of one thread where it stood in each of them, or that it is not in it. Throws
 * `audit_damaged` when that cannot be shown, because the heads are not those that were signed.
 */
export function exportedCheckpoints(
  stored: readonly StoredCheckpoint[],
  heads: readonly StoredHead[],
  thread: string | undefined,
): readonly ExportedCheckpoint[] {
  const byNumber = Map.groupBy(heads, ({ checkpoint }) => checkpoint);
  return stored.map((checkpoint) => {
    const { number, statement, signature } = checkpoint;
    const own = byNumber.get(number) ?? [];
    const shown = thread === undefined ? own.map((head) => headWith(head, null)) : provenHeads(checkpoint, own, thread);
    return { statement, signature, heads: shown };
  });
}

/** The head of the thread; where there is none, those beside the place where it would be. */
function provenHeads(
  { number, statement }: StoredCheckpoint,
  heads: readonly StoredHead[],
  thread: string,
): ExportedCheckpoint["heads"] {
  const leaves = heads.map(leafHash);
  const isAsSigned = heads.every(({ leaf }, index) => leaf === index);
  if (!isAsSigned || readCheckpoint(statement)?.root !== merkleRoot(leaves)) {
    throw holdfastError("audit_damaged", `The heads of checkpoint ${number} are not those that were signed.`);
  }
  const after = heads.findIndex((head) => head.thread >= thread);
  const place = after === -1 ? heads.length : after;
  const shown = heads[place]?.thread === thread ? [heads[place]] : [heads[place - 1], heads[place]];
  return shown.flatMap((head) => (head ? [headWith(head, [...merkleProof(leaves, head.leaf)])] : []));
}

function headWith({ leaf: index, thread, seq, hash }: StoredHead, proof: string[] | null) {
  return { index, thread, seq, hash, proof };
}
