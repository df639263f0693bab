// The steps that this process is at work on, by run and call: a step whose lease was lost and claimed again here must not be
// taken for one that a crash cut off.
import type { Outcome } from "../machine/next.ts";

type Work = {
  readonly promise: Promise<Outcome>;
  readonly cut: AbortController;
};

const inProcess = new Map<string, Work>();

/** Tells one call of one run from every other. */
export function workId(runId: string, attempt: number, call: number): string {
  return `${runId} ${attempt} ${call}`;
}

/** Begins the work, unless this process is at it already. It never rejects. */
export function beginWork(id: string, perform: (signal: AbortSignal) => Promise<Outcome>): Work {
  const known = inProcess.get(id);
  if (known && !known.cut.signal.aborted) return known;
  const cut = new AbortController();
  // What was cut off because a lease was lost has to come to its end first.
  const before = known ? known.promise : Promise.resolve();
  const promise = before
    .then(() => perform(cut.signal))
    .finally(() => {
      if (inProcess.get(id) === work) inProcess.delete(id);
    });
  const work = { promise, cut };
  inProcess.set(id, work);
  return work;
}
