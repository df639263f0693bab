// The statements over a table whose rows are leased by workers. Each of them exists once, here; a table says in its
// description what is particular about it. A leased table has these columns:
//
//   id           text, the primary key
//   due_at       microseconds, from which time on the row may be claimed; null while it waits for a wake-up, and for ever
//                once there is nothing left to do for it. Claiming leaves it as it is, so that a row whose worker has died is
//                due again.
//   wake_rev     counts the wake-ups, so that none is lost that comes while a worker gives the row back
//   lease_by     the worker that holds the row; null when none does
//   lease_until  microseconds, until when it is held; 0 when no worker holds it, never null
//   epoch        counts the claims for ever. A write of the holder is guarded by it.
//   claims       counts the claims since there was progress: for rows that fail again and again
//   stuck_at     only where the description says so: not claimed any more until it is retried
//
// and these indexes: (due_at) where due_at is not null, (lease_by) where lease_by is not null. Where every claim names
// a kind of rows, the former may be one for each.
// Every time is read from the database's clock. The table must also stand in the list in `open-stores.ts`.
import type { Scalar, Statement } from "../sql-driver.ts";

export type LeasedTable = {
  readonly name: string;
  /** In which order due rows are claimed, as behind `order by`: `due_at`, or `created_at, seq`. */
  readonly order: string;
  /** What `claim` returns besides `id`, `epoch` and `claims`: columns or expressions, after the claim has changed the row. */
  readonly claimed?: readonly string[];
  /** What `renew` returns besides `id` and `epoch`. */
  readonly renewed?: readonly string[];
  /** True for a table with `stuck_at`. */
  readonly canBeStuck: boolean;
  /** More that is set, as behind `set`. Columns have the values from before the statement. */
  readonly sets?: {
    /** By `claim`: `status = 'running'`. */
    readonly claim?: string;
    /** By `putBack` and `release`: the row is again as it was before it was claimed. */
    readonly putBack?: string;
    /** By `free` and `freeExpired`: the worker died while it held the row. */
    readonly free?: string;
  };
  /** The SQL of `due_at` for a row that is released or put back: now, or as it was, unless defined. */
  readonly atOnce?: string;
  /** When a row is due that is given back at a time of its own, the SQL of which is given; that time unless defined. */
  readonly dueAt?: (time: string) => string;
};

/** Adds values to the parameters of a statement and returns their placeholders, separated by commas. */
export type Bind = (...values: readonly Scalar[]) => string;

/** SQL that binds its values while it is written. It may not contain the comments with which rows are locked. */
export type SqlText = (bind: Bind) => string;

export type ClaimRows = {
  readonly worker: string;
  readonly lease_us: number;
  /** The most rows that are claimed. */
  readonly limit: number;
  /** Ids that are left out: what the worker is at work on, even if its lease seems to be over. */
  readonly except?: readonly string[];
  /** What must hold besides. It names the columns of the row plainly or behind the name of the table. */
  readonly condition?: SqlText;
};

/**
 * Leases due rows that no worker holds, in the order of the table, and passes over those that another transaction has locked.
 * Returns `id`, `epoch` and `claims`, both counted up, and what the table names in `claimed`; in no particular order.
 */
export function claim(table: LeasedTable, { worker, lease_us, limit, except = [], condition }: ClaimRows): Statement {
  const params: Scalar[] = [worker, lease_us, limit];
  const bind = binding(params);
  // The time as a subselect is read once, and found in the index; a clock that is read anew for every row is not.
  const conditions = [
    "due_at <= (select now_us())",
    "lease_until <= (select now_us())",
    ...claimable(table, bind, condition),
    ...(except.length > 0 ? [`id not in (${bind(...except)})`] : []),
  ];
  const sql = `update ${table.name} set lease_by = $1, lease_until = now_us() + $2, epoch = epoch + 1, claims = claims + 1${more(
    table.sets?.claim,
  )}
    where id in (
      select id from ${table.name} where ${conditions.join(" and ")}
      order by ${table.order} limit $3 /*skip locked*/
    ) returning ${["id", "epoch", "claims", ...(table.claimed ?? [])].join(", ")}`;
  return { sql, params };
}

/**
 * Extends the leases of those rows that the worker still holds, also of one that has run out but was not claimed again.
 * Returns `id` and `epoch` of them, and what the table names in `renewed`. It needs at least one id, and goes into one
 * batch with `beat(worker)` from `membership.ts`.
 */
export function renew(
  table: LeasedTable,
  worker: string,
  ids: readonly string[],
  leaseMicroseconds: number,
): Statement {
  const params: Scalar[] = [worker, leaseMicroseconds];
  const own = binding(params)(...ids);
  // Locked in the order of the ids, as every writer of several rows locks them.
  const sql = `update ${table.name} set lease_until = now_us() + $2 where lease_by = $1 and id in (
      select id from ${table.name} where lease_by = $1 and id in (${own}) order by id /*for update*/
    ) returning ${["id", "epoch", ...(table.renewed ?? [])].join(", ")}`;
  return { sql, params };
}

export type GiveBackRow = {
  readonly id: string;
  readonly epoch: number;
  /**
   * As the worker last read it: a row that was woken since is due at once, and `claims` is 0 again. Null after a failure:
   * the row is due after its time in any case, and its claims are kept.
   */
  readonly wake_rev: number | null;
  /** Microseconds from now; null to wait for a wake-up. */
  readonly due_after: number | null;
  /** More that is set. */
  readonly set?: SqlText;
};

/** Ends the lease of one row. Changes nothing when the row was claimed again since. */
export function giveBack(table: LeasedTable, { id, epoch, wake_rev, due_after, set }: GiveBackRow): Statement {
  const params: Scalar[] = [id, epoch, wake_rev, due_after];
  const own = "now_us() + cast($4 as bigint)";
  const due = wake_rev === null ? own : (table.dueAt?.(own) ?? own);
  const sql = `update ${table.name} set ${UNLEASED},
      claims = case when cast($3 as bigint) is null then claims else 0 end,
      due_at = case when wake_rev = coalesce($3, wake_rev) then ${due} else now_us() end${more(set?.(binding(params)))}
    where id = $1 and epoch = $2`;
  return { sql, params };
}

/** Ends the lease of one row as if it had not been claimed: there is no room for it here. */
export function putBack(table: LeasedTable, { id, epoch }: Pick<GiveBackRow, "id" | "epoch">): Statement {
  const due = table.atOnce === undefined ? "" : `, due_at = ${table.atOnce}`;
  const sql = `update ${table.name} set ${UNLEASED}, ${UNCLAIMED}${due}${more(table.sets?.putBack)}
    where id = $1 and epoch = $2 and lease_by is not null`;
  return { sql, params: [id, epoch] };
}

/** The same for every row that a worker holds, which are due now: it shuts down, and nothing is wrong with them. */
export function release(table: LeasedTable, worker: string): Statement {
  const sql = `update ${table.name} set ${UNLEASED}, due_at = ${table.atOnce ?? "now_us()"}, ${UNCLAIMED}${more(
    table.sets?.putBack,
  )}
    where lease_by = $1`;
  return { sql, params: [worker] };
}

/** Ends the leases of a worker that has died; the claims count. Returns the ids. */
export function free(table: LeasedTable, worker: string): Statement {
  const sql = `update ${table.name} set ${UNLEASED}${more(table.sets?.free)} where lease_by = $1 returning id`;
  return { sql, params: [worker] };
}

/**
 * The same for every lease that has run out, except those of rows that the caller is at work on or another transaction has
 * locked: for a table that counts the rows which are leased.
 */
export function freeExpired(
  table: LeasedTable,
  { except = [], condition }: Pick<ClaimRows, "except" | "condition">,
): Statement {
  const params: Scalar[] = [];
  const bind = binding(params);
  const conditions = [
    "lease_by is not null",
    "lease_until <= (select now_us())",
    ...(condition ? [condition(bind)] : []),
    ...(except.length > 0 ? [`id not in (${bind(...except)})`] : []),
  ];
  const sql = `update ${table.name} set ${UNLEASED}${more(table.sets?.free)} where id in (
      select id from ${table.name} where ${conditions.join(" and ")} /*skip locked*/
    )`;
  return { sql, params };
}

/** Only for a table with `stuck_at`. Expects that the row was not claimed again since. */
export function markStuck(
  table: LeasedTable,
  { id, epoch, set }: Pick<GiveBackRow, "id" | "epoch" | "set">,
): Statement {
  const params: Scalar[] = [id, epoch];
  const sql = `update ${table.name} set stuck_at = now_us(), ${UNLEASED}${more(set?.(binding(params)))}
    where id = $1 and epoch = $2`;
  return { sql, params, expect: 1 };
}

/** Only for a table with `stuck_at`. The row is due now; expects that it was stuck. */
export function retryStuck(table: LeasedTable, id: string): Statement {
  const sql = `update ${table.name} set stuck_at = null, claims = 0, due_at = now_us(), wake_rev = wake_rev + 1
    where id = $1 and stuck_at is not null`;
  return { sql, params: [id], expect: 1 };
}

/**
 * A read: `wait`, the microseconds until the first row is due that no worker holds and that meets the condition. Zero or
 * less when one is due, null when there is none.
 */
export function nextDue(table: LeasedTable, condition?: SqlText): Statement {
  const params: Scalar[] = [];
  const conditions = ["due_at is not null", "lease_until <= now_us()", ...claimable(table, binding(params), condition)];
  return { sql: `select min(due_at) - now_us() as wait from ${table.name} where ${conditions.join(" and ")}`, params };
}

/**
 * What a wake-up sets, whoever holds the row: it is due now, unless it is due already. Where `isAsleep` holds, which is
 * SQL, it is only counted.
 */
export function woken(isAsleep?: string): string {
  const stays = isAsleep === undefined ? "due_at <= now_us()" : `(${isAsleep}) or due_at <= now_us()`;
  return `wake_rev = wake_rev + 1, due_at = case when ${stays} then due_at else now_us() end`;
}

/** What ends a lease, for statements that do more than that: the commit with which a row is given back. */
export const UNLEASED = "lease_by = null, lease_until = 0";

/** The claim does not count. */
const UNCLAIMED = "claims = case when claims > 0 then claims - 1 else 0 end";

function claimable({ canBeStuck }: LeasedTable, bind: Bind, condition: SqlText | undefined): string[] {
  return [...(canBeStuck ? ["stuck_at is null"] : []), ...(condition ? [condition(bind)] : [])];
}

function more(set: string | undefined): string {
  return set === undefined ? "" : `, ${set}`;
}

function binding(params: Scalar[]): Bind {
  return (...values) => {
    const first = params.length + 1;
    params.push(...values);
    return values.map((_, index) => `$${first + index}`).join(", ");
  };
}
