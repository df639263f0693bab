// Goes on with a run that waited for branches, from what its record says.

import { truthy } from "../../contracts/coerce.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import { typedSpec, type WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { onFailureOf } from "../../contracts/workflows/step-options.ts";
import { topSteps } from "../../contracts/workflows/validate.ts";
import type { StepEnd } from "../machine/facts.ts";
import { below, ROOT } from "../machine/path.ts";
import { toSeconds } from "../machine/seconds.ts";
import { initialState } from "../machine/state.ts";
import { type Body, newWorking } from "../machine/working.ts";
import { carryOn, type Standing } from "./carry-on.ts";
import { orFailed } from "./host-fault.ts";
import { goesOnBehindFailures, undoableOf, withKeptBodies } from "./kept-for-resume.ts";
import { inTurn } from "./reconcile-lock.ts";
import { clockOf, ownTypesOf, recorderOf, type WorkflowHost } from "./workflow-host.ts";

/**
 * The record when the run is over or waits again. What cannot be resumed comes back as a failed run without a workflow. Of two
 * that come at once, one goes on and the other gets the run as it stands. What the recorder or the run store throws comes out here.
 */
export async function resumeWorkflow(
  runId: string,
  options: { readonly continue_on_error?: unknown },
  host: WorkflowHost,
): Promise<runRecord.WorkflowRun> {
  const recorder = await recorderOf(host);
  if (!recorder) return refusal(runId, "workflow_resume_no_recorder", "No recorder keeps runs here.", host);
  const claimed = await inTurn(runId, recorder, () => claim(runId, options, recorder, host));
  if ("answer" in claimed) return claimed.answer;
  return await orFailed(runId, host, () => carryOn(claimed.standing, host));
}

type Claimed = { readonly answer: runRecord.WorkflowRun } | { readonly standing: Standing };

/** Claims the run for this caller: it is stored as running, so that no other call resumes it. */
async function claim(
  runId: string,
  options: { readonly continue_on_error?: unknown },
  recorder: RunRecorder,
  host: WorkflowHost,
): Promise<Claimed> {
  const refused = (code: string, message: string) => ({ answer: refusal(runId, code, message, host) });
  const found = await recorder.find(runId);
  if (!found) return refused("workflow_resume_run_not_found", `There is no run "${runId}".`);
  const run = runRecord.read(found);
  if (!runRecord.isSuspended(run)) return { answer: run };
  const spec = specOf(run);
  if (!spec) return refused("workflow_resume_spec_unavailable", "The run does not hold its spec.");
  const waited = waitedIn(run);
  if (waited === undefined) {
    return refused("workflow_resume_branches_pending", "What the run waits for has not come in.");
  }
  const standing = standingOf(run, spec, waited, options, host);
  await recorder.update(standing.record);
  return { standing };
}

function refusal(run_id: string, code: string, message: string, host: WorkflowHost): runRecord.WorkflowRun {
  const at = toSeconds(clockOf(host)());
  return runRecord.read({ run_id, status: "failed", error: { code, message }, started_at: at, ended_at: at });
}

/** The spec that the run was begun with. Whatever could be begun can be gone on with: nothing is checked again. */
function specOf({ replay }: runRecord.WorkflowRun): WorkflowSpec | undefined {
  const raw = snapshotMap(snapshotMap(replay).workflow_spec_snapshot);
  const steps = topSteps(raw.steps);
  return typeof raw.id === "string" && steps.length > 0 && steps.every(isMap) ? typedSpec(raw) : undefined;
}

/** The position of the step that the run waited in; undefined while it waits there. */
function waitedIn(run: runRecord.WorkflowRun): number | undefined {
  const { step_index } = runRecord.suspensionOf(run);
  const record = typeof step_index === "number" ? Object.values(run.steps)[step_index] : undefined;
  return typeof step_index === "number" && isMap(record) && isEnd(record.status) ? step_index : undefined;
}

/** The run behind the step that it waited in. A step that failed ends it, unless its steps go on behind failures. */
function standingOf(
  run: runRecord.WorkflowRun,
  spec: WorkflowSpec,
  waited: number,
  options: { readonly continue_on_error?: unknown },
  host: WorkflowHost,
): Standing {
  const { steps } = spec;
  const continueOnError = truthy(options.continue_on_error ?? goesOnBehindFailures(run));
  const outputs = snapshotMap(snapshotMap(runRecord.suspensionOf(run).context_snapshot).steps);
  const recorded = new Map<string, Body>();
  let failed: string | null = null;
  Object.values(run.steps).forEach((record, position) => {
    const path = below(ROOT, position);
    const body = bodyOf(snapshotMap(record), outputs);
    recorded.set(path, body);
    if (body.status !== "succeeded") failed = path;
  });
  const bodies = withKeptBodies(run, recorded);
  const hasJustFailed = failed === below(ROOT, waited);
  const at = hasJustFailed && !continueOnError ? steps.length : waited + 1;
  const { _suspension, ...metadata } = snapshotMap(run.metadata);
  const { undo, ...replay } = snapshotMap(run.replay);
  return {
    record: runRecord.patch(run, { status: "running", metadata, replay }),
    steps,
    onFailure: onFailureOf(spec),
    bodies,
    undoable: undoableOf(run, newWorking({ steps, bodies, own: ownTypesOf(host) }), waited),
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

function isEnd(status: unknown): status is StepEnd {
  return status === "succeeded" || status === "failed" || status === "skipped";
}
