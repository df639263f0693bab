// Who waits for a thread to get on: told at once by this process's own commits, and by looking when others may commit.
import type { Thread } from "../backend/thread-rows.ts";
import type { ThreadStore } from "../backend/thread-store.ts";

/** `hasCome`: a run has come to something, or the thread was laid down. */
type Watcher = (hasCome: boolean) => void;

export type Progress = {
  /** Told whenever the thread may have got on, until the returned function is called. */
  watch(threadId: string, watcher: Watcher): () => void;
  /** This process has committed something to the thread. */
  changed(threadId: string, hasCome?: boolean): void;
  close(): void;
};

/** With `isShared`, other processes commit too: all watched threads are looked up together, a few times a second. */
export function createProgress(
  threads: Pick<ThreadStore, "progress">,
  { isShared, pollMs = 200 }: { readonly isShared: boolean; readonly pollMs?: number },
): Progress {
  const watched = new Map<string, Set<Watcher>>();
  /** As they were when they were last looked at; null for one that was gone. */
  const seen = new Map<string, Pick<Thread, "next_seq" | "run" | "status"> | null>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function changed(threadId: string, hasCome = true): void {
    for (const watcher of watched.get(threadId) ?? []) watcher(hasCome);
  }

  async function look(): Promise<void> {
    timer = undefined;
    try {
      const gone = new Set(watched.keys());
      for (const { id, ...now } of await threads.progress([...gone])) {
        gone.delete(id);
        const before = seen.get(id);
        // A thread that goes on with the same run has come to nothing yet.
        const hasCome = now.status !== "running" || now.run !== before?.run;
        if (now.next_seq !== before?.next_seq || now.status !== before.status) changed(id, hasCome);
        if (watched.has(id)) seen.set(id, now);
      }
      for (const id of gone) {
        if (seen.get(id) === null) continue;
        changed(id);
        if (watched.has(id)) seen.set(id, null);
      }
    } catch {
      // The database is away for a moment; the next look will tell.
    }
    schedule();
  }

  function schedule(): void {
    if (!isShared || isClosed || timer || watched.size === 0) return;
    timer = setTimeout(look, pollMs);
    timer.unref();
  }

  return {
    watch(threadId, watcher) {
      const watchers = watched.get(threadId) ?? new Set();
      watched.set(threadId, watchers.add(watcher));
      schedule();
      return () => {
        watchers.delete(watcher);
        if (watchers.size > 0 || watched.get(threadId) !== watchers) return;
        watched.delete(threadId);
        seen.delete(threadId);
      };
    },
    changed,
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const threadId of watched.keys()) changed(threadId);
    },
  };
}
