// The gateway's event stream. Ids rise in the order of commits, over restarts and processes: a reader that continues
// behind the last id it has seen misses nothing.
import type { NewStreamEntry } from "./job-store.ts";

export type StreamEntry = NewStreamEntry & { readonly id: number; readonly at: number };

export interface GatewayEventStore {
  /** For what belongs to no commit of a job. */
  append(entries: readonly NewStreamEntry[]): Promise<void>;
  /** In order, behind the id. */
  read(query: { readonly after: number; readonly limit: number }): Promise<readonly StreamEntry[]>;
  /** The id that was given last, also when its entry was pruned since; 0 when there was none. */
  last(): Promise<number>;
  /** Removes the oldest entries, up to the limit. Resolves with how many. */
  prune(olderThanMicroseconds: number, limit: number): Promise<number>;
}
