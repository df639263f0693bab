// Calls into somebody else's code, without ever throwing and without ever hanging past an abort.
import type { Outcome } from "../contracts/outcome.ts";
import { isThenable } from "../contracts/when-ready.ts";

/** How a call came back, at once or later; undefined when the signal fired before it did. */
export type Attempted = Outcome | undefined | Promise<Outcome | undefined>;

/** Attempts of one run, one after another. The signal is listened to once, not for every call. */
export function attempts(signal: AbortSignal | undefined): { attempt(call: () => unknown): Attempted; end(): void } {
  let abandon: (() => void) | undefined;
  const fired = () => abandon?.();
  signal?.addEventListener("abort", fired);

  function later(pending: PromiseLike<unknown>): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      abandon = () => resolve(undefined);
      if (signal?.aborted) resolve(undefined);
      const fail = (threw: unknown) => resolve(signal?.aborted ? undefined : { threw });
      try {
        Promise.resolve(pending).then((returned) => resolve({ returned }), fail);
      } catch (threw) {
        fail(threw);
      }
    });
  }

  return {
    attempt(call) {
      try {
        const returned = call();
        return isThenable(returned) ? later(returned) : { returned };
      } catch (threw) {
        return signal?.aborted ? undefined : { threw };
      }
    },
    end: () => signal?.removeEventListener("abort", fired),
  };
}

/** A single attempt. */
export async function attempt(call: () => unknown, signal: AbortSignal | undefined): Promise<Outcome | undefined> {
  const single = attempts(signal);
  try {
    return await single.attempt(call);
  } finally {
    single.end();
  }
}

/** How long what closes a run may still take once the run was stopped. */
const GRACE_MILLISECONDS = 2_000;

/**
 * The same for what closes a run: storing the result, giving the lock back. It is waited for even when the run was
 * stopped, so that nothing is lost, but then not for ever.
 */
export async function attemptLast(call: () => unknown, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) {
    await attempt(call, undefined);
    return;
  }
  const patience = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const runOut = () => {
    timer = setTimeout(() => patience.abort(), GRACE_MILLISECONDS);
  };
  if (signal.aborted) runOut();
  else signal.addEventListener("abort", runOut, { once: true });
  await attempt(call, patience.signal);
  signal.removeEventListener("abort", runOut);
  clearTimeout(timer);
}
