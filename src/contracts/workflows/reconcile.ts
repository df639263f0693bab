// What a branch that ran elsewhere came to, entered in the record of the run that waits for it. The first result of a
// branch counts. Nothing runs here: an aggregator, and the steps that follow, are left to the driver of the run.
import { scalarText, truthy } from "../coerce.ts";
import { asMap, isMap, type Json, type JsonMap, seal, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import { type Aggregation, aggregate } from "./aggregate.ts";
import { isSuspended, patch, suspensionOf, type WorkflowRun } from "./run-record.ts";

/** What to do with a result; every `run` is to be stored before anything else happens. */
export type Reconciliation =
  | { readonly kind: "refused"; readonly error: OperationError }
  /** The run does not wait for it, or not any more. */
  | { readonly kind: "unchanged" }
  /** Other branches are still out. */
  | { readonly kind: "waiting"; readonly run: WorkflowRun }
  /** All are in; the step ends with what this comes to. */
  | { readonly kind: "aggregate"; readonly run: WorkflowRun; readonly aggregation: Aggregation }
  /** All are in, and one failed that was required: the step ends with the error. */
  | { readonly kind: "branch_failed"; readonly run: WorkflowRun; readonly error: OperationError };

/** Enters the result of the branch with that handle. */
export function reconcile(run: WorkflowRun, handleId: string, branchResult: unknown): Reconciliation {
  const suspension = suspensionOf(run);
  const completed = snapshotMap(suspension.completed);
  if (!isSuspended(run) || Object.hasOwn(completed, handleId)) return { kind: "unchanged" };

  const handles = mapsIn(suspension.handles);
  const handle = handles.find(({ id }) => id === handleId);
  if (handle === undefined) return refused("unknown_handle", `The run waits for no branch "${handleId}".`);
  const key = scalarText(handle.key) ?? "";
  const result = snapshotMap(branchResult);
  if ((scalarText(result.key) ?? key) !== key) return refused("key_mismatch", `The branch has the key "${key}".`);
  const { status } = result;
  if (status !== "succeeded" && status !== "failed") {
    return refused("invalid_status", "A branch has succeeded or failed.");
  }

  const { output = null, steps = seal([]), error = null, item = null } = result;
  const entered = { ...completed, [handleId]: { key, status, output, steps, error, item } };
  const updated = handles.map((other) => (other === handle ? { ...handle, status } : other));
  const changed = changeSuspension(run, { handles: updated, completed: entered });
  return settle(changed, updated, snapshotMap(entered));
}

/** The step that waited, ended with its output or its error; what follows sees the output. `now` is in seconds. */
export function endStep(
  run: WorkflowRun,
  outcome: { readonly output: Json } | { readonly error: OperationError },
  now: number,
): WorkflowRun {
  const { step_index, step_id, context_snapshot } = suspensionOf(run);
  const steps = Object.values(run.steps).map((step, index) =>
    index === step_index && isMap(step) ? endRecord(step, outcome, now) : step,
  );
  const ended = patch(run, { steps });
  const id = scalarText(step_id);
  if ("error" in outcome || id === undefined) return ended;
  const context = snapshotMap(context_snapshot);
  const known = { ...snapshotMap(context.steps), [id]: { output: outcome.output } };
  return changeSuspension(ended, { context_snapshot: { ...context, steps: known } });
}

function settle(run: WorkflowRun, handles: readonly JsonMap[], completed: JsonMap): Reconciliation {
  const isOut = ({ id }: JsonMap) => asMap(completed[scalarText(id) ?? ""]) === undefined;
  if (handles.some(isOut)) return { kind: "waiting", run };
  const error = requiredBranchError(handles, ({ id }) => asMap(completed[scalarText(id) ?? ""]));
  if (error !== undefined) return { kind: "branch_failed", run, error };
  // In the order in which they came in.
  const byKey = new Map(mapsIn(Object.values(completed)).map((result) => [scalarText(result.key) ?? "", result]));
  return { kind: "aggregate", run, aggregation: aggregate(snapshotMap(suspensionOf(run).aggregate), byKey) };
}

type Required = { readonly key?: unknown; readonly required?: unknown };

/** Why the step of these branches fails: one of them was required, and has failed. */
export function requiredBranchError<Handle extends Required>(
  handles: readonly Handle[],
  resultOf: (handle: Handle) => UnknownMap | undefined,
): OperationError | undefined {
  const failed = handles.find((handle) => truthy(handle.required) && resultOf(handle)?.status === "failed");
  if (failed === undefined) return undefined;
  const message = `The required branch "${scalarText(failed.key) ?? ""}" failed.`;
  return operationError("workflow_parallel_required_branch_failed", message);
}

function endRecord(
  { suspend: _, ...step }: JsonMap,
  outcome: { readonly output: Json } | { readonly error: OperationError },
  now: number,
): JsonMap {
  return "error" in outcome
    ? { ...step, status: "failed", output: null, error: snapshot(outcome.error), ended_at: now }
    : { ...step, status: "succeeded", output: outcome.output, ended_at: now };
}

function changeSuspension(run: WorkflowRun, changes: object): WorkflowRun {
  const _suspension = { ...suspensionOf(run), ...changes };
  return patch(run, { metadata: { ...snapshotMap(run.metadata), _suspension } });
}

function mapsIn(value: unknown): readonly JsonMap[] {
  return (Array.isArray(value) ? value : []).filter(isMap).map(snapshotMap);
}

const codes = {
  unknown_handle: "agents_reconcile_workflow_branch_unknown_handle",
  key_mismatch: "agents_reconcile_workflow_branch_key_mismatch",
  invalid_status: "agents_reconcile_workflow_branch_invalid_status",
} as const;

function refused(why: keyof typeof codes, message: string): Reconciliation {
  return { kind: "refused", error: operationError(codes[why], message) };
}
