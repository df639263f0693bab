// Whether a run that failed can be carried on.
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { RunHost } from "./run-host.ts";
import { readRunState } from "./run-state.ts";
import { openRun } from "./run-view.ts";
import { outcomeUnknown } from "./step-errors.ts";

export type RetryOptions = {
  /** Carries out again also what nobody knows the outcome of: it may be done twice. */
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
): Promise<void> {
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
  if (repeatUnknown) return;
  const path = await unknownStep(host, id);
  if (path === undefined) return;
  throw holdfastError("workflow_outcome_unknown", `The outcome of the step at ${path} of the run "${id}" is unknown.`);
}

async function unknownStep(host: RunHost, id: string): Promise<string | undefined> {
  const read = await openRun(host, id);
  for (const path of read?.paths ?? []) {
    const { status, error } = read?.working.bodies.get(path) ?? {};
    if (status === "failed" && error?.code === outcomeUnknown.code) return path;
  }
  return undefined;
}
