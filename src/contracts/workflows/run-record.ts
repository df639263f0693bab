// The record of a workflow run as it is stored and sent.
import { numeric, scalarText } from "../coerce.ts";
import * as runResult from "../conversation/run-result.ts";
import { asMap, emptyMap, isContainer, isEmpty, isMap, type Json, type JsonMap, seal, snapshotMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";

/** A list or a map; where nothing was said, empty. */
type Container = JsonMap | readonly Json[];

export type WorkflowRun = {
  readonly run_id: string;
  readonly workflow_id: string;
  readonly status: string;
  readonly inputs: Container;
  readonly output: Container;
  readonly steps: Container;
  readonly error: Container;
  /** Seconds since 1970; 0 for what has not begun or not ended. */
  readonly started_at: number;
  readonly ended_at: number;
  readonly metadata: Container;
  readonly evidence_refs: Container;
  readonly replay: Container;
  readonly artifacts: readonly JsonMap[];
  readonly logs: readonly JsonMap[];
};

/** How a run ends. One that is `suspended`, `pending` or `running` goes on. */
export const terminalStatuses: ReadonlySet<string> = new Set(["succeeded", "failed", "skipped", "cancelled"]);

const unwritten: WorkflowRun = seal({
  run_id: "",
  workflow_id: "",
  status: "pending",
  inputs: emptyMap,
  output: emptyMap,
  steps: seal([]),
  error: emptyMap,
  started_at: 0,
  ended_at: 0,
  metadata: emptyMap,
  evidence_refs: seal([]),
  replay: emptyMap,
  artifacts: seal([]),
  logs: seal([]),
});

/** A record with every field in shape. Nothing is refused: what is of the wrong kind is as if it were not there. */
export function read(value: unknown): WorkflowRun {
  return patch(unwritten, value);
}

/** The record with the fields that are given in the place of its own; one of the wrong kind changes nothing. */
export function patch(run: WorkflowRun, changes: unknown): WorkflowRun {
  const given = snapshotMap(changes);
  const text = (name: "run_id" | "workflow_id" | "status") => scalarText(given[name]) ?? run[name];
  const time = (name: "started_at" | "ended_at") => wholeSeconds(given[name]) ?? run[name];
  const container = (name: keyof WorkflowRun & keyof JsonMap) => {
    const stated = given[name];
    return isContainer(stated) ? stated : (run[name] as Container);
  };
  const maps = (name: "artifacts" | "logs") => {
    const stated = given[name];
    return isContainer(stated) ? filledMaps(stated) : run[name];
  };
  return seal({
    run_id: text("run_id"),
    workflow_id: text("workflow_id"),
    status: text("status"),
    inputs: container("inputs"),
    output: container("output"),
    steps: container("steps"),
    error: container("error"),
    started_at: time("started_at"),
    ended_at: time("ended_at"),
    metadata: container("metadata"),
    evidence_refs: container("evidence_refs"),
    replay: container("replay"),
    artifacts: maps("artifacts"),
    logs: maps("logs"),
  });
}

export function isSuspended({ status }: WorkflowRun): boolean {
  return status === "suspended";
}

/** What a suspended run waits for; empty for one that waits for nothing. */
export function suspensionOf({ metadata }: WorkflowRun): JsonMap {
  return snapshotMap(asMap(metadata)?._suspension);
}

/** The run in the envelope that every kind of run shares. */
export function envelope(run: WorkflowRun): runResult.RunResult {
  const { run_id, status, output, artifacts, evidence_refs, logs, replay, error, started_at, ended_at } = run;
  return runResult.normalize({
    run_id,
    // The envelope has no word for it, and to those who look from outside such a run goes on.
    status: isSuspended(run) ? "running" : status,
    outputs: output,
    artifact_refs: artifacts,
    evidence_refs,
    logs,
    replay,
    provenance: { workflow_id: run.workflow_id },
    timestamps: { started_at, ended_at },
    error,
    metadata: { steps: run.steps, inputs: run.inputs, ...snapshotMap(run.metadata) },
  });
}

/** The refusal of whoever asks for a run that is not there. */
export function runNotFound(runId: string): OperationError {
  return operationError("agents_workflow_run_not_found", `There is no workflow run "${runId}".`);
}

function wholeSeconds(value: Json | undefined): number | undefined {
  const number = numeric(value);
  return number === undefined ? undefined : Math.trunc(number) + 0;
}

function filledMaps(items: Container): readonly JsonMap[] {
  return seal(Object.values(items).filter((item) => isMap(item) && !isEmpty(item)) as JsonMap[]);
}
