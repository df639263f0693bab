// The idempotency key of a step.
import { sha256 } from "../../contracts/canonical-json.ts";

/**
 * The same for every attempt at this step of this attempt at the run, also after a crash; another one for every other step,
 * item and run, and for the same step once an operator has it carried out again.
 */
export function stepKey(runId: string, attempt: number, path: string): string {
  return `hf_${sha256(`${runId}\n${attempt}\n${path}`).slice(0, 40)}`;
}
