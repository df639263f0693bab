// The `if` of a pipeline.
import { HoldfastError } from "../../contracts/error.ts";
import type { Pipeline } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { PipelineScope } from "../../contracts/gateway/pipelines/pipeline-scope.ts";
import type { Predicate } from "../../contracts/predicates/predicate.ts";
import { evaluatePredicate } from "../../contracts/predicates/predicate.ts";

export function triggerMatches(
  { name, predicate }: Pick<Pipeline, "name" | "predicate">,
  scope: PipelineScope,
): { readonly matches: boolean } | { readonly problem: string } {
  if (!predicate) return { matches: true };
  const outcome = decide(predicate, scope);
  if ("problem" in outcome) return { problem: `pipeline "${name}": ${outcome.problem}` };
  return { matches: outcome.holds };
}

/** Whether a predicate holds. Values of the wrong type are a problem and not an exception: they come from events. */
export function decide(
  predicate: Predicate,
  scope: PipelineScope,
): { readonly holds: boolean } | { readonly problem: string } {
  try {
    return { holds: evaluatePredicate(predicate, scope) };
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return { problem: thrown.detail };
    throw thrown;
  }
}
