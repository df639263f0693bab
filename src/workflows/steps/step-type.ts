// Types of steps that a program adds: what a step of the type takes in, what it does, and what comes out of it.
import { createBrand } from "../../contracts/brand.ts";
import { isTruthyText, trim } from "../../contracts/coerce.ts";
import { errorMessage, type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { isThenable } from "../../contracts/when-ready.ts";
import type { CheckedStepType } from "../../contracts/workflows/known-types.ts";
import { isOwnType } from "../../contracts/workflows/own-steps.ts";
import { unsafeNames } from "../../contracts/workflows/unsafe-names.ts";
import { stepTypes } from "../../contracts/workflows/validate.ts";
import {
  type Accepted,
  type ReadSchema,
  readSchema,
  type StandardSchema,
  type ToolSchema,
  type Validate,
} from "../../threads/schemas/tool-schema.ts";
import type { Reconciled } from "../../threads/tool.ts";
import type { StepFunctionContext, StepReconcileRequest, StepWork } from "./step-work.ts";

export type StepTypeDefinition<Input extends ToolSchema, Returned, Output extends ToolSchema = never> = {
  /** What steps have as their `type`, such as `acme/charge`. */
  readonly type: string;
  /** What it is called with: zod, any Standard Schema, or JSON Schema. */
  readonly input: Input;
  /** What comes out of it. An output that does not fit fails the step. */
  readonly output?: Output;
  /** Does the work. It may run more than once for one step, always with the same idempotency key. */
  readonly execute: (input: Accepted<Input>, context: StepFunctionContext) => Returned;
  /** Finds out what came of a step that a crash cut off. */
  readonly reconcile?: (about: StepReconcileRequest<Accepted<Input>>) => Reconciled | Promise<Reconciled>;
  /** True when running twice with one idempotency key is the same as running once; a step that was cut off then reruns. */
  readonly idempotent?: boolean;
};

declare const takes: unique symbol;
declare const returns: unique symbol;

/** A type of step, ready for workflows: for `stepOf`, for hosts, and for checking specs. */
export interface StepType<Takes = unknown, Returns = unknown> extends StepWork, CheckedStepType {
  readonly [takes]?: Takes;
  readonly [returns]?: Returns;
}

/** What a step of the type is written with. */
type TakenBy<Input extends ToolSchema> = Input extends StandardSchema
  ? NonNullable<Input["~standard"]["types"]>["input"]
  : UnknownMap;

/** What is returned as it is, before it becomes the output of a step. */
type ReturnedBy<Returned, Output extends ToolSchema> = [Output] extends [never] ? Awaited<Returned> : Accepted<Output>;

const types = createBrand();

/** True for what `stepType` has made. */
export function isStepType(value: unknown): value is StepType {
  return isMap(value) && types.has(value);
}

/** Defines a type of step. Throws `invalid_step_type` with the field that is wrong; a field that there is not is wrong too. */
export function stepType<const Input extends ToolSchema, Returned, const Output extends ToolSchema = never>(
  definition: StepTypeDefinition<Input, Returned, Output>,
): StepType<TakenBy<Input>, ReturnedBy<Returned, Output>> {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const { type, execute, reconcile, idempotent = false } = given;
  if (!isTruthyText(type) || trim(type) !== type) throw invalid(type, "type must be a name such as acme/charge");
  const isTaken = stepTypes.includes(type) || isOwnType(type) || unsafeNames.includes(type) || type.includes("${");
  if (isTaken) throw invalid(type, "type must be a name of its own, such as acme/charge");
  if (typeof execute !== "function") throw invalid(type, "execute must be a function");
  if (reconcile !== undefined && typeof reconcile !== "function") throw invalid(type, "reconcile must be a function");
  if (typeof idempotent !== "boolean") throw invalid(type, "idempotent must be true or false");
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw invalid(type, `${unknown} is no field of a type of step`);
  const { validate } = schemaOf(given, "input", type);
  const checkOutput = given.output === undefined ? acceptAny : schemaOf(given, "output", type).validate;
  const made = {
    type,
    execute: execute as StepWork["execute"],
    ...(reconcile && { reconcile: reconcile as StepWork["reconcile"] }),
    idempotent,
    checkInput: validate,
    checkOutput,
    inputProblems: (input: unknown) => problemsOf(validate, input),
  };
  types.mark(made);
  return Object.freeze(made);
}

const fields: readonly string[] = ["type", "input", "output", "execute", "reconcile", "idempotent"];

const acceptAny: Validate = (value) => ({ ok: true, value });

/** A schema that needs time says nothing before a run. */
function problemsOf(validate: Validate, input: unknown) {
  const checked = validate(input);
  return isThenable(checked) || checked.ok ? [] : checked.problems;
}

function schemaOf(given: UnknownMap, field: "input" | "output", type: string): ReadSchema {
  try {
    const read = readSchema(given[field]);
    if (read) return read;
  } catch (thrown) {
    throw invalid(type, `${field} cannot be read: ${errorMessage(thrown)}`, thrown);
  }
  throw invalid(type, `${field} must be a zod schema, a Standard Schema or a JSON Schema`);
}

function invalid(type: unknown, detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_step_type", typeof type === "string" ? `${detail} (${type})` : detail, cause);
}
