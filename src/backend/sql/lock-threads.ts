// The rows of threads that a batch will change, locked in one order before it changes any: a parent and its child that
// write to each other at the same time would wait for each other otherwise.
import type { SqlDriver, Statement } from "../sql-driver.ts";
import type { Write } from "../write.ts";
import { livingTree, wholeTree } from "./tree.ts";

/** Nothing where nobody else writes, and where a batch changes no thread but its own. */
export function lockThreads({ isShared }: SqlDriver, own: string, writes: readonly Write[]): readonly Statement[] {
  if (!isShared || writes.length === 0) return [];
  const made = new Set(writes.flatMap((each) => (each.write === "thread" ? [each.thread.id] : [])));
  const ended = new Set(writes.flatMap((each) => (each.write === "terminate" ? [each.thread_id] : [])));
  const others = new Set(writes.flatMap(changedThread).filter((id) => id !== own && !made.has(id)));
  if (ended.size > 0) return lockTree(livingTree, [...ended], [own, ...others]);
  if (others.size === 0) return [];
  const ids = [own, ...others];
  return [{ sql: `select id from threads where id in (${placeholders(ids)}) ${ORDERED}`, params: ids }];
}

/** For a batch that erases a thread and all that descend from it. */
export function lockForErasing({ isShared }: SqlDriver, id: string): readonly Statement[] {
  return isShared ? lockTree(wholeTree, [id], []) : [];
}

/** For a batch that concerns a thread and all that live below it. */
export function lockLiving({ isShared }: SqlDriver, id: string): readonly Statement[] {
  return isShared ? lockTree(livingTree, [id], []) : [];
}

const ORDERED = "order by id /*for update*/";

/** Whole trees and the parents of their roots, which may be told. */
function lockTree(
  treeOf: typeof livingTree,
  roots: readonly string[],
  others: readonly string[],
): readonly Statement[] {
  const of = placeholders(roots);
  const more =
    others.length > 0 ? ` union select id from threads where id in (${placeholders(others, roots.length)})` : "";
  const sql = `select id from threads where id in (
      ${treeOf(of)} union select parent_id from threads where id in (${of})${more} /*few rows*/
    ) ${ORDERED}`;
  const statement = { sql, params: [...roots, ...others] };
  // Twice: a child that was made while its parent's row was waited for is only seen by the second.
  return [statement, statement];
}

/** The thread whose row a write changes. */
function changedThread(write: Write): readonly string[] {
  switch (write.write) {
    case "entry":
    case "answer":
    case "effect":
    case "child_status":
    case "agent":
      return [write.thread_id];
    default:
      return [];
  }
}

function placeholders(values: readonly unknown[], after = 0): string {
  return values.map((_, index) => `$${after + index + 1}`).join(", ");
}
