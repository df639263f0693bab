// Pages that were shown all that a chat has said. When one of them comes back for the rest, there is none. Nobody else can
// be told that: what was written to a connection may never have arrived, and a page that was cut off would never learn the
// end of an answer. To be told an answer again that it has does a page no harm, so whatever is forgotten here is told again.

export type ShownWhole = {
  /** A page was shown everything up to this place of a thread that rests or waits: its end, for now. */
  add(threadId: string, position: string | null): void;
  /** True once, for the page that comes back after that and finds the thread where it was. */
  take(threadId: string, position: string | null): boolean;
};

/** Pages come back within seconds. */
const KEPT_MS = 60_000;
const MOST = 10_000;

export function createShownWhole(now: () => number = Date.now): ShownWhole {
  const shown = new Map<string, { readonly position: string | null; readonly until: number }>();

  /** In the order in which they were added, so the first one that is kept ends it. */
  function forget(): void {
    for (const [threadId, { until }] of shown) {
      if (until > now() && shown.size <= MOST) return;
      shown.delete(threadId);
    }
  }

  return {
    add(threadId, position) {
      shown.delete(threadId);
      shown.set(threadId, { position, until: now() + KEPT_MS });
      forget();
    },
    take(threadId, position) {
      forget();
      if (shown.get(threadId)?.position !== position) return false;
      return shown.delete(threadId);
    },
  };
}
