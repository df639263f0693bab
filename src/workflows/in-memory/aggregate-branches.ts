// What a parallel step comes to whose branches were carried out elsewhere. An aggregator among them runs here.
import { truthy } from "../../contracts/coerce.ts";
import { type Json, type JsonMap, seal } from "../../contracts/json.ts";
import { type Aggregation, addFinal } from "../../contracts/workflows/aggregate.ts";
import type { Outcome } from "../machine/next.ts";
import { errorOfThrown } from "../steps/errors-of-steps.ts";
import type { KeyOf } from "./perform-step.ts";
import { runBranch } from "./run-branch.ts";
import type { WorkflowHost } from "./workflow-host.ts";

/** It never throws. */
export async function aggregateBranches(aggregation: Aggregation, keyOf: KeyOf, host: WorkflowHost): Promise<Outcome> {
  if (aggregation.kind === "output") return { as: "succeeded", output: aggregation.output };
  const { role, spec, vars, branch_outputs } = aggregation;
  const steps = Array.isArray(spec.steps) ? (spec.steps as readonly JsonMap[]) : [];
  const branch = { keyOf, steps, vars, continueOnError: truthy(spec.continue_on_error) };
  const outcome = await runBranch(branch, host).catch((thrown: unknown) => ({ error: errorOfThrown(thrown) }));
  if ("error" in outcome && truthy(spec.required)) return { as: "failed", error: outcome.error };
  const final = "error" in outcome ? shown(outcome.error) : outcome.output;
  return { as: "succeeded", output: addFinal(role, branch_outputs, final) };
}

function shown({ code = "", message = "" }: JsonMap): Json {
  return seal({ error: seal({ code, message }) });
}
