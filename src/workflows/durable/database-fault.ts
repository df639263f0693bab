import { HoldfastError } from "../../contracts/error.ts";
import { CommitConflict, LeaseLost } from "../../engine/retry-commit.ts";

/** States of PostgreSQL, which never begin with the E of the system's own codes, and connections that are cut. */
const DATABASE_CODES = /^(?:[0-9FHPX][0-9A-Z]{4}|ERR_SQLITE.*|ECONN.+|EPIPE|ETIMEDOUT)$/;

/** True for what says nothing about a step: the lease, or the database, is away. Drivers of databases have codes of their own. */
export function isOfDatabase(thrown: unknown): boolean {
  if (thrown instanceof LeaseLost || thrown instanceof CommitConflict) return true;
  if (thrown instanceof HoldfastError) return thrown.code.startsWith("database_");
  return thrown instanceof Error && "code" in thrown && DATABASE_CODES.test(String(thrown.code));
}
