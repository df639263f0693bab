// Follows a run: what happened after a place, and what happens. Reading it starts nothing, and leaving stops nothing.
import { terminalStatuses } from "../../contracts/workflows/run-record.ts";
import { isCarriedOn } from "./is-carried-on.ts";
import { runStuck } from "./run-errors.ts";
import { createEventReader, type RunEvent } from "./run-events.ts";
import type { RunHost } from "./run-host.ts";

const PAGE = 200;

export async function* followRun(
  host: RunHost,
  id: string,
  { after, signal }: { readonly after?: string; readonly signal?: AbortSignal } = {},
): AsyncGenerator<RunEvent, void, void> {
  const { stores, progress } = host.threads;
  const reader = await createEventReader(host, id);
  let isNews = true;
  let wake: (() => void) | undefined;
  const news = () => {
    isNews = true;
    wake?.();
  };
  const unwatch = progress.watch(id, news);
  signal?.addEventListener("abort", news);
  try {
    for (let last = after; !signal?.aborted; ) {
      isNews = false;
      // Read before the events: what comes in between is among them.
      const stored = await stores.workflows.get(id);
      const events = await reader.after(last, PAGE);
      for (const event of events) {
        yield event;
        last = event.id;
      }
      if (events.length > 0) continue;
      if (!stored || (terminalStatuses.has(stored.status) && !(await isCarriedOn(host, id)))) return;
      if ((await stores.engine.view(id))?.stuck_at != null) throw runStuck(id);
      if (!isNews && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unwatch();
    signal?.removeEventListener("abort", news);
  }
}
