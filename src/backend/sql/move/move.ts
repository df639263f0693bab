// Moves everything from one database to another, so that at every moment at most one of the two can be worked on: the old
// one is fenced before anything is read, the new one is incomplete until the old one is closed for good.
import { holdfastError } from "../../../contracts/error.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { checkFingerprint } from "../key-fingerprint.ts";
import { makeMeta, migrate } from "../migrate.ts";
import { beginArrival, endArrival, noteVerified } from "./arrival.ts";
import { copiedTables, rowsIn, type Table } from "./catalogue.ts";
import type { Checksum } from "./checksum.ts";
import { checksumOf, copyTable, type TablePair } from "./copy.ts";
import { counterOf } from "./counters.ts";
import { closeForGood, liftFence, moved, raiseFence } from "./fence.ts";
import { type Arrival, type Departure, type Kept, markersOf, sessionOf, withText } from "./markers.ts";
import { overtaken } from "./overtaken.ts";
import { refuseWorkers } from "./refuse-workers.ts";

export type MoveOptions = {
  /** Where the two are, for people: it is told to whoever opens them. */
  readonly from: string;
  readonly to: string;
  /** Of the key that the new database will be opened with. */
  readonly fingerprint: string;
  readonly signal?: AbortSignal;
  onProgress?(done: number, of: number, what: string): void;
};

/** `tables` is empty when only the end of an earlier move was missing. */
export type Moved = { readonly rows: number; readonly tables: readonly Checksum[] };

/**
 * Everything of the source is in the target afterwards, and the source refuses with `database_moved` for good. When it
 * fails the source is as it was; when it is killed too, as soon as somebody opens it. The target then refuses with
 * `database_incomplete` until it is moved to again.
 */
export async function move(source: SqlDriver, target: SqlDriver, options: MoveOptions): Promise<Moved> {
  if (await finishedEarlier(source, target)) return { rows: 0, tables: [] };
  await migrate(source);
  await checkFingerprint(source, options.fingerprint);
  await refuseWorkers(source);
  const id = crypto.randomUUID();
  const arrival = withText<Arrival>({ move: id, from: options.from, state: "copying" });
  const departure = withText<Departure>({ move: id, to: options.to, state: "moving" });
  await beginArrival(target, arrival, options.fingerprint);
  if ((await markersOf(source)).arrival?.move === id) {
    await endArrival(target, arrival);
    throw holdfastError("move_target_not_empty", "It is the very database that is to be moved.");
  }
  await source.holdSession(sessionOf(departure));
  if (!(await raiseFence(source, departure))) throw overtaken("Somebody else moves the database at this moment.");
  try {
    // One that came between the first look and the fence.
    await refuseWorkers(source);
    const tables = await copyAll(source, target, arrival, options);
    const verified = await noteVerified(target, arrival, options.fingerprint);
    checkInterrupted(options.signal);
    if (!(await closeForGood(source, departure))) throw overtaken("The old database was opened meanwhile.");
    await endArrival(target, verified);
    return { rows: tables.reduce((sum, { rows }) => sum + rows, 0), tables };
  } catch (thrown) {
    // Where even that fails, whoever opens the database next does it.
    await liftFence(source, departure).catch(() => {});
    throw thrown;
  }
}

/** The very end of a move can be missing: the old one closed, the new one whole and not told so. */
async function finishedEarlier(source: SqlDriver, target: SqlDriver): Promise<boolean> {
  await makeMeta(target);
  await makeMeta(source);
  const { departure } = await markersOf(source);
  if (departure?.state !== "moved") return false;
  const { arrival } = await markersOf(target);
  if (arrival?.move !== departure.move || arrival.state !== "verified") throw moved(departure);
  await endArrival(target, arrival);
  return true;
}

async function copyAll(
  source: SqlDriver,
  target: SqlDriver,
  arrival: Kept<Arrival>,
  { signal, onProgress = () => {} }: MoveOptions,
): Promise<readonly Checksum[]> {
  const pairs = await tablePairs(source, target);
  let [all, done] = [0, 0];
  for (const pair of pairs) all += await rowsIn(source, pair.source);
  const telling = (what: string) => (rows: number) => {
    checkInterrupted(signal);
    done += rows;
    // Every row is written once and read again once.
    onProgress(done, all * 2, what);
  };
  const copied: Checksum[] = [];
  for (const pair of pairs) {
    copied.push(await copyTable({ source, target, arrival, onPage: telling(pair.source.name) }, pair));
  }
  for (const [index, pair] of pairs.entries()) {
    const found = await checksumOf(target, pair.target, telling(`${pair.target.name}, checked`));
    compare(copied[index], found);
    await compareCounters(source, target, pair);
  }
  await compareWords(target);
  return copied;
}

function checkInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw holdfastError("aborted", "The move was interrupted; the old database is as it was.");
}

async function tablePairs(source: SqlDriver, target: SqlDriver): Promise<readonly TablePair[]> {
  const [ours, theirs] = [await copiedTables(source), await copiedTables(target)];
  const shapeOf = ({ name, columns, key }: Table) => `${name} (${columns.join(", ")}; ${key.join(", ")})`;
  const names = (tables: readonly Table[]) => new Set(tables.map(shapeOf));
  const different = [...names(ours).symmetricDifference(names(theirs))];
  if (different.length > 0) {
    throw holdfastError("move_tables_differ", `Only one of the two has ${different.join(" and ")}.`);
  }
  return ours.flatMap((table) => {
    const other = theirs.find(({ name }) => name === table.name);
    return other ? [{ source: table, target: other }] : [];
  });
}

function compare(given: Checksum | undefined, found: Checksum): void {
  if (given?.rows === found.rows && given.checksum === found.checksum) return;
  const { table, rows, checksum } = found;
  throw holdfastError(
    "move_checksum_mismatch",
    `Table ${table} has ${rows} rows (${checksum.slice(0, 16)}) where ${given?.rows} (${given?.checksum.slice(0, 16)}) were written.`,
  );
}

async function compareCounters(source: SqlDriver, target: SqlDriver, pair: TablePair): Promise<void> {
  if (pair.target.counted === null) return;
  const [given, found] = [await counterOf(source, pair.source), await counterOf(target, pair.target)];
  if (given === found) return;
  throw holdfastError(
    "move_checksum_mismatch",
    `The numbers of table ${pair.target.name} are counted to ${found} and not to ${given}.`,
  );
}

async function compareWords(target: SqlDriver): Promise<void> {
  const [row] = await target.all(
    "select (select count(*) from memories) as memories, (select count(*) from memory_words) as words",
  );
  if (row?.memories === row?.words) return;
  throw holdfastError("move_checksum_mismatch", `Of ${row?.memories} memories ${row?.words} are indexed.`);
}
