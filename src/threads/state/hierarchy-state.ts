// Where a thread stands among others: its children, its parent, and what it lets the parent know.
import type { Thread } from "../../backend/thread-rows.ts";
import type { Write } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { checkName, checkQuery } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { createdIn, endsIn, newThreadsIn } from "./require-live.ts";
import type { StateScope } from "./state-scope.ts";
import type { ChildEntry, ThreadState } from "./thread-state.ts";

type HierarchyState = Pick<
  ThreadState,
  "children" | "getChildThread" | "getParentThread" | "notifyParent" | "setStatus"
>;

/** So many after the one of that id; all of them unless given. */
export type ChildrenPage = { readonly after?: string; readonly limit?: number };

/** `open` makes the state of another thread, whose writes go where those of this one go. */
export function hierarchyState(
  host: Host,
  scope: StateScope,
  open: (thread: Thread) => Promise<ThreadState>,
): HierarchyState {
  const { stores, now } = host;
  const { thread, buffer } = scope;

  async function find(id: string): Promise<Thread | undefined> {
    const created = createdIn(buffer.writes, id);
    return created ? unstored(created, now() * 1_000) : await stores.threads.get(id);
  }

  return {
    async children() {
      const created = newThreadsIn(buffer.writes).filter(({ parent_id }) => parent_id === thread.id);
      const known = [
        ...(await stores.threads.children(thread.id, {})),
        ...created.map((each) => unstored(each, now() * 1_000)),
      ];
      return await Promise.all(
        known.map(async (child) => entryOf(child, buffer.writes, await readArguments(host, buffer.writes, child.id))),
      );
    },
    async getChildThread(reference) {
      const child = typeof reference === "string" ? await find(reference) : undefined;
      return child?.parent_id === thread.id ? await open(child) : null;
    },
    async getParentThread() {
      const parent = thread.parent_id === null ? undefined : await find(thread.parent_id);
      return parent ? await open(parent) : null;
    },
    async notifyParent(text) {
      if (typeof text !== "string" || text.trim() === "") {
        throw holdfastError("invalid_argument", "text must be a text that is not blank.");
      }
      if (thread.parent_id === null) return;
      // Whoever owns the child hears of it: side A as from a user, side B as from the other side.
      const role = thread.child?.side === "b" ? "assistant" : "user";
      const said = { role, content: text, metadata: { subagent_id: thread.id } };
      const entry = createEntry.queuedMessage(said, { silent: true });
      await buffer.write({ write: "entry", thread_id: thread.parent_id, entry });
    },
    async setStatus(status) {
      checkName("status", status);
      if (thread.parent_id === null) return;
      await buffer.write({ write: "child_status", thread_id: thread.id, status });
    },
  };
}

/** The children of a thread as its registry shows them, with nothing that is not stored. */
export async function readChildren(host: Host, threadId: string, page: ChildrenPage): Promise<readonly ChildEntry[]> {
  checkQuery(page);
  const children = await host.stores.threads.children(threadId, page);
  return await Promise.all(children.map(async (child) => entryOf(child, [], await readArguments(host, [], child.id))));
}

/** What a thread was created with, as it is or is about to be stored. */
export async function readArguments(
  { stores, sealing }: Host,
  writes: readonly Write[],
  threadId: string,
): Promise<JsonMap | null> {
  const created = createdIn(writes, threadId);
  const sealed = created ? created.arguments : await stores.threads.arguments(threadId);
  return sealed === null ? null : (JSON.parse(sealing.open(sealed, threadId)) as JsonMap);
}

function entryOf(child: Thread, writes: readonly Write[], initialArguments: JsonMap | null): ChildEntry {
  const { id, child: link, created_at } = child;
  return {
    reference: id,
    name: link?.agent ?? child.agent,
    relationship: link?.relationship ?? child.agent,
    owner: link?.side ?? "a",
    title: link?.title ?? "",
    description: link?.description ?? "",
    blocking: link?.blocking ?? false,
    resumable: link?.resumable ?? false,
    receives_messages: link?.receives_messages ?? "side_a",
    parentCommunication: link?.parent_communication ?? "implicit",
    threadName: link?.thread_name ?? "",
    initialArguments,
    spawnGroupId: link?.spawn_group ?? null,
    createdAt: created_at,
    status: statusOf(child, writes),
  };
}

/** How the registry shows a child, with what is not stored yet. */
function statusOf({ id, terminated_at, child_status }: Thread, writes: readonly Write[]): string {
  if (terminated_at !== null || endsIn(writes, id)) return "terminated";
  const said = writes.flatMap((write) => {
    if (write.write === "child_status" && write.thread_id === id) return [write.status];
    return write.write === "entry" && write.thread_id === id && write.child_status !== undefined
      ? [write.child_status]
      : [];
  });
  return said.at(-1) ?? child_status ?? "idle";
}

/** A thread that is about to be created, as it will be. */
function unstored(created: NonNullable<ReturnType<typeof createdIn>>, now: number): Thread {
  const { id, kind = "thread", key, agent, budget, parent_id, user_id, tags, child, child_status } = created;
  return {
    ...{ id, kind, key, agent, budget, parent_id, user_id, tags, child, child_status },
    ...{ origin_agent: agent, status: "idle", created_at: now, updated_at: now, terminated_at: null },
    ...{ run: 0, steps: 0, next_seq: 0, next_message: 0 },
  };
}
