// A place in the driver, as a test waits for it.

export type HeldPoint = {
  /** Passed to a runtime as `onPoint`. */
  readonly onPoint: (point: string) => Promise<void>;
  /** Resolves once the place was reached once more than the last time. */
  reached(): Promise<void>;
};

export function heldPoint(wanted: string): HeldPoint {
  let count = 0;
  let waiting: (() => void) | undefined;
  return {
    async onPoint(point) {
      if (point !== wanted) return;
      count++;
      waiting?.();
    },
    async reached() {
      if (count === 0) {
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
      }
      waiting = undefined;
      count--;
    },
  };
}
