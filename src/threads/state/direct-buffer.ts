// Stores what is written through a thread's state at once: for endpoints and the host program, which run outside of any
// run and have no commit to wait for.
import type { NewEntry } from "../../backend/inbox.ts";
import type { Write } from "../../backend/write.ts";
import type { Json } from "../../contracts/json.ts";
import type { Host } from "../host.ts";
import { threadNotFound, threadTerminated } from "../thread-errors.ts";
import { noRun, type StateBuffer } from "./state-buffer.ts";

type OnEvent = (threadId: string, event: string, data: Json) => void;

/**
 * A buffer that keeps nothing back. Writing to a thread that is gone throws `thread_not_found`, to one that was terminated
 * `thread_terminated`. Whoever follows the thread is told of events through `onEvent`.
 */
export function directBuffer(
  host: Host,
  threadId: string,
  { onEvent = () => undefined }: { readonly onEvent?: OnEvent } = {},
): StateBuffer {
  return {
    writes: [],
    entries: [],
    async write(...writes) {
      if (writes.length > 0) await store(host, threadId, writes);
    },
    leave: (entry) => put(host, threadId, entry),
    takeBack: () => false,
    emit: (event, data) => onEvent(threadId, event, data),
    ask() {
      throw noRun();
    },
    of: (otherId) => directBuffer(host, otherId, { onEvent }),
  };
}

async function store(host: Host, threadId: string, writes: readonly Write[]): Promise<void> {
  const { stores } = host;
  // Read before: those that are terminated with it are not found afterwards.
  const woken = (await Promise.all(writes.map((write) => wokenBy(host, write)))).flat();
  await host.onCrashPoint("before write");
  const outcome = await stores.writes.apply(threadId, writes);
  if (outcome === "not_found") throw threadNotFound(threadId);
  if (outcome === "terminated") throw refused(threadId);
  for (const id of woken) host.news?.add(id);
  await host.onCrashPoint("after write");
}

/** The threads in whose inboxes a write leaves something. */
async function wokenBy({ stores }: Host, write: Write): Promise<readonly string[]> {
  if (write.write === "entry" || write.write === "answer") return [write.thread_id];
  if (write.write !== "terminate") return [];
  const descendants = await stores.threads.descendants(write.thread_id);
  return [write.thread_id, ...descendants.map(({ id }) => id)];
}

async function put(host: Host, threadId: string, entry: NewEntry): Promise<void> {
  await host.onCrashPoint(`before put ${entry.kind}`);
  const { outcome } = await host.stores.inbox.put(threadId, entry);
  if (outcome === "not_found") throw threadNotFound(threadId);
  if (outcome === "terminated") throw refused(threadId);
  // Entries made here have keys of their own, so none can have been used for something else.
  host.news?.add(threadId);
  await host.onCrashPoint(`after put ${entry.kind}`);
}

function refused(threadId: string) {
  return threadTerminated(threadId, "and takes no more work");
}
