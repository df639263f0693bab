import { HoldfastError } from "../../contracts/error.ts";
import { CommitConflict, LeaseLost } from "../../engine/retry-commit.ts";

/** True for what says nothing about a step: the lease, or the database, is away. Drivers of databases have codes of their own. */
export function isOfDatabase(thrown: unknown): boolean {
  if (thrown instanceof LeaseLost || thrown instanceof CommitConflict) return true;
  if (thrown instanceof HoldfastError) return thrown.code.startsWith("database_");
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string";
}
