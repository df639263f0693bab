// Tells those in this process who wait that something was committed; what other processes commit arrives as a signal.

export type Changes = {
  announce(): void;
  /** Resolves at the next announcement, or after so many milliseconds. */
  next(milliseconds: number, signal?: AbortSignal): Promise<void>;
};

export function createChanges(): Changes {
  let waiting = new Set<() => void>();
  return {
    announce() {
      const woken = waiting;
      waiting = new Set();
      for (const wake of woken) wake();
    },
    async next(milliseconds, signal) {
      if (signal?.aborted) return;
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        waiting.add(end);
        signal?.addEventListener("abort", end, { once: true });
      });
    },
  };
}
