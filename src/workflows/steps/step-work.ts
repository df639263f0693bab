// Work that the program itself does for a step: what a driver has to know of it, and how it is done once.
import { isMap, snapshot } from "../../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../../contracts/operation-error.ts";
import type { Validate, Validated } from "../../threads/schemas/tool-schema.ts";

export type StepFunctionContext = {
  /** Fires when the result is not needed any more, because the step ran out of time or the run is stopped. */
  readonly signal: AbortSignal;
  /** The same for every attempt at this step of this run; another one for every other step, item and run. */
  readonly idempotencyKey: string;
  /** Counted from 1. */
  readonly attempt: number;
};

/** What `reconcile` is asked about. */
export type StepReconcileRequest<Input = unknown> = {
  readonly idempotencyKey: string;
  readonly input: Input;
  readonly signal: AbortSignal;
};

export type StepWork = {
  /** Called with what `checkInput` has accepted. */
  readonly execute: (input: unknown, context: StepFunctionContext) => unknown;
  /** Finds out what came of it; its answer is read with `readReconciled`. */
  readonly reconcile?: ((about: StepReconcileRequest) => unknown) | undefined;
  /** True when doing it twice with one idempotency key is the same as doing it once. */
  readonly idempotent: boolean;
  readonly checkInput: Validate;
  /** Its value is the output. */
  readonly checkOutput: Validate;
};

/** Does the work. What does not fit is a refusal; what the work throws is thrown. */
export async function doWork(work: StepWork, given: unknown, context: StepFunctionContext): Promise<unknown> {
  const input = await work.checkInput(given);
  if (!input.ok) return misfit("invalid_step_input", "The input does not fit the schema of the step.", input);
  const returned = await work.execute(input.value, context);
  if (isNoOutput(returned)) return returned;
  const output = await work.checkOutput(returned);
  if (output.ok) return output.value;
  return misfit("invalid_step_output", "The output does not fit the schema of the step.", output);
}

/** What ends the step in another way, or lets it wait. */
function isNoOutput(returned: unknown): boolean {
  return returned instanceof Error || isOperationError(returned) || (isMap(returned) && isMap(returned._suspend));
}

function misfit(code: string, message: string, { problems }: Extract<Validated, { ok: false }>): OperationError {
  return operationError(code, message, { problems: snapshot(problems) });
}
