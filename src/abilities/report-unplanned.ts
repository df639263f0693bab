// What goes wrong in an operation without anybody having planned for it, for whoever runs all this. What was refused with one
// of our codes was planned for, unless the database is behind it: nobody is told at a door what a database says.
import { errorMessage, HoldfastError } from "../contracts/error.ts";

export function reportUnplanned(report: (error: unknown) => void, name: string, thrown: unknown): void {
  if (thrown instanceof HoldfastError && !thrown.code.startsWith("database_")) return;
  report(new Error(`The ability "${name}" failed: ${errorMessage(thrown)}`, { cause: thrown }));
}
