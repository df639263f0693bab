// Whether a run that failed can be carried on.
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { RunHost } from "./run-host.ts";
import { readRunState } from "./run-state.ts";
import { openRun } from "./run-view.ts";
import { outcomeUnknown, timedOut } from "./step-errors.ts";

export type RetryOptions = {
  /** Carries out again also steps of which it is not known what they did: they may be done twice. */
  readonly repeatUnknown?: boolean;
};

/**
 * Throws `workflow_run_not_failed`, `workflow_run_rolled_back`, `workflow_run_has_parent`, and `workflow_outcome_unknown` where a
 * step would be carried out again of which it is not known what it did.
 */
export async function checkRetry(
  host: RunHost,
  { run_id: id, status, parent_id }: StoredWorkflowRun,
  { repeatUnknown = false }: RetryOptions,
): Promise<{ readonly key: string }> {
  if (status !== "failed") {
    throw holdfastError("workflow_run_not_failed", `The workflow run "${id}" is ${status}.`);
  }
  if (parent_id !== null) {
    throw holdfastError("workflow_run_has_parent", `The workflow run "${id}" was started by "${parent_id}".`);
  }
  const state = readRunState(await host.threads.stores.threads.state(id));
  if (state.machine.isRolledBack) {
    throw holdfastError("workflow_run_rolled_back", `The workflow run "${id}" was rolled back.`);
  }
  // Of several wishes to carry on what has failed here one counts.
  const key = `after ${state.machine.seq}`;
  const path = repeatUnknown ? undefined : await unknownStep(host, id);
  if (path === undefined) return { key };
  throw holdfastError("workflow_outcome_unknown", `The outcome of the step at ${path} of the run "${id}" is unknown.`);
}

async function unknownStep(host: RunHost, id: string): Promise<string | undefined> {
  const read = await openRun(host, id);
  for (const path of read?.paths ?? []) {
    const { status, error } = read?.working.bodies.get(path) ?? {};
    if (status !== "succeeded" && isUnknown(error)) return path;
  }
  return undefined;
}

/** What ran out of its time may still be at work, unless it says that a second run does no harm. */
function isUnknown(error: JsonMap | undefined): boolean {
  return error?.code === outcomeUnknown.code || (error?.code === timedOut.code && error?.retryable === false);
}
