// A pipeline as its author wrote it: every value is of the right form, no name has been looked up yet.
import type { Claim, StepRetry, Trigger } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { Json } from "../../../contracts/json.ts";
import type { Predicate } from "../../../contracts/predicates/predicate.ts";
import type { Place } from "../../../yaml/place.ts";

export type PipelineDraft = {
  readonly name: string;
  readonly trigger: Trigger;
  readonly predicate?: Predicate;
  /** 0 is unlimited; absent: the longest chain of the pipeline. */
  readonly max_depth?: number;
  readonly execution_mode: "async" | "synchronous";
  readonly timeout_ms: number;
  readonly steps: readonly StepDraft[];
  readonly place: Place;
  readonly places: { readonly name: Place; readonly from_plugin: Place };
};

export type StepDraft = {
  readonly id?: string;
  readonly predicate?: Predicate;
  readonly action: Action;
  /** How messages name it. */
  readonly label: string;
  readonly place: Place;
  readonly places: { readonly id: Place; readonly action: Place; readonly command: Place; readonly predicate: Place };
};

export type Action = UsesAction | CallAction | GroupAction | SplitAction;

export type UsesAction = {
  readonly kind: "uses";
  readonly plugin: string;
  readonly command?: string;
  readonly with?: Readonly<Record<string, Json>>;
  readonly baggage: readonly Claim[];
  readonly timeout_ms?: number;
  readonly retry?: StepRetry;
  readonly on_error?: "bridge" | "none";
};
export type CallAction = { readonly kind: "call"; readonly pipeline: string };
/** A nested sequence. */
export type GroupAction = { readonly kind: "steps"; readonly steps: readonly StepDraft[] };
/** Branches that all start from the same event. */
export type SplitAction = { readonly kind: "split"; readonly branches: readonly StepDraft[] };

/** Every step of a sequence and of the steps within them, in the order in which they are written. */
export function* eachStep(steps: readonly StepDraft[]): Generator<StepDraft> {
  for (const step of steps) {
    yield step;
    if (step.action.kind === "steps") yield* eachStep(step.action.steps);
    if (step.action.kind === "split") yield* eachStep(step.action.branches);
  }
}
