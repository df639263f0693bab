// Runs a workflow in memory, from its start to its end or to where it waits for something outside. Nothing is stored but
// what a recorder is told.

import { scalarText, truthy } from "../../contracts/coerce.ts";
import { emptyMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import { missingInput } from "../../contracts/workflows/missing-input.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import type { WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { specHash } from "../../contracts/workflows/spec-hash.ts";
import { onFailureOf } from "../../contracts/workflows/step-options.ts";
import { toSeconds } from "../machine/seconds.ts";
import { initialState } from "../machine/state.ts";
import type { BuiltWorkflow, InputsOf } from "../steps/built-workflow.ts";
import { carryOn } from "./carry-on.ts";
import { ofHost, orFailed } from "./host-fault.ts";
import { startOf } from "./start.ts";
import { clockOf, recorderOf, type WorkflowHost } from "./workflow-host.ts";

/** What is told with a run, and whether its steps go on behind one that failed. */
export type RunOptions = {
  readonly run_id?: unknown;
  readonly continue_on_error?: unknown;
  readonly metadata?: unknown;
  readonly evidence_refs?: unknown;
  readonly artifacts?: unknown;
  readonly logs?: unknown;
};

/**
 * The record of the run when it is over, or when it waits. The inputs of a workflow that was built are checked with its schema.
 * Nothing that a step, an operation, a hook or an executor does makes this throw. What the recorder or the run store throws is a
 * fault of the host: the run ends as failed in run control, and the caller gets that error.
 */
export async function runWorkflow<Workflow extends WorkflowSpec | BuiltWorkflow>(
  workflow: Workflow,
  inputs: InputsOf<Workflow>,
  options: RunOptions = {},
  given: WorkflowHost = {},
): Promise<runRecord.WorkflowRun> {
  const { spec, wrong, ...start } = await startOf(workflow, snapshotMap(inputs), given);
  const { host } = start;
  const now = () => toSeconds(clockOf(host)());
  const begun = firstRecord(spec, start.inputs, options, host, now());
  const recorder = await recorderOf(host);
  const kept = await recorder?.start(begun);
  if (isOperationError(kept)) {
    const error = { code: "recorder_start_failed", message: kept.message };
    return runRecord.patch(begun, { status: "failed", error, ended_at: now() });
  }
  const record = kept ? runRecord.patch(begun, { run_id: kept }) : begun;
  const { run_id, workflow_id, metadata } = record;
  return await orFailed(run_id, host, async () => {
    await ofHost(() => host.runs?.start({ run_id, workflow_id, metadata }));
    const error = missingInput(spec, snapshotMap(record.inputs)) ?? wrong;
    if (error !== undefined) {
      const failed = runRecord.patch(record, { status: "failed", error, ended_at: now() });
      await ofHost(() => recorder?.update(failed));
      await ofHost(() => host.runs?.finish(run_id, "failed"));
      return failed;
    }
    const continueOnError = truthy(options.continue_on_error);
    const { steps } = spec;
    const onFailure = onFailureOf(spec);
    return await carryOn({ record, steps, onFailure, bodies: new Map(), state: initialState, continueOnError }, host);
  });
}

function firstRecord(
  spec: WorkflowSpec,
  inputs: JsonMap,
  options: RunOptions,
  host: WorkflowHost,
  started_at: number,
): runRecord.WorkflowRun {
  const given = scalarText(options.run_id) || undefined;
  return runRecord.read({
    ...snapshotMap(options),
    run_id: given ?? (host.newRunId ?? (() => `workflow_run_${crypto.randomUUID()}`))(),
    workflow_id: spec.id,
    status: "running",
    inputs,
    output: emptyMap,
    steps: [],
    error: emptyMap,
    started_at,
    ended_at: 0,
    replay: {
      run_record_schema_version: 1,
      workflow_spec_version: spec.version,
      workflow_spec_hash: specHash(spec.raw),
      workflow_spec_snapshot: spec.raw,
    },
  });
}
