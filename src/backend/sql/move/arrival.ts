// The database that is filled: empty, then marked as incomplete for as long as that lasts, and whole at the end.
import { holdfastError } from "../../../contracts/error.ts";
import type { SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED } from "../attempt-batch.ts";
import { checkFingerprint, keepFingerprint } from "../key-fingerprint.ts";
import { bringUpToDate, makeMeta } from "../migrate.ts";
import { copiedTables, type Table } from "./catalogue.ts";
import { setCounter } from "./counters.ts";
import { moved } from "./fence.ts";
import { type Arrival, arrivalChange, type Kept, markersOf, sessionOf, whileArriving, withText } from "./markers.ts";
import { overtaken } from "./overtaken.ts";
import { refuseWorkers } from "./refuse-workers.ts";

/**
 * Takes the database for a move. One that another move has left half filled is emptied; anything else that is not empty is
 * refused with `move_target_not_empty`, and left as it is.
 */
export async function beginArrival(driver: SqlDriver, arrival: Kept<Arrival>, fingerprint: string): Promise<void> {
  await makeMeta(driver);
  const found = await markersOf(driver);
  if (found.departure) throw moved(found.departure);
  // Before anything is changed: a database that was named by mistake stays what it is.
  if (!found.arrival) await refuseRows(driver, await copiedTables(driver));
  await bringUpToDate(driver);
  if (found.arrival && (await driver.isSessionHeld(sessionOf(found.arrival)))) {
    throw holdfastError("database_in_use", `Somebody else moves ${found.arrival.from} there at this moment.`);
  }
  await checkFingerprint(driver, fingerprint);
  const tables = await copiedTables(driver);
  await refuseWorkers(driver);
  await driver.holdSession(sessionOf(arrival));
  await write(driver, [arrivalChange(found.arrival, arrival)], arrival.text);
  try {
    await refuseWorkers(driver);
    // Nobody opens it any more; but somebody may have, in between.
    if (!found.arrival) await refuseRows(driver, tables);
  } catch (thrown) {
    await attemptBatch(driver, [arrivalChange(arrival, undefined)]);
    throw thrown;
  }
  if (found.arrival) await write(driver, [whileArriving(arrival), ...emptying(driver, tables)]);
}

/** The key that what was copied is sealed with is the database's own from now on. */
export async function noteVerified(
  driver: SqlDriver,
  arrival: Kept<Arrival>,
  fingerprint: string,
): Promise<Kept<Arrival>> {
  const verified = withText<Arrival>({ ...arrival, state: "verified" });
  await write(driver, [arrivalChange(arrival, verified), keepFingerprint(fingerprint)], verified.text);
  return verified;
}

/** From now on it can be opened. */
export async function endArrival(driver: SqlDriver, arrival: Kept<Arrival>): Promise<void> {
  await write(driver, [arrivalChange(arrival, undefined)], undefined);
}

/** `expected`: the marker that tells, when the answer got lost, that it was written. */
async function write(
  driver: SqlDriver,
  statements: readonly Statement[],
  ...expected: readonly (string | undefined)[]
) {
  const written = async () => {
    if (expected.length === 0) return undefined;
    return (await markersOf(driver)).arrival?.text === expected[0] ? COMMITTED : undefined;
  };
  const { outcome } = await attemptBatch(driver, statements, written);
  if (outcome !== "committed") throw overtaken("Somebody else has begun to fill the database.");
}

async function refuseRows(driver: SqlDriver, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    const found = await driver.all(`select 1 as found from ${name} limit 1`);
    if (found.length > 0) throw holdfastError("move_target_not_empty", `There are rows in its table ${name}.`);
  }
}

function emptying({ name: database }: SqlDriver, tables: readonly Table[]): readonly Statement[] {
  return [
    { sql: "delete from memory_words", params: [] },
    ...tables.flatMap((table) => [{ sql: `delete from ${table.name}`, params: [] }, ...setCounter(database, table, 0)]),
  ];
}
