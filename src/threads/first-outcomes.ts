// What the doors need to do a write once: where first outcomes are kept, and the key that they are sealed and told apart with.
import type { OutcomeStore } from "../backend/outcome-store.ts";
import type { Sealing } from "./secrets/sealing.ts";

export type FirstOutcomes = {
  readonly store: OutcomeStore;
  readonly sealing: Pick<Sealing, "seal" | "open" | "bind">;
  /** How long one is kept for those who repeat the write. */
  readonly keepMs: number;
  /** Tells whoever watches over errors. Never throws. */
  readonly report: (error: unknown) => void;
};
