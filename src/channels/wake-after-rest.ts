// Brings forward a delivery that waits for a run to end which itself waits for somebody. It only saves time: whatever this
// process misses, the delivery looks again by itself.

import type { Host } from "../threads/host.ts";
import type { RunOutcome } from "../threads/outcome.ts";

export type Resting = { readonly threadId: string; readonly run: number; readonly effectId: string };

/** Those beyond it are found by looking. */
const MOST_WATCHED = 1_000;

const watched = new WeakMap<Host, Map<string, () => void>>();

export function wakeAfterRest(host: Host, { threadId, run, effectId }: Resting): void {
  const threads = watched.get(host) ?? new Map<string, () => void>();
  watched.set(host, threads);
  threads.get(threadId)?.();
  if (threads.size >= MOST_WATCHED) return;
  const unwatch = host.progress.watch(threadId, (hasCome) => {
    if (hasCome) void look().catch(() => undefined);
  });
  const stop = () => {
    unwatch();
    if (threads.get(threadId) === stop) threads.delete(threadId);
  };
  threads.set(threadId, stop);

  async function look(): Promise<void> {
    const { stores } = host;
    const stored = await stores.threads.run(threadId, run);
    const outcome = stored?.outcome == null ? undefined : (JSON.parse(stored.outcome) as RunOutcome);
    if (stored && (outcome === undefined || outcome.waiting_for !== undefined)) return;
    stop();
    const found = await stores.state.effect(threadId, effectId);
    if (found?.status !== "pending") return;
    const { id, name, args, replayed_from } = found;
    const effect = { id, name, args, after: 0, manual_run: false, replayed_from };
    await stores.writes.apply(threadId, [{ write: "effect", thread_id: threadId, effect }]);
  }
}
