// The steps that a runtime is at work on, by run and call: a step whose lease was lost and claimed again here must not be
// taken for one that a crash cut off.
import type { Outcome } from "../machine/next.ts";

type Work = {
  readonly promise: Promise<Outcome>;
  readonly cut: AbortController;
};

/** Of each runtime of this process: what another one is at work on is as far away as if it were elsewhere. */
const inProcess = new WeakMap<object, Map<string, Work>>();

function worksOf(runtime: object): Map<string, Work> {
  const works = inProcess.get(runtime) ?? new Map<string, Work>();
  inProcess.set(runtime, works);
  return works;
}

/** Tells one call of one run from every other. */
export function workId(runId: string, attempt: number, call: number): string {
  return `${runId} ${attempt} ${call}`;
}

/** Begins the work, unless the runtime is at it already. It never rejects. */
export function beginWork(runtime: object, id: string, perform: (signal: AbortSignal) => Promise<Outcome>): Work {
  const works = worksOf(runtime);
  const known = works.get(id);
  if (known && !known.cut.signal.aborted) return known;
  const cut = new AbortController();
  // What was cut off because a lease was lost has to come to its end first.
  const before = known ? known.promise : Promise.resolve();
  const promise = before
    .then(() => perform(cut.signal))
    .finally(() => {
      if (works.get(id) === work) works.delete(id);
    });
  const work = { promise, cut };
  works.set(id, work);
  return work;
}
