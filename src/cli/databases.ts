// The databases that are named on a command line: a path is a SQLite file, a URL a PostgreSQL server.
import { resolve } from "node:path";
import type { HoldfastOptions } from "../holdfast.ts";
import { Refusal } from "./refusal.ts";

export type Database = HoldfastOptions["backend"];

export type NamedDatabase = { readonly flag: string; readonly schema: unknown; readonly cwd: string };

/** Throws what is missing, or what cannot be a database; never with the password that stands in a URL. */
export async function namedDatabase(given: unknown, { flag, schema, cwd }: NamedDatabase): Promise<Database> {
  if (typeof given !== "string" || given === "" || given === ":memory:") {
    throw new Refusal({ code: "usage", message: `${flag} must be the path of a file or a postgres:// URL.` });
  }
  const options = typeof schema === "string" ? { schema } : {};
  if (/^postgres(ql)?:/.test(given)) {
    const { postgres } = await import("../backend/postgres/postgres.ts");
    return postgres(given, options);
  }
  const { sqlite } = await import("../backend/sqlite/sqlite.ts");
  return sqlite(resolve(cwd, given));
}

/** The file of a SQLite database; undefined for one that is in none. */
export function fileOf({ name, place, keyFile }: Database): string | undefined {
  return name === "sqlite" && keyFile !== undefined ? place : undefined;
}
