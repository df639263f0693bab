// What the stores ask of a database: statements, and batches of them that happen together or not at all. The two drivers
// differ in how they do it, never in what it means; the text of a statement is the same on both.
import type { Clock } from "./clock.ts";

/** What a column holds. Times are integer microseconds, booleans 0 and 1, JSON is text; bytes are of the type `blob`. */
export type Scalar = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Scalar>>;

/**
 * SQL in the subset that both databases take, with numbered placeholders (`$1`). It may use `now_us()`, the database's
 * clock; `signal(text)`, which tells every listener once the batch is committed; and at the end of a select or subselect
 * the comments `/*skip locked*\/`, where rows that another worker holds are passed over, and `/*for update*\/`, where they
 * are waited for and then held, in the order of the select. `/*few rows*\/` at the end of a subselect after `in` says that
 * it finds so few that all else is worth an index. With `expect`, a different number of rows undoes the whole batch.
 */
export type Statement = { readonly sql: string; readonly params: readonly Scalar[]; readonly expect?: number };

export type BatchOutcome =
  | { readonly outcome: "committed"; readonly rows: readonly (readonly Row[])[] }
  /** The statement of this index touched another number of rows than it expects; nothing was changed. */
  | { readonly outcome: "refused"; readonly at: number }
  /** The connection was lost while committing: whether it happened has to be looked up. */
  | { readonly outcome: "unknown"; readonly cause: unknown };

export interface SqlDriver {
  readonly name: "sqlite" | "postgres";
  /** True when other processes work on the same data; otherwise whoever was before us is gone for certain. */
  readonly isShared: boolean;
  /** Reads; what changes anything is a batch. Reads that come together may share one look at the data. */
  all(sql: string, params?: readonly Scalar[]): Promise<readonly Row[]>;
  /** The same for a read that may take long: it holds up nobody else. */
  readLong(sql: string, params?: readonly Scalar[]): Promise<readonly Row[]>;
  /** One transaction. Rows are those that each statement returned. */
  batch(statements: readonly Statement[]): Promise<BatchOutcome>;
  /** Calls back with the text of every signal, of this and of other processes, until the returned function is called. */
  listen(onSignal: (text: string) => void): () => void;
  /** Holds a name as long as this process lives, so that others notice within a second when it does not. */
  holdSession(name: string): Promise<void>;
  /** True while some process holds the name; a name that nobody can hold but this process is never held by others. */
  isSessionHeld(name: string): Promise<boolean>;
  /** Waits for what was begun, though not for ever, gives the session name back, and closes. */
  close(): Promise<void>;
}

/** A database that was chosen but not opened yet: what `sqlite(path)` and `postgres(url)` return. */
export interface Backend {
  readonly name: SqlDriver["name"];
  /** Where it is, for people: the path of a file, or the address of a server without its password. */
  readonly place: string;
  /** Where the key for sealed values may be kept when none is given; absent where there is no such place. */
  readonly keyFile?: string;
  /** What its `now_us()` and the runtime go by, where somebody holds it; the machine's clock unless given. */
  readonly clock?: Clock;
  open(): Promise<SqlDriver>;
}
