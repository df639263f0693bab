// What a thread has cost, and what everything under it has.
import type { Thread } from "../../backend/thread-rows.ts";
import type { Host } from "../host.ts";
import { threadNotFound } from "../thread-errors.ts";
import type { LogRow } from "./log-row.ts";
import { allLogs } from "./logs.ts";

export type Costs = {
  /** US dollars; 0 where no model has a price. */
  readonly usd: number;
  /** Attempts at a model. */
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
};

/** In all, and by the names of the models; attempts of which nobody saw the end have none, and count in all alone. */
export type CostsByModel = Costs & { readonly models: Readonly<Record<string, Costs>> };

export type ThreadCost = {
  readonly thread_id: string;
  readonly own: CostsByModel;
  /** With all descendants, terminated ones too. */
  readonly subtree: CostsByModel;
  readonly threads: readonly {
    readonly thread_id: string;
    readonly parent_id: string | null;
    readonly agent: string;
    readonly costs: Costs;
  }[];
};

/** Throws `thread_not_found`. */
export async function costOf(host: Host, threadId: string): Promise<ThreadCost> {
  const root = await host.stores.threads.get(threadId);
  if (!root) throw threadNotFound(threadId);
  const all: LogRow[] = [];
  const threads: ThreadCost["threads"][number][] = [];
  let own: CostsByModel | undefined;
  const left: Thread[] = [root];
  for (let thread = left.shift(); thread; thread = left.shift()) {
    left.push(...(await host.stores.threads.children(thread.id, { ofAnyKind: true })));
    if (thread.kind !== "thread") continue;
    const rows = (await allLogs(host, thread.id)).filter(({ kind }) => kind === null);
    own ??= byModel(rows);
    all.push(...rows);
    threads.push({ thread_id: thread.id, parent_id: thread.parent_id, agent: thread.agent, costs: sum(rows) });
  }
  return { thread_id: threadId, own: own ?? byModel([]), subtree: byModel(all), threads };
}

function byModel(rows: readonly LogRow[]): CostsByModel {
  const models = Object.groupBy(
    rows.filter(({ model }) => model !== null),
    ({ model }) => String(model),
  );
  return { ...sum(rows), models: mapped(models) };
}

function mapped(groups: Partial<Record<string, LogRow[]>>): Readonly<Record<string, Costs>> {
  return Object.fromEntries(Object.entries(groups).map(([model, rows]) => [model, sum(rows ?? [])]));
}

function sum(rows: readonly LogRow[]): Costs {
  const total = (column: "input_tokens" | "cached_tokens" | "output_tokens" | "total_tokens") =>
    rows.reduce((added, row) => added + (row[column] ?? 0), 0);
  return {
    // Added in billionths: dollars as fractions would not add up.
    usd: rows.reduce((added, { cost_total }) => added + Math.round((cost_total ?? 0) * 1e9), 0) / 1e9,
    calls: rows.length,
    input_tokens: total("input_tokens"),
    cached_tokens: total("cached_tokens"),
    output_tokens: total("output_tokens"),
    total_tokens: total("total_tokens"),
  };
}
