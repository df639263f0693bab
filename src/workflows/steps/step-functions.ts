// Steps of the type `function`: code of the program that stands beside the spec, called by the name that the spec has for it.
import type { Json } from "../../contracts/json.ts";
import type { Reconciled } from "../../threads/tool.ts";
import type { StepFunctionContext, StepReconcileRequest, StepWork } from "./step-work.ts";

/** What it returns is the output of the step, and has to be JSON. */
export type StepFunction = (input: Json, context: StepFunctionContext) => unknown;

/** A function that can be asked what came of it, or be run again. */
export type StepFunctionDefinition<Run = StepFunction, Input = Json> = {
  readonly run: Run;
  /** Finds out what came of a step that a crash cut off. */
  readonly reconcile?: (about: StepReconcileRequest<Input>) => Reconciled | Promise<Reconciled>;
  /** True when running twice with one idempotency key is the same as running once; a step that was cut off then reruns. */
  readonly idempotent?: boolean;
};

/** By name; own properties only. */
export type StepFunctions = Readonly<Record<string, StepFunction | StepFunctionDefinition>>;

/** The work of the function of a name; undefined where the program has none. */
export function workOfFunction(functions: StepFunctions, name: unknown): StepWork | undefined {
  const given = typeof name === "string" && Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (given === undefined) return undefined;
  const definition: StepFunctionDefinition = typeof given === "function" ? { run: given } : given;
  const { reconcile, idempotent = false } = definition;
  return {
    execute: (input, context) => definition.run(input as Json, context),
    ...(reconcile && { reconcile: reconcile as StepWork["reconcile"] }),
    idempotent,
    checkInput: acceptAny,
    checkOutput: acceptAny,
  };
}

const acceptAny: StepWork["checkInput"] = (value) => ({ ok: true, value });
