import { apply, draftOf } from "./apply.ts";
import type { Step } from "./next.ts";
import { ROOT } from "./path.ts";
import type { State } from "./state.ts";
import type { StepError, Working } from "./working.ts";

/**
 * Ends a run that cannot be carried on, or not even begin: it has failed with this error, whatever is open. Nothing is undone,
 * and nothing runs for its failure. What has ended stays as it is.
 */
export function breakOff(state: State, working: Working, error: StepError): Step {
  const next = { kind: "end" } as const;
  if (state.status !== "running") return { state, facts: [], changed: new Set(), next };
  const draft = draftOf(state);
  const fact = { type: "run.broken" } as const;
  apply(draft, fact);
  working.bodies.set(ROOT, { error });
  return { state: draft, facts: [fact], changed: new Set([ROOT]), next };
}
