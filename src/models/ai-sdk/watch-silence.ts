// Ends a request that nobody hears from any more, or that its caller has given up.

/** A longer timer would overflow and fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type Watch = {
  /** Fires when the request is to end. */
  readonly signal: AbortSignal;
  /** Rejects when the request is to end, for a provider that does not listen to the signal. */
  readonly ended: Promise<never>;
  /** True when it was silence that ended the request. */
  hasStalled(): boolean;
  /** Something came, so the time begins anew. */
  heard(limitMs?: number): void;
  /** Nothing is watched any more; what is still under way of the request ends. */
  close(): void;
};

export function watchSilence(limitMs: number, caller: AbortSignal | undefined): Watch {
  const request = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Nobody has to wait for it.
  ended.catch(() => {});
  let stalled = false;
  let timer: NodeJS.Timeout | undefined;
  const end = (reason: unknown) => {
    request.abort(reason);
    reject(reason);
  };
  const stop = () => end(caller?.reason);
  const stall = () => {
    stalled = true;
    end(new DOMException("Nothing came for too long.", "TimeoutError"));
  };
  const heard = (limit = limitMs) => {
    clearTimeout(timer);
    timer = setTimeout(stall, Math.min(limit, LONGEST_TIMER_MS));
  };
  heard();
  if (caller?.aborted) stop();
  else caller?.addEventListener("abort", stop, { once: true });

  return {
    signal: request.signal,
    ended,
    hasStalled: () => stalled,
    heard,
    close() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", stop);
      request.abort(new DOMException("Nobody reads on.", "AbortError"));
    },
  };
}
