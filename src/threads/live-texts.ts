// The text that models are saying just now. Readers in this process hear every piece; for those in others it is written
// down a few times a second, when there can be others. No reader slows a run, and nothing of it is part of the record.
import type { LiveText, LiveTextStore } from "../backend/live-text.ts";

type Reader = (text: LiveText) => void;

export type LiveTexts = {
  /** A model has said more: `content` is everything of this attempt so far. */
  say(text: LiveText): void;
  /** The answer is committed or given up: nothing is in flight any more. */
  end(threadId: string): void;
  /** Hears of the thread's text in flight, what was said so far included, until the returned function is called. */
  listen(threadId: string, reader: Reader): () => void;
  close(): void;
};

export function createLiveTexts(
  store: LiveTextStore,
  { isShared, everyMs = 200 }: { readonly isShared: boolean; readonly everyMs?: number },
): LiveTexts {
  const own = new Map<string, LiveText>();
  const readers = new Map<string, Set<Reader>>();
  const unwritten = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function tell(text: LiveText): void {
    for (const reader of readers.get(text.thread_id) ?? []) reader(text);
  }

  function schedule(): void {
    const isIdle = unwritten.size === 0 && readers.size === 0;
    if (!isShared || isClosed || timer || isIdle) return;
    timer = setTimeout(exchange, everyMs);
    timer.unref();
  }

  /** Writes down what this process's models say, and reads what those of others do. */
  async function exchange(): Promise<void> {
    timer = undefined;
    try {
      const said = [...unwritten].flatMap((id) => own.get(id) ?? []);
      unwritten.clear();
      for (const text of said) await store.put(text);
      const elsewhere = [...readers.keys()].filter((id) => !own.has(id));
      for (const text of await store.get(elsewhere)) tell(text);
    } catch {
      // The database is away for a moment: readers catch up with the next piece, or with the committed message.
    }
    schedule();
  }

  return {
    say(text) {
      own.set(text.thread_id, text);
      tell(text);
      if (!isShared) return;
      unwritten.add(text.thread_id);
      schedule();
    },
    end(threadId) {
      unwritten.delete(threadId);
      if (!own.delete(threadId) || !isShared) return;
      store.clear(threadId).catch(() => undefined);
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
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
