// Steps of the type `function`: code of the program that stands beside the spec, called by the name that the spec has for it.
import type { Json, JsonMap } from "../../contracts/json.ts";
import { operationError } from "../../contracts/operation-error.ts";
import type { OperationCall } from "./operations.ts";

export type StepFunctionContext = {
  /** Fires when the result is not needed any more, because the step ran out of time or the run is stopped. */
  readonly signal: AbortSignal;
  /** The same for every attempt at this step of this run; another one for every other step, item and run. */
  readonly idempotencyKey: string;
};

/** What it returns is the output of the step, and has to be JSON. */
export type StepFunction = (input: Json, context: StepFunctionContext) => unknown;

/** By name; own properties only. */
export type StepFunctions = Readonly<Record<string, StepFunction>>;

export function functionHandler(functions: StepFunctions) {
  return ({ function: name = null, input = null }: JsonMap, _: unknown, call: OperationCall): unknown => {
    const { signal = new AbortController().signal, idempotencyKey } = call;
    const work = typeof name === "string" && Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (work) return work(input, { signal, idempotencyKey });
    return operationError("workflow_function_missing", `There is no function "${String(name)}" here.`);
  };
}
