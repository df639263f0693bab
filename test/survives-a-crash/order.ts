// What a child process is told to do.
import type { Fate } from "../../src/testing/crash-points.ts";
import type { Database } from "./database.ts";

export type Order = Fate & {
  readonly database: Database;
  readonly ledger: string;
  /** The scenario it plays, and under which name; without it the process works for others. */
  readonly play?: { readonly scenario: string; readonly name: string };
};
