// A branch that is carried out by itself, away from the run that it belongs to: it sees its variables and nothing else.
import type { Json, JsonMap } from "../../contracts/json.ts";
import { lastOf, mapOf, outputsOfSteps } from "../machine/outputs.ts";
import { ROOT } from "../machine/path.ts";
import { bodyOf, newWorking, type StepError, type Working } from "../machine/working.ts";
import { drive } from "./drive.ts";
import { type KeyOf, stepPerformer } from "./perform-step.ts";
import { clockOf, ownTypesOf, type WorkflowHost } from "./workflow-host.ts";

export type Branch = {
  readonly keyOf: KeyOf;
  readonly steps: readonly JsonMap[];
  readonly vars: JsonMap;
  readonly continueOnError: boolean;
};

export type BranchOutcome = { readonly output: Json; readonly steps: JsonMap } | { readonly error: StepError };

/** What comes of the branch: its last output and that of each step, or why it failed. */
export async function runBranch(
  { keyOf, steps, vars, continueOnError }: Branch,
  host: WorkflowHost,
): Promise<BranchOutcome> {
  const { room = 1 } = host;
  const perform = stepPerformer(host, keyOf, true);
  const working = newWorking({ steps, vars, continueOnError, room, own: ownTypesOf(host) });
  const { state } = await drive(working, { now: clockOf(host), perform, signal: host.signal });
  if (state.status === "cancelled") return { error: cancelled };
  if (state.failed !== null && !continueOnError) return { error: errorOf(working, state.failed) };
  const outputs = outputsOfSteps(working, ROOT);
  return { output: lastOf(outputs), steps: mapOf(outputs) };
}

const cancelled: StepError = { code: "cancel_requested", message: "The run was asked to stop.", data: null };

function errorOf(working: Working, path: string): StepError {
  const { status, error = {} } = bodyOf(working, path);
  const { code = "", message = "", data = null } = error;
  return { code: status === "skipped" ? "workflow_parallel_step_unhandled" : code, message, data };
}
