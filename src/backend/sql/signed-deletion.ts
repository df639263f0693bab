// Deletes threads so that what stays of them is signed: by whoever deletes them, for where each of them stands.
import type { Head } from "../../contracts/audit/merkle.ts";
import { tombstoneStatement } from "../../contracts/audit/tombstone.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { ThreadStore } from "../thread-store.ts";
import * as rows from "./rows.ts";
import { wholeTree } from "./tree.ts";

/** More than this are not deleted in one batch: a statement takes only so many values. */
const MOST_AT_ONCE = 10_000;

/** How often it is signed anew because a thread has moved on meanwhile. */
const MOST_TRIES = 100;

export function signedDeletion(
  driver: SqlDriver,
  threads: Pick<ThreadStore, "delete">,
  sign: (text: string) => string,
): ThreadStore["delete"] {
  return async function deleteSigned(id, reason = "deleted", idle_us = null) {
    if (typeof reason !== "string") return await threads.delete(id, reason, idle_us);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { heads, now: deleted_at } = await treeOf(driver, id);
      const root = heads.find(({ thread }) => thread === id);
      if (!root) return [];
      if (heads.length > MOST_AT_ONCE) return await deletePiecemeal(id, reason, idle_us);
      const signed = (head: Head) => ({ head, signature: sign(tombstoneStatement({ ...head, reason, deleted_at })) });
      const deletion = { reason, deleted_at, threads: heads.map(signed) };
      const deleted = await threads.delete(id, deletion, idle_us);
      if (deleted.length > 0) return deleted;
      // Its own signature: it was committed, only the answer got lost.
      if ((await signatureOf(driver, id)) === signed(root).signature) return heads.map(({ thread }) => thread);
      // Somebody came back to it.
      if (idle_us !== null) return [];
    }
    throw holdfastError("thread_busy", `Thread "${id}" went on each time it was about to be deleted.`);
  };

  /** From below. */
  async function deletePiecemeal(id: string, reason: string, idle_us: number | null): Promise<readonly string[]> {
    const remove = signedDeletion(driver, threads, sign);
    const children = await driver.all("select id from threads where parent_id = $1 order by created_at, id", [id]);
    const deleted: string[] = [];
    for (const child of children) deleted.push(...(await remove(rows.text(child.id), reason, idle_us)));
    return [...deleted, ...(await remove(id, reason, idle_us))];
  }
}

async function treeOf(
  driver: SqlDriver,
  id: string,
): Promise<{ readonly heads: readonly Head[]; readonly now: number }> {
  const found = await driver.all(
    `select id, next_seq - 1 as seq, last_hash, now_us() as now from threads
      where id in (${wholeTree("$1")} /*few rows*/) order by id <> $1, id`,
    [id],
  );
  const heads = found.map((row) => ({
    thread: rows.text(row.id),
    seq: rows.number(row.seq),
    hash: rows.text(row.last_hash),
  }));
  return { heads, now: rows.number(found[0]?.now ?? 0) };
}

async function signatureOf(driver: SqlDriver, id: string): Promise<string | undefined> {
  const [row] = await driver.all("select signature from audit_tombstones where thread_id = $1", [id]);
  return row && rows.text(row.signature);
}
