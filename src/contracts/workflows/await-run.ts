// Waiting for a workflow run: what can be worked off is, and whoever asks learns whether to come back.
import { createHash } from "node:crypto";
import { identifier, nonEmptyString, stringList } from "../coerce.ts";
import type { RunResult } from "../conversation/run-result.ts";
import { type JsonMap, snapshotMap } from "../json.ts";
import type { OperationError } from "../operation-error.ts";
import { envelope, isSuspended, runNotFound, terminalStatuses, type WorkflowRun } from "./run-record.ts";

/** What was worked off while somebody waited. */
export type DrainReport = {
  readonly batches: number;
  readonly actions_processed: number;
  readonly completions: number;
  readonly failures: number;
  readonly remaining_pending: number;
  readonly total_pending: number;
  readonly warnings: number;
  readonly stop_reason: string;
  readonly terminal_state: string;
  /** Names of jobs with commas between them. */
  readonly hooks: string;
  readonly group: string;
  readonly available: boolean;
};

export type AwaitedRun = {
  readonly schema: "agents-api/workflow-run-await/v1";
  readonly run_id: string;
  readonly status: string;
  readonly terminal: boolean;
  /** True while waiting again may bring more. */
  readonly reconnectable: boolean;
  readonly result: RunResult | null;
  readonly drain: DrainReport;
};

/** Which jobs are worked off; `options` are the caller's, for limits of a host's own. */
export type DrainScope = { readonly hooks: readonly string[]; readonly group: string; readonly options: JsonMap };

export type AwaitHost = {
  readonly find: (runId: string) => WorkflowRun | undefined | Promise<WorkflowRun | undefined>;
  /** Works off queued jobs; without it there is no queue. */
  readonly drain?: ((scope: DrainScope) => DrainReport | Promise<DrainReport>) | undefined;
};

/** The jobs that a suspended run can be waiting for. */
const branchJobs: readonly string[] = ["wp_agent_workflow_branch_run", "wp_agent_workflow_run_resume"];

/** The group in which the jobs of a run are queued. */
export function queueGroup(runId: string): string {
  return `agents-api-run-${createHash("md5").update(runId).digest("hex")}`;
}

/** How a run stands, after working off what a suspended one waits for; refuses a run that nobody knows. */
export async function awaitRun(
  runId: unknown,
  options: unknown,
  { find, drain }: AwaitHost,
): Promise<AwaitedRun | OperationError> {
  const id = identifier(runId) ?? "";
  const found = await find(id);
  if (found === undefined) return runNotFound(id);
  const given = snapshotMap(options);
  const group = identifier(given.group) ?? queueGroup(id);
  const untouched = { ...nothingDone, hooks: namesIn(given.hooks).join(","), group };
  if (!isSuspended(found)) {
    return answer(found, { ...untouched, stop_reason: "terminal_status", terminal_state: found.status });
  }
  const hooks = usually(stringList(namesIn(given.hooks)));
  if (drain === undefined) {
    return answer(found, { ...untouched, hooks: hooks.join(","), stop_reason: "as_unavailable" });
  }
  const report = await drain({ hooks, group, options: given });
  return answer((await find(id)) ?? found, report);
}

const nothingDone = {
  batches: 0,
  actions_processed: 0,
  completions: 0,
  failures: 0,
  remaining_pending: 0,
  total_pending: 0,
  warnings: 0,
  terminal_state: "",
  available: false,
};

function answer(run: WorkflowRun, drain: DrainReport): AwaitedRun {
  const { run_id, status } = run;
  const terminal = terminalStatuses.has(status);
  return {
    schema: "agents-api/workflow-run-await/v1",
    run_id,
    status,
    terminal,
    reconnectable: !terminal,
    result: terminal ? envelope(run) : null,
    drain,
  };
}

function namesIn(value: unknown): readonly string[] {
  return usually((Array.isArray(value) ? value : []).filter((name) => nonEmptyString(name) !== undefined));
}

function usually(names: readonly string[]): readonly string[] {
  return names.length > 0 ? names : branchJobs;
}
