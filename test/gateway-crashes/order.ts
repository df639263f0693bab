// What a process of the gateway's matrix is to do.
import type { Fate } from "../../src/testing/crash-points.ts";
import type { Database } from "../survives-a-crash/database.ts";

export type GatewayOrder = Fate & {
  /** Of the case: what it does outside is recorded under it. */
  readonly name: string;
  readonly scenario: string;
  readonly database: Database;
  /** The folder of all workspaces. */
  readonly workspaces: string;
  /** The address of the effect ledger. */
  readonly ledger: string;
  /** The address of the page that tools fetch. */
  readonly page: string;
};
