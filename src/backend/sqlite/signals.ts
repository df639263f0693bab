// `signal(text)` on a SQLite connection: what a batch says is kept until its commit, then told to everyone who listens.
import type { DatabaseSync } from "node:sqlite";

export type Signals = {
  /** Begins a batch. */
  collect(): void;
  /** Keeps what the batch said, each text once. */
  keep(): void;
  /** Ends a batch; what was not kept is gone. */
  stop(): void;
  /** Tells the listeners what was kept, soon but not now: nobody may throw or work in the middle of a commit. */
  deliver(): void;
  /** Drops what was kept, because it was not committed after all. */
  forget(): void;
  listen(onSignal: (text: string) => void): () => void;
};

export function signalsOn(database: DatabaseSync): Signals {
  const listeners = new Set<{ onSignal: (text: string) => void }>();
  let collected: Set<string> | undefined;
  let kept: string[] = [];

  database.function("signal", (text) => {
    if (!collected) throw new TypeError("signal() is for batches: a signal goes out with a commit.");
    collected.add(String(text));
    return null;
  });

  return {
    collect() {
      collected = new Set();
    },
    keep() {
      for (const text of collected ?? []) kept.push(text);
    },
    stop() {
      collected = undefined;
    },
    deliver() {
      if (kept.length === 0) return;
      const texts = kept;
      kept = [];
      queueMicrotask(() => {
        for (const text of texts) for (const listener of listeners) tell(listener.onSignal, text);
      });
    },
    forget() {
      kept = [];
    },
    listen(onSignal) {
      const listener = { onSignal };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function tell(onSignal: (text: string) => void, text: string): void {
  try {
    onSignal(text);
  } catch {
    // A signal only says that there is something to look at; a listener that fails must not keep it from the others.
  }
}
