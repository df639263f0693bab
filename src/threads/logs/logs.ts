// The logs of a thread, read from its record log: one row for every attempt at a model, one for every tool that ran.
import type { StoredEvent } from "../../backend/thread-rows.ts";
import { checkNumber } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { threadNotFound } from "../thread-errors.ts";
import { foldLogs } from "./fold-logs.ts";
import type { LogRow } from "./log-row.ts";

export type LogQuery = {
  /** 100 unless given. */
  readonly limit?: number;
  /** How many are skipped first. */
  readonly offset?: number;
  /** `desc`, the newest first, unless given. */
  readonly order?: "asc" | "desc";
};

const USUAL_LIMIT = 100;

/** Throws `thread_not_found`. The whole record log is read, because what an attempt came to stands in a later commit. */
export async function readLogs(host: Host, threadId: string, query: LogQuery = {}): Promise<readonly LogRow[]> {
  const { limit = USUAL_LIMIT, offset = 0, order = "desc" } = query;
  checkNumber("limit", limit);
  checkNumber("offset", offset);
  if (!(await host.stores.threads.get(threadId))) throw threadNotFound(threadId);
  const rows = await allLogs(host, threadId);
  const ordered = order === "asc" ? rows : rows.toReversed();
  return ordered.slice(offset, offset + limit);
}

/** Every row of a thread that is there, oldest first. */
export async function allLogs({ stores: { threads } }: Host, threadId: string): Promise<readonly LogRow[]> {
  // First the events: a call that they speak of is in the ledger then.
  const events = await allEvents(threads, threadId);
  return foldLogs(threadId, events, await threads.calls(threadId));
}

const PAGE = 1_000;

export async function allEvents(threads: Host["stores"]["threads"], threadId: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const last = events.at(-1);
    const page = await threads.events(threadId, { limit: PAGE, ...(last && { after: last.seq }) });
    events.push(...page);
    if (page.length < PAGE) return events;
  }
}
