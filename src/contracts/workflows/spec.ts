// A workflow spec as the rest of the program reads it, beside the raw one, which is exported as it came.
import { scalarText } from "../coerce.ts";
import { HoldfastError } from "../error.ts";
import { emptyMap, isContainer, type Json, type JsonMap, seal, snapshot, snapshotMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import { type SpecError, specError } from "./spec-error.ts";
import { type KnownTypes, topSteps, validate } from "./validate.ts";

export type WorkflowSpec = {
  readonly id: string;
  readonly version: string;
  /** Name to `{ type?, required? }`. */
  readonly inputs: JsonMap;
  readonly steps: readonly JsonMap[];
  readonly triggers: readonly JsonMap[];
  readonly meta: Json;
  readonly raw: JsonMap;
};

/** The typed view of a spec; `workflow_spec_invalid` with everything that is wrong when there is none. */
export function normalize(given: unknown, known: KnownTypes = {}): WorkflowSpec | OperationError {
  const raw = readJson(given);
  if (raw === undefined) return invalid([specError("", "not_json", "The spec cannot be kept: it is no plain JSON.")]);
  const errors = validate(raw, known);
  return errors.length > 0 ? invalid(errors) : typedSpec(raw);
}

/** The typed view of a raw spec in which nothing is wrong. */
export function typedSpec(raw: JsonMap): WorkflowSpec {
  return seal({
    id: raw.id as string,
    version: scalarText(raw.version) ?? "0.0.0",
    inputs: snapshotMap(raw.inputs),
    steps: seal(topSteps(raw.steps) as readonly JsonMap[]),
    triggers: seal(Object.values(raw.triggers ?? {}) as readonly JsonMap[]),
    meta: isContainer(raw.meta) ? raw.meta : emptyMap,
    raw,
  });
}

/** The spec as it can be kept; undefined for a cycle, or for what is nested deeper than anything that is stored. */
export function readJson(given: unknown): JsonMap | undefined {
  try {
    return snapshotMap(given);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return undefined;
    throw thrown;
  }
}

function invalid(errors: readonly SpecError[]): OperationError {
  const [{ path, code, message } = specError("", "", "")] = errors;
  const place = path === "" ? "" : ` at ${path}`;
  return operationError(
    "workflow_spec_invalid",
    `The workflow spec is invalid${place}: ${message}`,
    snapshot({ errors, path, code }) as JsonMap,
  );
}
