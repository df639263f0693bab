// Takes what a branch came to that was carried out elsewhere, and goes on with the run once all branches are in.

import { identifier, truthy } from "../../contracts/coerce.ts";
import type { Json } from "../../contracts/json.ts";
import { type OperationError, operationError } from "../../contracts/operation-error.ts";
import { endStep, reconcile } from "../../contracts/workflows/reconcile.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import type { Outcome } from "../machine/next.ts";
import { toSeconds } from "../machine/seconds.ts";
import { aggregateBranches } from "./aggregate-branches.ts";
import { type KeyOf, keysOf } from "./perform-step.ts";
import { withReconcileLock } from "./reconcile-lock.ts";
import { resumeWorkflow } from "./resume-workflow.ts";
import { clockOf, recorderOf, type WorkflowHost } from "./workflow-host.ts";

export type BranchReport = {
  readonly run_id?: unknown;
  readonly handle_id?: unknown;
  /** `{ key?, status, output?, steps?, error?, item? }` */
  readonly branch_result?: unknown;
};

/**
 * The run after the result was taken. Of two results for one branch the first counts. What the recorder throws comes out here.
 */
export async function reconcileBranch(
  { run_id, handle_id, branch_result }: BranchReport,
  host: WorkflowHost,
): Promise<runRecord.WorkflowRun | OperationError> {
  const runId = identifier(run_id);
  const handleId = identifier(handle_id);
  const recorder = await recorderOf(host);
  if (runId === undefined || handleId === undefined)
    return refusal("invalid_input", "It needs a run_id and a handle_id.");
  if (!recorder) return refusal("no_recorder", "No recorder keeps runs here.");
  const entered = await withReconcileLock(runId, recorder, host.hooks, () =>
    enter(runId, handleId, branch_result, recorder, host),
  );
  if (!entered) return lockUnavailable;
  // Behind the lock: what the run does now may bring results of its own.
  return "ended" in entered ? await goOn(entered.ended, host) : entered.answer;
}

/** What is answered; or the run whose step has ended with this result. */
type Entered = { readonly answer: runRecord.WorkflowRun | OperationError } | { readonly ended: runRecord.WorkflowRun };

async function enter(
  runId: string,
  handleId: string,
  result: unknown,
  recorder: RunRecorder,
  host: WorkflowHost,
): Promise<Entered> {
  const found = await recorder.find(runId);
  if (!found) return { answer: refusal("not_found", `There is no workflow run "${runId}".`) };
  const stored = runRecord.read(found);
  const entered = reconcile(stored, handleId, result);
  if (entered.kind === "refused") return { answer: entered.error };
  if (entered.kind === "unchanged") return { answer: stored };
  const { run } = entered;
  await recorder.update(run);
  if (entered.kind === "waiting") return { answer: run };
  const outcome =
    entered.kind === "branch_failed"
      ? { error: entered.error }
      : outputOrError(await aggregateBranches(entered.aggregation, keysIn(run), host));
  const ended = endStep(run, outcome, toSeconds(clockOf(host)()));
  await recorder.update(ended);
  return { ended };
}

async function goOn(ended: runRecord.WorkflowRun, host: WorkflowHost): Promise<runRecord.WorkflowRun> {
  const { run_id } = ended;
  const executor = String(runRecord.suspensionOf(ended).executor_id ?? "");
  const goesOnElsewhere = await host.hooks?.apply("workflowResumeDispatch", false, run_id, executor, ended);
  return truthy(goesOnElsewhere) ? ended : await resumeWorkflow(run_id, {}, host);
}

/** Keys for the aggregator of the step that the run waits in. */
function keysIn(run: runRecord.WorkflowRun): KeyOf {
  return keysOf(run.run_id, String(runRecord.suspensionOf(run).step_index));
}

const codes = {
  invalid_input: "agents_reconcile_workflow_branch_invalid_input",
  no_recorder: "agents_reconcile_workflow_branch_no_recorder",
  not_found: "agents_reconcile_workflow_branch_not_found",
} as const;

const lockUnavailable = operationError("agents_reconcile_lock_unavailable", "The run is locked; try again.", {
  retryable: true,
});

function outputOrError(outcome: Outcome): { readonly output: Json } | { readonly error: OperationError } {
  if (outcome.as === "succeeded") return { output: outcome.output };
  const { code = "", message = "" } = outcome.as === "failed" ? outcome.error : {};
  return { error: operationError(String(code), String(message)) };
}

function refusal(why: keyof typeof codes, message: string): OperationError {
  return operationError(codes[why], message);
}
