// One step of a durable thread, the same for every contestant: look at the thread, work, and commit with one statement.
import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "pg";

/** The row of the thread, with whatever columns the contestant added to it, and the messages that no step saw yet. */
type Look = {
  readonly next_step: number;
  readonly remaining: number;
  readonly inbox: readonly string[];
  readonly [column: string]: unknown;
};

/** What a contestant adds to the commit: columns to set, a condition, a call; its parameters are numbered from `$7` on. */
export type Extra = {
  readonly name: string;
  readonly set?: string;
  readonly where?: string;
  /** An expression that makes the next step due; evaluated when the step is committed and more of them are planned. */
  readonly next?: string;
  readonly params?: (look: Look) => readonly unknown[];
  /** For a contestant whose own writes are not SQL that we can call: opens a transaction around the commit. */
  readonly around?: (commit: (database: Database) => Promise<StepOutcome>) => Promise<StepOutcome>;
};

type Database = Pick<Pool, "query">;

/** `idle` when nothing is due, `refused` when somebody else had made this step before us. */
export type StepOutcome =
  | { readonly outcome: "idle" | "refused" }
  | { readonly outcome: "committed"; readonly remaining: number };

export type RunStep = (database: Database, thread: number, extra?: Extra) => Promise<StepOutcome>;

/** The process that works, how long a step takes it, and who wants to know that one began. */
export type StepOptions = {
  readonly worker: number;
  readonly workMs: () => number;
  readonly onBegin: (thread: number) => void;
};

export function stepRunner({ worker, workMs, onBegin }: StepOptions): RunStep {
  return async (database, thread, extra = { name: "alone" }) => {
    const begun = monotonicUs();
    const seen = await look(database, thread);
    if (seen.remaining === 0 && seen.inbox.length === 0) return { outcome: "idle" };
    onBegin(thread);
    const ms = workMs();
    if (ms > 0) await pause(ms); // Here a thread would ask its model: outside of any transaction.
    const span = [thread, seen.next_step, worker, begun, monotonicUs()];
    const commit = (client: Database) => commitStep(client, span, seen, extra);
    const step = await (extra.around ? extra.around(commit) : commit(database));
    if (step.outcome === "refused") await database.query("insert into refused values ($1, $2, $3, $4, $5)", span);
    return step;
  };
}

async function commitStep(database: Database, span: number[], seen: Look, extra: Extra): Promise<StepOutcome> {
  const { rows } = await database.query({
    name: `commit ${extra.name}`,
    text: commitStatement(extra),
    values: [...span, seen.inbox, ...(extra.params?.(seen) ?? [])],
  });
  return rows.length === 1 ? { outcome: "committed", remaining: rows[0].remaining } : { outcome: "refused" };
}

async function look(database: Database, thread: number): Promise<Look> {
  const { rows } = await database.query({
    name: "look",
    text: `select threads.*,
             array(select id::text from messages where thread_id = $1 and seen_by_step is null) as inbox
           from threads where id = $1`,
    values: [thread],
  });
  return rows[0];
}

/** One statement is one transaction and one round trip, for everybody alike. */
function commitStatement({ set, where, next }: Extra): string {
  return `
    with thread as (
      update threads set next_step = next_step + 1, remaining = greatest(remaining - 1, 0)${set ? `, ${set}` : ""}
      where id = $1 and next_step = $2${where ? ` and ${where}` : ""}
      returning remaining
    ), step as (
      insert into steps (thread_id, step, worker, begun_us, ended_us)
      select $1, $2, $3, $4, $5 from thread
    ), seen as (
      update messages set seen_by_step = $2 where id = any($6::bigint[]) and exists (select from thread)
    )
    select remaining ${next ? `, case when remaining > 0 then ${next} end` : ""} from thread`;
}

/** One clock for all processes of this machine. */
function monotonicUs(): number {
  return Number(process.hrtime.bigint()) / 1000;
}
