// Timers that are passed to what is tested: they go off when the test says so.

export type HeldAfter = {
  /** Passed in place of real timers. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** Has the timer of this length go off; waits for it to be set first. */
  goOff(ms: number): Promise<void>;
  /** The lengths of the timers that were set and have neither gone off nor been cancelled. */
  pending(): readonly number[];
};

export function heldAfter(): HeldAfter {
  const timers = new Set<{ readonly ms: number; readonly callback: () => void }>();
  const onSet = new Set<() => void>();
  return {
    after(ms, callback) {
      const timer = { ms, callback };
      timers.add(timer);
      for (const listener of onSet) listener();
      return () => void timers.delete(timer);
    },
    goOff: (ms) =>
      new Promise((resolve) => {
        const look = () => {
          const timer = [...timers].find((each) => each.ms === ms);
          if (!timer) return;
          onSet.delete(look);
          timers.delete(timer);
          timer.callback();
          resolve();
        };
        onSet.add(look);
        look();
      }),
    pending: () => [...timers].map(({ ms }) => ms),
  };
}
