// What an error of the database means for us: worth another attempt, our user's to settle, or plainly an error.
import { DatabaseError } from "pg";
import { errorMessage, type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { FENCED } from "../sql/move/fence.ts";

/** The SQLSTATE with which `expect_rows` undoes a batch. */
export const REFUSED = "HF001";

/**
 * True where others were in the way and the same batch may well succeed now: serialization failures, deadlocks, tables
 * that were changed, and things that two processes create "if not exists" at the same time.
 */
export function isConflict(error: DatabaseError): boolean {
  if (error.code === "23505") return error.schema === "pg_catalog";
  return CONFLICTS.has(error.code ?? "") || isStale(error);
}

/** Serialization failure, deadlock; a table, another object or a schema that exists already. */
const CONFLICTS: ReadonlySet<string> = new Set(["40001", "40P01", "42P07", "42710", "42P06"]);

/** True where a statement that was prepared is not what it was: its tables have changed, or the server has dropped it. */
export function isStale(error: DatabaseError): boolean {
  return error.routine === "RevalidateCachedQuery" || error.code === "26000";
}

/** True where the server says with it that it ends the connection, or the whole of itself. */
export function endsConnection(error: DatabaseError): boolean {
  return error.severity === "FATAL" || error.severity === "PANIC";
}

/** A failed statement, in our words where there is something to be done about it. */
export function statementFailure(error: DatabaseError): Error {
  if (error.code === FENCED) return holdfastError("database_moved", "This database was moved to another place.", error);
  if (error.code === "53100") return holdfastError("database_full", error.message, error);
  if (error.code === "25006") return holdfastError("database_read_only", error.message, error);
  return error;
}

/**
 * Why there is no connection, when waiting will not help; undefined when it may. A host that is not known is a mistake
 * in the URL, but only at first: names also fail to resolve while a network is down.
 */
export function connectFailure(error: unknown, isFirst: boolean): HoldfastError | undefined {
  const code = errorCode(error);
  if (code === "ENOTFOUND" && isFirst) {
    return holdfastError("database_url_invalid", `The host is not known: ${errorMessage(error)}`, error);
  }
  return isRefusal(error, code) ? holdfastError("database_refused", errorMessage(error), error) : undefined;
}

export function unavailable(error: unknown, patienceMilliseconds: number): HoldfastError {
  const seconds = Math.round(patienceMilliseconds / 1_000);
  const reason = errorMessage(error) || errorCode(error);
  return holdfastError("database_unavailable", `No connection for ${seconds} seconds: ${reason}`, error);
}

/**
 * A server that answers means it, unless it is starting up or shutting down (57P), out of connections or memory (53) or
 * was cut off (08). Without an answer only what concerns passwords and certificates will not pass.
 */
function isRefusal(error: unknown, code: string): boolean {
  if (error instanceof DatabaseError) return !/^(57P|53|08)/.test(code);
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return true;
  return /SASL|password|does not support SSL/.test(errorMessage(error));
}

function errorCode(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}
