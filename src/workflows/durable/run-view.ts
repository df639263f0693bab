// The record of a run as the contract has it, assembled from its rows when it is read.
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import { emptyMap, type JsonMap } from "../../contracts/json.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import { specHash } from "../../contracts/workflows/spec-hash.ts";
import { onFailureOf } from "../../contracts/workflows/step-options.ts";
import { below, ROOT } from "../machine/path.ts";
import { afterFailure, outputOfRun, stepRecords } from "../machine/run-view.ts";
import { type Body, bodyOf, newWorking, type Working } from "../machine/working.ts";
import { ownTypes } from "./own-types.ts";
import { type OpenedBody, openRunBody } from "./run-body.ts";
import type { RunHost } from "./run-host.ts";
import { bodyOfRow, pathOf, restoreOutputs } from "./stored-bodies.ts";

/** Everything that is stored of a run, opened. */
export type ReadRun = {
  readonly stored: StoredWorkflowRun;
  readonly body: OpenedBody;
  readonly working: Working;
  /** Of what is stored. */
  readonly paths: readonly string[];
};

export async function openRun(
  host: Pick<RunHost, "threads" | "stepHandlers">,
  id: string,
): Promise<ReadRun | undefined> {
  const { workflows } = host.threads.stores;
  const stored = await workflows.get(id);
  if (!stored) return undefined;
  const { sealing } = host.threads;
  const [rows, undoable] = await Promise.all([workflows.steps(id), workflows.undoable(id)]);
  const body = openRunBody(sealing, id, stored.body);
  const bodies = new Map<string, Body>(rows.map((row) => [pathOf(row), bodyOfRow(sealing, id, row)]));
  const { typed, inputs, continue_on_error: continueOnError } = body;
  const working = newWorking({
    ...{ steps: typed.steps, inputs, continueOnError, onFailure: onFailureOf(typed), own: ownTypes(host.stepHandlers) },
    ...{ bodies, undoable: undoable.map(pathOf) },
  });
  restoreOutputs(working, bodies.keys());
  return { stored, body, working, paths: [...bodies.keys()] };
}

/** The whole record, for who may see it as it is; undefined for a run that there is not. */
export async function readRun(
  host: Pick<RunHost, "threads" | "stepHandlers">,
  id: string,
): Promise<runRecord.WorkflowRun | undefined> {
  const read = await openRun(host, id);
  return read && recordOf(read);
}

function recordOf({ stored, body, working }: ReadRun): runRecord.WorkflowRun {
  const { run_id, workflow_id, status, reason, created_at, started_at, ended_at, rerun_of } = stored;
  const { typed, inputs, notes } = body;
  // A run that was broken off has no output: it is not known what its steps would have come to.
  const isBrokenOff = bodyOf(working, ROOT).status === "cut_off";
  const isOver = runRecord.terminalStatuses.has(status) && !isBrokenOff;
  return runRecord.read({
    ...notes,
    ...{ run_id, workflow_id, status, inputs, steps: stepRecords(working, working.steps.length) },
    error: errorOf(stored, working),
    // A run that never began, because of its inputs, has no output at all.
    output: isOver && status !== "cancelled" && hasRun(working) ? outputOfRun(working) : emptyMap,
    started_at: seconds(started_at ?? created_at),
    ended_at: seconds(ended_at ?? 0),
    metadata: {
      ...notes.metadata,
      ...(!isBrokenOff && afterFailure(working)),
      ...(reason !== null && { _suspension: suspensionOf(working, reason) }),
      ...(rerun_of !== null && { _rerun_of: { run_id: rerun_of, step_index: body.starts_at ?? 0 } }),
    },
    replay: {
      run_record_schema_version: 1,
      workflow_spec_version: typed.version,
      workflow_spec_hash: specHash(typed.raw),
      workflow_spec_snapshot: typed.raw,
    },
  });
}

function errorOf({ status }: StoredWorkflowRun, working: Working): JsonMap {
  if (status === "cancelled") return { code: "cancel_requested", message: "The run was asked to stop." };
  if (status !== "failed") return emptyMap;
  return bodyOf(working, ROOT).error ?? lastFailure(working)?.error ?? emptyMap;
}

/** A run whose steps go on behind failures has the error of the last of them. */
function lastFailure(working: Working): Body | undefined {
  for (let at = working.steps.length - 1; at >= 0; at--) {
    const body = bodyOf(working, below(ROOT, at));
    if (body.status === "failed" || body.status === "skipped") return body;
  }
  return undefined;
}

function hasRun(working: Working): boolean {
  return working.bodies.has(below(ROOT, working.startsAt));
}

/** What the run waits for, in the shape of the contract as far as that has one. */
function suspensionOf(working: Working, reason: string): JsonMap {
  const step_index = working.steps.findIndex((_, at) => {
    const path = below(ROOT, at);
    return working.bodies.has(path) && bodyOf(working, path).status === undefined;
  });
  const step_id = working.steps[step_index]?.id ?? "";
  return { reason, step_index: Math.max(0, step_index), step_id, executor_id: "", completed: {} };
}

function seconds(microseconds: number): number {
  return Math.floor(microseconds / 1_000_000);
}
