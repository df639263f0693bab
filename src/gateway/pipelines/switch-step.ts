// The job of a step's `if`.

import { SWITCH_FALSE, SWITCH_TRUE } from "../../contracts/gateway/job.ts";
import type { Step } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { PipelineScope } from "../../contracts/gateway/pipelines/pipeline-scope.ts";
import type { EmittedEvent } from "../../contracts/gateway/protocol/event.ts";
import { decide } from "./trigger.ts";

export type SwitchOutcome =
  | { readonly kind: "decided"; readonly holds: boolean; readonly event: EmittedEvent }
  | { readonly kind: "failed"; readonly problem: string };

/** Decides which way a switch goes. The event it emits selects the edges; its payload is that of the switch's own event. */
export function runSwitch(step: Pick<Step, "id" | "predicate">, scope: PipelineScope): SwitchOutcome {
  if (!step.predicate) return { kind: "failed", problem: `step "${step.id}" has no predicate.` };
  const outcome = decide(step.predicate, scope);
  if ("problem" in outcome) return { kind: "failed", problem: `step "${step.id}": ${outcome.problem}` };
  const type = outcome.holds ? SWITCH_TRUE : SWITCH_FALSE;
  return { kind: "decided", holds: outcome.holds, event: { type, payload: scope.payload ?? {} } };
}
