// The children of a thread that can still be worked with, those included that the same commit is about to create.
import type { ChildLink } from "../../backend/new-thread.ts";
import type { CallScope } from "./call-scope.ts";

export type LiveChild = { readonly id: string; readonly link: ChildLink };

/** So many are named in a sentence. */
const NAMED = 20;

/** The child of that reference; undefined when it is nobody's, another thread's, or terminated. */
export async function liveChild(
  { host, thread, buffer }: CallScope,
  reference: string,
): Promise<LiveChild | undefined> {
  if (endedIn(buffer).has(reference)) return undefined;
  const born = bornIn({ thread, buffer }).find(({ id }) => id === reference);
  if (born) return born;
  const stored = await host.stores.threads.get(reference);
  if (!stored?.child || stored.parent_id !== thread.id || stored.terminated_at !== null) return undefined;
  return { id: stored.id, link: stored.child };
}

/** How many there are of a relationship. */
export async function countLive({ host, thread, buffer }: CallScope, relationship: string): Promise<number> {
  const stored = await host.stores.threads.liveChildren(thread.id, relationship);
  return stored + bornIn({ thread, buffer }).filter(({ link }) => link.relationship === relationship).length;
}

/** The oldest of a relationship. */
export async function someLive(
  { host, thread, buffer }: CallScope,
  relationship: string,
): Promise<readonly LiveChild[]> {
  const query = { live: true, relationship, limit: NAMED };
  const stored = await host.stores.threads.children(thread.id, query);
  const known = stored.flatMap(({ id, child }) => (child ? [{ id, link: child }] : []));
  return [...known, ...bornIn({ thread, buffer }).filter(({ link }) => link.relationship === relationship)];
}

function bornIn({ thread, buffer }: Pick<CallScope, "thread" | "buffer">): readonly LiveChild[] {
  return buffer.writes.flatMap((write) => {
    if (write.write !== "thread" || write.thread.parent_id !== thread.id || !write.thread.child) return [];
    return [{ id: write.thread.id, link: write.thread.child }];
  });
}

function endedIn({ writes }: CallScope["buffer"]): ReadonlySet<string> {
  return new Set(writes.flatMap((write) => (write.write === "terminate" ? [write.thread_id] : [])));
}
