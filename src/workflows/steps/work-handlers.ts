// Steps whose work is code of the program: functions by their names, and types of steps of its own.
import type { Json, JsonMap } from "../../contracts/json.ts";
import { operationError } from "../../contracts/operation-error.ts";
import { isIdempotent } from "../../contracts/workflows/step-options.ts";
import { type StepFunctions, workOfFunction } from "./step-functions.ts";
import type { StepCarrier, StepHandlers } from "./step-handlers.ts";
import type { StepType } from "./step-type.ts";
import { doWork, type StepWork } from "./step-work.ts";

/** Without `functions`, steps of the type `function` are not known at all. Of two types of one name the later counts. */
export function workHandlers(functions: StepFunctions | undefined, types: readonly StepType[] = []): StepHandlers {
  const handlers = new Map(types.map((type) => [type.type, carrierOf(() => type, {})]));
  if (functions)
    handlers.set(
      "function",
      carrierOf((step) => workOfFunction(functions, step.function), null),
    );
  return handlers;
}

function carrierOf(workOf: (step: JsonMap) => StepWork | undefined, unlessGiven: Json): StepCarrier {
  return {
    carry(step, _, { signal = new AbortController().signal, idempotencyKey, attempt }) {
      const work = workOf(step);
      if (!work) return functionMissing(step);
      const { input = unlessGiven } = step;
      return doWork(work, input, { signal, idempotencyKey, attempt });
    },
    isIdempotent: (step) => isIdempotent(step, workOf(step)?.idempotent),
  };
}

function functionMissing({ function: name = null }: JsonMap) {
  return operationError("workflow_function_missing", `There is no function "${String(name)}" here.`);
}
