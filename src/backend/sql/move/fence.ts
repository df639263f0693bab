// The fence around a database that is moved: from then on it takes no write, whoever comes with one, and nobody opens it.
// One that a mover has left behind when it died is taken down by whoever opens the database next.
import { type HoldfastError, holdfastError } from "../../../contracts/error.ts";
import type { SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED } from "../attempt-batch.ts";
import { tablesOf } from "./catalogue.ts";
import { type Arrival, type Departure, departureChange, type Kept, markersOf, sessionOf, withText } from "./markers.ts";

/** Throws `database_moved` or `database_incomplete` for a database that is not to be opened. */
export async function checkFence(driver: SqlDriver): Promise<void> {
  for (;;) {
    const { departure, arrival } = await markersOf(driver);
    if (arrival) throw incomplete(arrival);
    if (!departure) return;
    if (departure.state === "moved" || (await driver.isSessionHeld(sessionOf(departure)))) throw moved(departure);
    // Whoever was at it is gone, and cannot finish any more once its marker is not there.
    await liftFence(driver, departure);
  }
}

export function moved({ to, state }: Departure): HoldfastError {
  const verb = state === "moved" ? "was" : "is being";
  return holdfastError("database_moved", `This database ${verb} moved to ${to}.`);
}

export function incomplete({ from }: Arrival): HoldfastError {
  return holdfastError("database_incomplete", `This database was being filled from ${from}, and that has not ended.`);
}

/** False when another one is there already. Waits for what is under way: behind it, nothing is committed any more. */
export async function raiseFence(driver: SqlDriver, departure: Kept<Departure>): Promise<boolean> {
  const tables = await fencedTables(driver);
  const statements = [departureChange(undefined, departure), ...fenceStatements(driver, tables)];
  const { outcome } = await attemptBatch(driver, statements, () => stands(driver, departure));
  return outcome === "committed";
}

/** Nothing when it is not the one that stands there. */
export async function liftFence(driver: SqlDriver, departure: Kept<Departure>): Promise<void> {
  const tables = await fencedTables(driver);
  await attemptBatch(driver, [departureChange(departure, undefined), ...unfenceStatements(driver, tables)]);
}

/** From now on for good. False when somebody has taken the fence down meanwhile, and may have written. */
export async function closeForGood(driver: SqlDriver, departure: Kept<Departure>): Promise<boolean> {
  const closed = withText<Departure>({ ...departure, state: "moved" });
  const statements = [departureChange(departure, closed)];
  const { outcome } = await attemptBatch(driver, statements, () => stands(driver, closed));
  return outcome === "committed";
}

async function stands(driver: SqlDriver, { text }: Kept<Departure>) {
  const { departure } = await markersOf(driver);
  return departure?.text === text ? COMMITTED : undefined;
}

async function fencedTables(driver: SqlDriver): Promise<readonly string[]> {
  return (await tablesOf(driver)).map(({ name }) => name).filter((name) => name !== "meta");
}

const CHANGES = ["insert", "update", "delete"] as const;

/** The SQLSTATE with which PostgreSQL refuses a write behind the fence. */
export const FENCED = "HF002";

const MESSAGE = "database_moved";

function fenceStatements({ name }: SqlDriver, tables: readonly string[]): readonly Statement[] {
  if (name === "sqlite") {
    return tables.flatMap((table) =>
      CHANGES.map((change) =>
        statement(`create trigger fence_${table}_${change} before ${change} on ${table} begin
          select raise(abort, '${MESSAGE}');
        end`),
      ),
    );
  }
  return [
    statement(`create or replace function refuse_moved() returns trigger language plpgsql as $body$
      begin raise exception using errcode = '${FENCED}', message = '${MESSAGE}'; end $body$`),
    ...tables.map((table) =>
      statement(`create trigger fence before ${CHANGES.join(" or ")} or truncate on ${table}
        for each statement execute function refuse_moved()`),
    ),
  ];
}

function unfenceStatements({ name }: SqlDriver, tables: readonly string[]): readonly Statement[] {
  if (name === "postgres") return tables.map((table) => statement(`drop trigger if exists fence on ${table}`));
  return tables.flatMap((table) =>
    CHANGES.map((change) => statement(`drop trigger if exists fence_${table}_${change}`)),
  );
}

function statement(sql: string): Statement {
  return { sql, params: [] };
}
