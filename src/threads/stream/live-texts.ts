// What models are saying just now. Readers in this process hear of every piece; for those in others it is written down a
// few times a second, when there can be others. No reader slows a run, and nothing of it is part of the record.
import type { LiveText, LiveTextStore } from "../../backend/live-text.ts";

/** Told that more was said. The text is not copied: it is the same for all readers, and grows. */
type Reader = (text: LiveText) => void;

export type LiveTexts = {
  /** A model has said more: the same text each time, until it is another attempt's. */
  say(text: LiveText): void;
  /** The answer is committed or given up: nothing is in flight any more. */
  end(threadId: string): void;
  /** Hears of what the thread's model says, what it said so far included, until the returned function is called. */
  listen(threadId: string, reader: Reader): () => void;
  /** Tells the thread's readers at once what was said so far in another process. */
  look(threadId: string): Promise<void>;
  close(): void;
};

export function createLiveTexts(
  store: LiveTextStore,
  { isShared, everyMs = 200 }: { readonly isShared: boolean; readonly everyMs?: number },
): LiveTexts {
  const own = new Map<string, LiveText>();
  const ended = new WeakSet<LiveText>();
  const readers = new Map<string, Set<Reader>>();
  const unwritten = new Set<string>();
  const written = new Set<string>();
  /** The threads of which something was said here while they were being looked up. */
  const lookups = new Set<Set<string>>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** Everything that is written, one after another: what was cleared must not come back. */
  let writing = Promise.resolve();

  function tell(text: LiveText): void {
    for (const reader of readers.get(text.thread_id) ?? []) reader(text);
  }

  function schedule(): void {
    const isIdle = unwritten.size === 0 && readers.size === 0;
    if (!isShared || isClosed || timer || isIdle) return;
    timer = setTimeout(exchange, everyMs);
    timer.unref();
  }

  /** When the database is away for a moment, readers catch up with the next piece, or with the committed message. */
  function write(work: () => Promise<void>): Promise<void> {
    writing = writing.then(work).catch(() => undefined);
    return writing;
  }

  /** Writes down what this process's models say, and reads what those of others do. */
  async function exchange(): Promise<void> {
    await write(async () => {
      const ids = [...unwritten];
      unwritten.clear();
      for (const id of ids) {
        const text = own.get(id);
        if (!text) continue;
        written.add(id);
        await store.put(text);
      }
    });
    await hear([...readers.keys()]);
    timer = undefined;
    schedule();
  }

  /** What was said here since it was looked up is newer than what was found, also when it has ended meanwhile. */
  async function hear(threadIds: readonly string[]): Promise<void> {
    // What this process has written of an answer that is over is cleared by then.
    await writing;
    const overtaken = new Set<string>();
    lookups.add(overtaken);
    try {
      const elsewhere = threadIds.filter((id) => !own.has(id));
      const found = await store.get(elsewhere);
      for (const text of found) if (!own.has(text.thread_id) && !overtaken.has(text.thread_id)) tell(text);
    } catch {
      // As above.
    } finally {
      lookups.delete(overtaken);
    }
  }

  return {
    say(text) {
      const id = text.thread_id;
      if (own.get(id) !== text) {
        // A model that was let go may go on talking.
        if (ended.has(text)) return;
        own.set(id, text);
      }
      tell(text);
      if (!isShared) return;
      for (const overtaken of lookups) overtaken.add(id);
      unwritten.add(id);
      schedule();
    },
    end(threadId) {
      const text = own.get(threadId);
      if (!text) return;
      ended.add(text);
      own.delete(threadId);
      unwritten.delete(threadId);
      if (written.delete(threadId)) void write(() => store.clear(threadId));
    },
    listen(threadId, reader) {
      const listening = readers.get(threadId) ?? new Set();
      readers.set(threadId, listening.add(reader));
      const text = own.get(threadId);
      if (text) reader(text);
      schedule();
      return () => {
        listening.delete(reader);
        if (listening.size === 0 && readers.get(threadId) === listening) readers.delete(threadId);
      };
    },
    async look(threadId) {
      if (isShared) await hear([threadId]);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
