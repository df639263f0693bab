// The port that carries out the branches of parallel steps outside of the run.
import { isMap, type Json, type JsonMap } from "../json.ts";
import type { OperationError } from "../operation-error.ts";

/** A branch as it is handed to an executor. */
export type BranchDescriptor = {
  readonly key: string;
  readonly steps: Json;
  readonly branch_vars: JsonMap;
  readonly continue_on_error: boolean;
  readonly run_id: string;
  readonly step_id: string;
  readonly role?: string;
  readonly required?: boolean;
  readonly index?: number;
  readonly item?: Json;
};

export type DispatchContext = {
  readonly _workflow_run_id: string;
  readonly _workflow_step_id: string;
  readonly shared_context: Json;
};

export type BranchHandle = {
  readonly id: string;
  readonly key: string;
  readonly executor: string;
  readonly status: string;
  readonly required: boolean;
  readonly ref?: Json;
};

/** Carries branches out somewhere else. */
export interface BranchExecutor {
  readonly id: string;
  dispatch(
    branches: readonly BranchDescriptor[],
    context: DispatchContext,
  ): Promise<readonly BranchHandle[] | OperationError> | readonly BranchHandle[] | OperationError;
  areAllComplete(handles: readonly BranchHandle[]): boolean | Promise<boolean>;
  /** What the branches came to, by their keys and in the order in which they ended. */
  collect(handles: readonly BranchHandle[]): ReadonlyMap<string, JsonMap> | Promise<ReadonlyMap<string, JsonMap>>;
}

/** True for what has the three functions of one. */
export function isBranchExecutor(value: unknown): value is BranchExecutor {
  if (!isMap(value)) return false;
  const { dispatch, areAllComplete, collect } = value;
  return [dispatch, areAllComplete, collect].every((each) => typeof each === "function");
}
