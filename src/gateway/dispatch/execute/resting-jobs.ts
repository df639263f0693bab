// Jobs in which something went wrong that was not planned for: they keep their place in the queue, and those behind them go
// first for a while.

export type RestingJobs = {
  /** Those that this process does not claim now. */
  ids(): Iterable<string>;
  /** Each time the job rests for longer. */
  wentWrong(id: string): void;
  wentWell(id: string): void;
};

const FIRST_REST_MS = 500;
const LONGEST_REST_MS = 5 * 60_000;

export function createRestingJobs(): RestingJobs {
  const resting = new Set<string>();
  const times = new Map<string, number>();
  return {
    ids: () => resting,
    wentWrong(id) {
      const time = times.get(id) ?? 0;
      times.set(id, time + 1);
      resting.add(id);
      setTimeout(() => resting.delete(id), Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** time)).unref();
    },
    wentWell: (id) => void times.delete(id),
  };
}
