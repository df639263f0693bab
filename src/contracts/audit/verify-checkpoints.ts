// Whether the signed checkpoints hold, and whether the chains that were exported are those that they speak of.
import { type AuditThread, type ExportedCheckpoint, exportedCheckpointSchema } from "./audit-export.ts";
import { type Broken, check, Found } from "./broken.ts";
import { firstHash } from "./chain.ts";
import { type Checkpoint, type Gone, readCheckpoint, statementHash } from "./checkpoint.ts";
import { type Head, leafHash, merkleRoot, rootFrom } from "./merkle.ts";
import type { Checker } from "./signer.ts";
import { problemIn } from "./verify-thread.ts";

type Heads = ExportedCheckpoint["heads"];

export type VerifiedCheckpoints = {
  readonly checkpoints: readonly ExportedCheckpoint[];
  /** The last head of each thread that they know. */
  readonly heads: ReadonlyMap<string, Head>;
  /** What they say of threads that are gone. */
  readonly gone: readonly Gone[];
};

/** `scope`: the one thread that was exported; null when it was all of them. Throws what is `Found`. */
export function verifyCheckpoints(
  given: readonly unknown[],
  threads: ReadonlyMap<string, AuditThread>,
  scope: string | null,
  key: Checker,
): VerifiedCheckpoints {
  let previous: string | null = null;
  const known = new Map<string, Head>();
  const gone: Gone[] = [];
  const checkpoints = given.map((each, index) => {
    const number = index + 1;
    const read = readOne(each, number);
    const checkpoint = verifySigned(read, number, previous, key);
    if (scope === null) verifyAllHeads(checkpoint, read.heads);
    else verifyHeadsOf(scope, checkpoint, read.heads);
    for (const head of read.heads) {
      verifyHead(head, number, threads);
      known.set(head.thread, head);
    }
    gone.push(...checkpoint.gone);
    previous = statementHash(read.statement);
    return read;
  });
  return { checkpoints, heads: known, gone };
}

function readOne(given: unknown, number: number): ExportedCheckpoint {
  const { data, error } = exportedCheckpointSchema.safeParse(given);
  if (data) return data;
  throw new Found(at(number, `it has not the shape of one: ${problemIn(error)}`));
}

function verifySigned(
  { statement, signature }: ExportedCheckpoint,
  number: number,
  previous: string | null,
  key: Checker,
): Checkpoint {
  check(key.isSigned(statement, signature), () => at(number, "it was not signed with this key"));
  const checkpoint = readCheckpoint(statement);
  if (!checkpoint) throw new Found(at(number, "what was signed is no checkpoint"));
  const isNext = checkpoint.number === number && checkpoint.previous === previous;
  check(isNext, () => at(number, `checkpoint ${checkpoint.number} stands where checkpoint ${number} was written`));
  return checkpoint;
}

/** All heads of it are there, and lead to its root. */
function verifyAllHeads({ number, root, heads: count }: Checkpoint, heads: Heads): void {
  const isWhole = heads.every(({ index, proof }, place) => index === place && proof === null);
  check(isWhole && heads.length === count && merkleRoot(heads.map(leafHash)) === root, () =>
    at(number, "its heads are not those that were signed"),
  );
}

/**
 * The head of a thread is among those that were signed; or those are that stand side by side where it would be, since heads
 * are in the order of their threads' ids. Otherwise nobody could tell a head that was never there from one that was hidden.
 */
function verifyHeadsOf(thread: string, { number, root, heads: count }: Checkpoint, heads: Heads): void {
  const broken = (detail: string) => (): Broken => ({ ...at(number, detail), thread });
  for (const head of heads) {
    const leads = head.proof !== null && rootFrom(leafHash(head), head.index, count, head.proof) === root;
    check(leads, broken("a head of it is not one that was signed"));
  }
  if (heads.some((head) => head.thread === thread)) {
    check(heads.length === 1, broken("it has several heads of one thread"));
    return;
  }
  check(count > 0 || root === merkleRoot([]), broken("its heads are not those that were signed"));
  const before = heads.filter((head) => head.thread < thread);
  const after = heads.filter((head) => head.thread > thread);
  const place = before[0] ? before[0].index + 1 : 0;
  const hasBefore = before.length === (place > 0 ? 1 : 0);
  const hasAfter = after.length === (place < count ? 1 : 0) && (after[0]?.index ?? place) === place;
  // In their order, so that there is one way only to say it.
  const inOrder = before.length === 0 || heads[0] === before[0];
  check(hasBefore && hasAfter && inOrder, broken("it does not show that it has no head of the thread"));
}

/** What was signed is still in the chain. */
function verifyHead({ thread: id, seq, hash }: Head, number: number, threads: ReadonlyMap<string, AuditThread>): void {
  const thread = threads.get(id);
  if (!thread) return;
  const written = seq === -1 ? firstHash(id) : thread.events[seq]?.hash;
  check(written === hash, () => {
    const what = written === undefined ? "is missing" : "was another one when this was signed";
    return { ...at(number, `event ${seq} of the thread ${what}`), thread: id };
  });
}

function at(number: number, detail: string): Broken {
  return { place: "checkpoint", seq: number, detail };
}
