// What the machine asks of its driver, and what comes back from the driver.
import type { Json, JsonMap } from "../../contracts/json.ts";
import type { BindingContext } from "../../contracts/workflows/bindings.ts";
import type { Fact } from "./facts.ts";
import type { State } from "./state.ts";
import type { StepError } from "./working.ts";

/** Something to begin, after that it begins was recorded. */
export type Order = {
  readonly path: string;
  readonly attempt: number;
  readonly kind:
    | "run_step"
    /** A host decides how the parallel step is carried out. */
    | "fan_out";
  readonly step: JsonMap;
  /** All that the step can refer to; made when it is asked for. */
  readonly context: () => BindingContext;
};

export type Next =
  /** `begin`: what starts now. `running`: how much is under way in all. Nothing else happens until one of them arrives. */
  | { readonly kind: "effects"; readonly begin: readonly Order[] }
  /** Nothing is under way: it goes on at a time, or when something arrives. */
  | { readonly kind: "park"; readonly until: number | null }
  /** Nothing is under way, and something could begin but is held back: it does once `holdsBack` is false. */
  | { readonly kind: "yield" }
  | { readonly kind: "end" };

/** One step of the machine: what happened in it, and what is to be done now. */
export type Step = {
  readonly state: State;
  readonly facts: readonly Fact[];
  /** All paths of which something else is known than before. A path without a body was removed: nothing is known of it now. */
  readonly changed: ReadonlySet<string>;
  readonly next: Next;
};

/** What came of a step. */
export type Outcome =
  | { readonly as: "succeeded"; readonly output: Json }
  | { readonly as: "failed" | "skipped"; readonly error: StepError }
  /**
   * It waits for something outside: `suspend` says for what, and stands in what the step returned. `until`: when it fails for
   * having waited too long, in milliseconds since 1970.
   */
  | {
      readonly as: "suspended";
      readonly suspend: JsonMap;
      readonly returned: Json;
      readonly until?: number | undefined;
    }
  /** The parts of the step are steps of this run. */
  | { readonly as: "in_parts" };

/** `attempt`: of which attempt at the step the outcome is; of the one that is under way unless given. */
export type Arrived =
  | { readonly path: string; readonly attempt?: number; readonly outcome: Outcome }
  | { readonly request: "cancel" };
