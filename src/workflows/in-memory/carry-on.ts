// A run in memory from where it stands: the machine is driven, the recorder and the run store are told, and what comes of it
// is the record.

import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import { contextOf } from "../machine/context.ts";
import { below, ROOT } from "../machine/path.ts";
import { afterFailure, outputOfRun, stepRecords } from "../machine/run-view.ts";
import { toSeconds } from "../machine/seconds.ts";
import type { State } from "../machine/state.ts";
import { type Body, bodyOf, newWorking, type Working } from "../machine/working.ts";
import { drive, endedSteps } from "./drive.ts";
import { asksFanOut, performer } from "./perform.ts";
import { clockOf, recorderOf, type WorkflowHost } from "./workflow-host.ts";

/** Unless the host carries them out itself. */
const ownTypes = ["sleep", "branch"];

export type Standing = {
  readonly record: runRecord.WorkflowRun;
  readonly steps: readonly JsonMap[];
  readonly onFailure: readonly JsonMap[];
  readonly bodies: Map<string, Body>;
  readonly state: State;
  readonly continueOnError: boolean;
};

export async function carryOn(standing: Standing, host: WorkflowHost): Promise<runRecord.WorkflowRun> {
  const { record, steps, onFailure, bodies, continueOnError } = standing;
  const { run_id } = record;
  const now = clockOf(host);
  const recorder = await recorderOf(host);
  const { room = 1 } = host;
  const inputs = snapshotMap(record.inputs);
  const own = new Set(ownTypes.filter((type) => host.stepHandlers?.[type] === undefined));
  const parts = { steps, onFailure, continueOnError, bodies };
  const working = newWorking({ ...parts, inputs, room, own, asksFanOut: asksFanOut(host) });
  const { state, next } = await drive(
    working,
    {
      now,
      perform: performer(host, run_id),
      signal: host.signal,
      isCancelled: async () => (await host.runs?.cancelRequested(run_id)) === true,
      async stepped(step) {
        // What ended while the run was cancelled is told with the run's own end.
        if (step.state.isCancelling || step.state.ending === "cancelled") return;
        for (const position of endedSteps(step)) {
          await recorder?.update(runRecord.patch(record, { steps: stepRecords(working, position + 1) }));
        }
      },
    },
    standing.state,
  );
  const done = next.kind === "end" ? ended(record, working, state, now()) : suspended(record, working, state);
  await recorder?.update(done);
  if (next.kind === "end") await tellEnd(done, host);
  return done;
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

function suspended(record: runRecord.WorkflowRun, working: Working, state: State): runRecord.WorkflowRun {
  const root = state.scopes[ROOT];
  const step_index = root?.kind === "sequence" ? root.at : 0;
  const path = below(ROOT, step_index);
  const { executor, ...suspend } = bodyOf(working, path).suspend ?? {};
  const suspension = {
    step_index,
    step_id: working.steps[step_index]?.id ?? "",
    executor_id: executor ?? "",
    ...suspend,
    context_snapshot: contextOf(working, path),
    completed: {},
  };
  const metadata = { ...snapshotMap(record.metadata), _suspension: suspension };
  return runRecord.patch(record, { status: "suspended", steps: stepRecords(working, step_index + 1), metadata });
}

async function tellEnd(done: runRecord.WorkflowRun, host: WorkflowHost): Promise<void> {
  const { run_id, status } = done;
  await host.runs?.finish(run_id, status);
  if (status !== "cancelled") host.hooks?.emit("workflowRunCompleted", done, run_id);
}
