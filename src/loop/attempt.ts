// Calls into somebody else's code, without ever throwing and without ever hanging past an abort.
import type { Outcome } from "./next.ts";

/** How the call came back; undefined when the signal fired before it did. */
export async function attempt(call: () => unknown, signal: AbortSignal | undefined): Promise<Outcome | undefined> {
  try {
    const returned = call();
    if (!isThenable(returned)) return { returned };
    if (!signal) return { returned: await returned };
    return await unlessAborted(returned, signal);
  } catch (threw) {
    return signal?.aborted ? undefined : { threw };
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

function unlessAborted(pending: PromiseLike<unknown>, signal: AbortSignal): Promise<Outcome | undefined> {
  return new Promise((resolve) => {
    const abandon = () => resolve(undefined);
    const settle = (outcome: Outcome | undefined) => {
      signal.removeEventListener("abort", abandon);
      resolve(outcome);
    };
    if (signal.aborted) abandon();
    signal.addEventListener("abort", abandon, { once: true });
    pending.then(
      (returned) => settle({ returned }),
      (threw: unknown) => settle(signal.aborted ? undefined : { threw }),
    );
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
