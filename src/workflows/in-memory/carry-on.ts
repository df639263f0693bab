// A run in memory from where it stands: the machine is driven, the recorder and the run store are told, and what comes of it
// is the record.

import { errorMessage } from "../../contracts/error.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import { contextOf } from "../machine/context.ts";
import { below, ROOT } from "../machine/path.ts";
import { afterFailure, outputOfRun, stepRecords } from "../machine/run-view.ts";
import { toSeconds } from "../machine/seconds.ts";
import type { State } from "../machine/state.ts";
import { type Body, bodyOf, newWorking, type Working } from "../machine/working.ts";
import { drive } from "./drive.ts";
import { HostFault, ofHost } from "./host-fault.ts";
import { keptForResume } from "./kept-for-resume.ts";
import { asksFanOut, performer } from "./perform.ts";
import { teller } from "./tell-steps.ts";
import { clockOf, ownTypesOf, recorderOf, type WorkflowHost } from "./workflow-host.ts";

export type Standing = {
  readonly record: runRecord.WorkflowRun;
  readonly steps: readonly JsonMap[];
  readonly onFailure: readonly JsonMap[];
  readonly bodies: Map<string, Body>;
  /** The steps before that can be undone, in the order in which they ended. */
  readonly undoable?: string[];
  readonly state: State;
  readonly continueOnError: boolean;
};

/** The record of the run when it is over, or when it waits. It throws nothing but a `HostFault`. */
export async function carryOn(standing: Standing, host: WorkflowHost): Promise<runRecord.WorkflowRun> {
  const recorder = await recorderOf(host);
  const done = await endOrWait(standing, recorder, host);
  await ofHost(() => recorder?.update(done));
  if (!runRecord.isSuspended(done)) await tellEnd(done, host);
  return done;
}

async function endOrWait(
  { record, state: start, bodies, ...parts }: Standing,
  recorder: RunRecorder | undefined,
  host: WorkflowHost,
): Promise<runRecord.WorkflowRun> {
  const { room = 1, runs, signal } = host;
  const { run_id } = record;
  const inputs = snapshotMap(record.inputs);
  const working = newWorking({ ...parts, bodies, inputs, room, own: ownTypesOf(host), asksFanOut: asksFanOut(host) });
  const now = clockOf(host);
  const perform = performer(host, run_id);
  const isCancelled = runs && (async () => (await ofHost(() => runs.cancelRequested(run_id))) === true);
  const stepped = recorder && teller(record, working, recorder);
  try {
    const { state, next } = await drive(working, { now, perform, isCancelled, stepped, signal }, start);
    if (next.kind === "end") return ended(record, working, state, now());
    return suspended(record, working, state, keptForResume(working, bodies));
  } catch (thrown) {
    if (thrown instanceof HostFault) throw thrown;
    return broken(record, working, thrown, now());
  }
}

function ended(record: runRecord.WorkflowRun, working: Working, state: State, now: number): runRecord.WorkflowRun {
  const steps = stepRecords(working, working.steps.length);
  const ended_at = toSeconds(now);
  const metadata = { ...snapshotMap(record.metadata), ...afterFailure(working) };
  const { status } = state;
  if (status === "cancelled") {
    const error = { code: "cancel_requested", message: "The run was asked to stop." };
    return runRecord.patch(record, { status, steps, error, metadata, ended_at });
  }
  const error = state.failed === null ? {} : (bodyOf(working, state.failed).error ?? {});
  return runRecord.patch(record, { status, steps, error, output: outputOfRun(working), metadata, ended_at });
}

function suspended(
  record: runRecord.WorkflowRun,
  working: Working,
  state: State,
  kept: JsonMap,
): runRecord.WorkflowRun {
  const root = state.scopes[ROOT];
  const step_index = root?.kind === "sequence" ? root.at : 0;
  const path = below(ROOT, step_index);
  const { executor, ...suspend } = bodyOf(working, path).suspend ?? {};
  const suspension = {
    executor_id: executor ?? "",
    ...suspend,
    // A handler may say what it likes about its wait, but not where the run stands.
    step_index,
    step_id: working.steps[step_index]?.id ?? "",
    context_snapshot: contextOf(working, path),
    completed: {},
  };
  const metadata = { ...snapshotMap(record.metadata), _suspension: suspension };
  const replay = { ...snapshotMap(record.replay), ...kept };
  return runRecord.patch(record, {
    status: "suspended",
    steps: stepRecords(working, step_index + 1),
    metadata,
    replay,
  });
}

/** A run that the machine cannot go on with, because of what stands in its steps or what these have returned. */
function broken(record: runRecord.WorkflowRun, working: Working, thrown: unknown, now: number): runRecord.WorkflowRun {
  const error = { code: "workflow_run_broken", message: errorMessage(thrown) };
  const failed = runRecord.patch(record, { status: "failed", error, ended_at: toSeconds(now) });
  try {
    return runRecord.patch(failed, { steps: stepRecords(working, working.steps.length) });
  } catch {
    // What broke the run may stand in the record of a step.
    return failed;
  }
}

async function tellEnd(done: runRecord.WorkflowRun, host: WorkflowHost): Promise<void> {
  const { run_id, status } = done;
  await ofHost(() => host.runs?.finish(run_id, status));
  if (status !== "cancelled") host.hooks?.emit("workflowRunCompleted", done, run_id);
}
