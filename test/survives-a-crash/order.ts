// What a child process is told to do, and what it tells while it does it.
import type { Database } from "./database.ts";

export type Order = {
  readonly database: Database;
  readonly ledger: string;
  /** The scenario it plays, and under which name; without it the process works for others. */
  readonly play?: { readonly scenario: string; readonly name: string };
  /** The point at which it meets its fate. */
  readonly at?: string;
  /** `killed` unless given. `paused`: it sleeps where it stands until it is continued. */
  readonly fate?: "killed" | "paused";
  /** Passes points without a word: there are many, and nobody looks. */
  readonly quiet?: boolean;
};

export type Told =
  | { readonly kind: "ready" | "done" }
  | { readonly kind: "point" | "killed" | "paused"; readonly name: string }
  | { readonly kind: "error"; readonly text: string };
