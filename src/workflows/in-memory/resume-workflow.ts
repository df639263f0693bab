// Goes on with a run that waited for branches, from what its record says.

import { truthy } from "../../contracts/coerce.ts";
import { isMap, type Json, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { checkWorkflow } from "../../contracts/workflows/check-workflow.ts";
import { knownTypes } from "../../contracts/workflows/known-types.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import { typedSpec, type WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { onFailureOf } from "../../contracts/workflows/step-options.ts";
import type { StepEnd } from "../machine/facts.ts";
import { below, ROOT } from "../machine/path.ts";
import { toSeconds } from "../machine/seconds.ts";
import { initialState } from "../machine/state.ts";
import type { Body } from "../machine/working.ts";
import { carryOn, type Standing } from "./carry-on.ts";
import { clockOf, recorderOf, type WorkflowHost } from "./workflow-host.ts";

/** The record when the run is over or waits again. What cannot be resumed comes back as a failed run without a workflow. */
export async function resumeWorkflow(
  runId: string,
  options: { readonly continue_on_error?: unknown },
  host: WorkflowHost,
): Promise<runRecord.WorkflowRun> {
  const recorder = await recorderOf(host);
  if (!recorder) return refusal(runId, "workflow_resume_no_recorder", "No recorder keeps runs here.", host);
  const found = await recorder.find(runId);
  if (!found) return refusal(runId, "workflow_resume_run_not_found", `There is no run "${runId}".`, host);
  const run = runRecord.read(found);
  if (!runRecord.isSuspended(run)) return run;
  const spec = await specOf(run, host);
  if (!spec) return refusal(runId, "workflow_resume_spec_unavailable", "The run does not hold its spec.", host);
  return await carryOn(standingOf(run, spec, truthy(options.continue_on_error)), host);
}

function refusal(run_id: string, code: string, message: string, host: WorkflowHost): runRecord.WorkflowRun {
  const at = toSeconds(clockOf(host)());
  return runRecord.read({ run_id, status: "failed", error: { code, message }, started_at: at, ended_at: at });
}

async function specOf(
  { replay }: runRecord.WorkflowRun,
  { hooks, stepHandlers = {} }: WorkflowHost,
): Promise<WorkflowSpec | undefined> {
  const known = await knownTypes({ hooks, knownStepTypes: Object.keys(stepHandlers) });
  const raw = snapshotMap(snapshotMap(replay).workflow_spec_snapshot);
  const { errors } = checkWorkflow(raw, { stepTypes: known.knownStepTypes, triggerTypes: known.knownTriggerTypes });
  return errors.length > 0 ? undefined : typedSpec(raw);
}

/** The run behind the step that it waited in. A step that failed ends it, unless its steps go on behind failures. */
function standingOf(run: runRecord.WorkflowRun, spec: WorkflowSpec, continueOnError: boolean): Standing {
  const { steps } = spec;
  const { step_index, context_snapshot } = runRecord.suspensionOf(run);
  const waited = typeof step_index === "number" ? step_index : 0;
  const outputs = snapshotMap(snapshotMap(context_snapshot).steps);
  const bodies = new Map<string, Body>();
  let failed: string | null = null;
  Object.values(run.steps).forEach((record, position) => {
    const path = below(ROOT, position);
    const body = bodyOf(snapshotMap(record), outputs);
    bodies.set(path, body);
    if (body.status !== "succeeded") failed = path;
  });
  const hasJustFailed = failed === below(ROOT, waited);
  const at = hasJustFailed && !continueOnError ? steps.length : waited + 1;
  const { _suspension, ...metadata } = snapshotMap(run.metadata);
  return {
    record: { ...run, status: "running", metadata },
    steps,
    onFailure: onFailureOf(spec),
    bodies,
    state: { ...initialState, seq: 1, scopes: { [ROOT]: { kind: "sequence", at } }, failed },
    continueOnError,
  };
}

function bodyOf(record: JsonMap, outputs: JsonMap): Body {
  const { id, status, output = null, error, started_at, ended_at, handler, resolved_step } = record;
  const known = snapshotMap(typeof id === "string" ? outputs[id] : undefined).output;
  return {
    status: isEnd(status) ? status : "failed",
    output: known ?? output,
    ...(isMap(error) && { error }),
    ...(typeof started_at === "number" && { started_at: started_at * 1_000 }),
    ...(typeof ended_at === "number" && { ended_at: ended_at * 1_000 }),
    ...(typeof handler === "string" && { handler }),
    ...(isMap(resolved_step) && { resolved: resolved_step }),
  };
}

function isEnd(status: Json | undefined): status is StepEnd {
  return status === "succeeded" || status === "failed" || status === "skipped";
}
