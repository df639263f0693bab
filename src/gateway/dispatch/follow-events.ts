// The event stream from an id on: what is stored, then what is committed from now on, until the reader leaves.
import type { GatewayEventStore, StreamEntry } from "../../backend/gateway/gateway-event-store.ts";
import type { Changes } from "./changes.ts";

const PAGE = 500;

/** How often the store is asked without an announcement: other processes commit too. */
const POLL_MS = 1_000;

export async function* followEvents(
  { events, changes }: { readonly events: GatewayEventStore; readonly changes: Changes },
  after: number,
  signal?: AbortSignal,
): AsyncGenerator<StreamEntry> {
  for (let last = after; !signal?.aborted; ) {
    // Listens before it reads, so that nothing is missed in between.
    const changed = changes.next(POLL_MS, signal);
    const entries = await events.read({ after: last, limit: PAGE });
    for (const entry of entries) {
      if (signal?.aborted) return;
      yield entry;
      last = entry.id;
    }
    if (entries.length < PAGE) await changed;
  }
}
