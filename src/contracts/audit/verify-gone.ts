// Whether every thread that checkpoints know is there, or was deleted by somebody who has the key.
import type { AuditThread } from "./audit-export.ts";
import { type Broken, check } from "./broken.ts";
import { type Gone, UNEXPLAINED } from "./checkpoint.ts";
import type { Head } from "./merkle.ts";
import type { Checker } from "./signer.ts";
import { type Tombstone, tombstoneStatement } from "./tombstone.ts";

/** `heads`: the last one of each thread that checkpoints know. Throws what is `Found`. */
export function verifyGone(
  {
    heads,
    gone,
    tombstones,
  }: {
    readonly heads: ReadonlyMap<string, Head>;
    readonly gone: readonly Gone[];
    readonly tombstones: readonly Tombstone[];
  },
  threads: ReadonlyMap<string, AuditThread>,
  key: Checker,
): void {
  const told = new Map<string, Gone>();
  // What a checkpoint says comes last: that nobody knew where a thread had gone cannot be explained later.
  for (const each of [...tombstones, ...gone]) {
    told.set(each.thread, each);
    if (each.reason === UNEXPLAINED) continue;
    check(isTombstone(each, key), missing(each.thread, "what is told of its deletion was not signed with this key"));
    check(!threads.has(each.thread), missing(each.thread, "it was deleted, and stands there again"));
  }
  for (const [thread, head] of heads) {
    if (threads.has(thread)) continue;
    const how = told.get(thread);
    check(
      how !== undefined && how.reason !== UNEXPLAINED,
      missing(thread, "it is gone, and was not deleted through the runtime"),
    );
    const isLater = how.seq > head.seq || (how.seq === head.seq && how.hash === head.hash);
    check(isLater, missing(thread, `it was deleted at event ${how.seq}, and not where it was last seen`));
  }
}

/** True for what was written and signed by who deleted the thread. */
export function isTombstone(gone: Gone, key: Pick<Checker, "isSigned">): gone is Tombstone {
  const { signature, deleted_at } = gone;
  return (
    signature !== null && deleted_at !== null && key.isSigned(tombstoneStatement({ ...gone, deleted_at }), signature)
  );
}

function missing(thread: string, detail: string): () => Broken {
  return () => ({ thread, place: "missing_thread", detail });
}
