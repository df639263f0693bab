// Statements of the portable SQL on a SQLite connection: translated and prepared once, then kept.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { checkValues } from "../check-values.ts";
import type { Clock } from "../clock.ts";
import type { Row, Scalar } from "../sql-driver.ts";

/** What a statement returned, and how many rows that or its change concerns. */
export type Performed = { readonly rows: readonly Row[]; readonly count: number };

/** More than the stores have, so that only text that is made up on the way is ever prepared again. */
const MOST_KEPT = 500;

const none: readonly Row[] = [];

/** `columns`: the names of what it returns; none when it returns no rows. */
type Prepared = {
  readonly statement: StatementSync;
  readonly parameters: number;
  readonly columns: readonly string[];
  /** A row without values, with all its columns. */
  readonly blank: Row;
};

/** Performs statements on one connection, and gives it `now_us()`. */
export function statementsOn(
  database: DatabaseSync,
  clock?: Clock,
): (sql: string, params: readonly Scalar[]) => Performed {
  const kept = new Map<string, Prepared>();
  // Called deterministic, it is asked once a statement and not for every row; each run of a statement asks anew.
  database.function(
    "now_us",
    { deterministic: true },
    clock ? heldMicroseconds(clock, readsOf(database)) : nowMicroseconds(),
  );

  function prepare(sql: string): Prepared {
    const { text, parameters } = translate(sql);
    const statement = database.prepare(text);
    const columns = statement.columns().map(({ name }) => name);
    const prepared = { statement, parameters, columns, blank: Object.fromEntries(columns.map((name) => [name, null])) };
    if (columns.length > 0) statement.setReturnArrays(true);
    // What it then tells besides the count may be beyond what a number can hold.
    else statement.setReadBigInts(true);
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value as string);
    kept.set(sql, prepared);
    return prepared;
  }

  return (sql, params) => {
    const { statement, parameters, columns, blank } = kept.get(sql) ?? prepare(sql);
    if (params.length !== parameters) {
      throw new TypeError(`The statement takes ${parameters} values, not ${params.length}: ${sql}`);
    }
    checkValues(params);
    const values = params.map(bindable);
    if (columns.length === 0) return { rows: none, count: Number(statement.run(...values).changes) };
    const lists = statement.all(...values) as unknown as (readonly Scalar[])[];
    return { rows: lists.map((list) => rowOf(columns, list, blank)), count: lists.length };
  };
}

/**
 * SQLite's own rows are objects that take three times as long to make and to read as these; and a copy that has all its
 * columns is filled sooner than an object that grows with each.
 */
function rowOf(columns: readonly string[], values: readonly Scalar[], blank: Row): Row {
  const row: Record<string, Scalar> = { ...blank };
  for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at] as Scalar;
  return row;
}

/** `$1` becomes `?1`, except in quotes and comments. */
function translate(sql: string): { text: string; parameters: number } {
  let parameters = 0;
  const text = sql.replace(
    /'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$(\d+)/g,
    (whole: string, number: string | undefined) => {
      if (number === undefined) return whole;
      parameters = Math.max(parameters, Number(number));
      return `?${number}`;
    },
  );
  // A statement whose limit is a bare parameter is compiled anew each time it runs, for a plan that fits the number.
  return { text: text.replace(/\blimit (\?\d+)/gi, "limit $1 + 0"), parameters };
}

/** A number would be bound as a fraction, and read `1.0` as text. */
function bindable(value: Scalar): Scalar | bigint {
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** A second: what a clock that is being adjusted goes back by at most. */
const ADJUSTMENT_MICROSECONDS = 1_000_000;

/**
 * The clock of the machine. Calls within one of its ticks count up, and small steps back are passed over, so that a later
 * time is a greater one; a clock that was really set back is followed, or timers would stand still until it catches up.
 */
function nowMicroseconds(): () => bigint {
  let latest = 0;
  return () => {
    const now = Date.now() * 1_000;
    latest = now > latest || latest - now > ADJUSTMENT_MICROSECONDS ? now : latest + 1;
    return BigInt(latest);
  };
}

type Reads = { count: number };

/** How often the time of a database was read by held clocks: files by their paths, since one may be opened again. */
const readsOfFiles = new Map<string, Reads>();

function readsOf(database: DatabaseSync): Reads {
  const path = database.location();
  const reads = (path === null ? undefined : readsOfFiles.get(path)) ?? { count: 0 };
  if (path !== null) readsOfFiles.set(path, reads);
  return reads;
}

/**
 * A clock that stands still until it is moved. Reads count up here too, over the moves and by whichever clock the database
 * is opened with: what was to last a minute from one of them is over when the clock was moved by a minute.
 */
function heldMicroseconds(clock: Clock, reads: Reads): () => bigint {
  return () => BigInt(Math.round(clock.now() * 1_000) + reads.count++);
}
