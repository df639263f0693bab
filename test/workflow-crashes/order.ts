// What a process of the matrix of workflows is to do.
import type { Fate } from "../../src/testing/crash-points.ts";
import type { Database } from "../survives-a-crash/database.ts";

export type Variant = "finishes" | "fails";

export type WorkflowOrder = Fate & {
  readonly database: Database;
  readonly variant: Variant;
  /** How many items the foreach goes through. */
  readonly items: number;
  /** Where the effects of all processes of a case are appended, a line each. */
  readonly effects: string;
  /** Where the record of the run is left once it has ended. */
  readonly record: string;
};
