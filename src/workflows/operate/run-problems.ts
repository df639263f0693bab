// What an operator has to look at in a run: steps whose undo failed, and steps of which it is not known what they did.
import type { StoredCall } from "../../backend/thread-rows.ts";
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import type { Finding, StepCause } from "../../threads/diagnose.ts";
import { timeText } from "../../threads/explaining-words.ts";
import type { RunHost } from "../durable/run-host.ts";
import { openRun, type ReadRun } from "../durable/run-view.ts";
import { below, ROLLBACK } from "../machine/path.ts";
import { undoneBy } from "../machine/working.ts";
import { show } from "./explain-run.ts";
import { stepName, stepsInWords } from "./step-name.ts";

/** At least one finding for a run with a problem; none for a run that is gone. */
export async function problemsOf(host: RunHost, { run_id: id }: StoredWorkflowRun): Promise<readonly Finding[]> {
  const { threads } = host.threads.stores;
  const [read, loaded] = await Promise.all([openRun(host, id), threads.load(id)]);
  if (!read || !loaded) return [];
  const calls = await threads.calls(id, { run: Math.max(1, loaded.thread.run) });
  const unknown = calls.filter(({ phase }) => phase === "unknown");
  const found = [...unknown.map((call) => ofUnknown(id, read, call)), ...ofRollback(id, read)];
  return found.length > 0 ? found : [finding(id, "run_problem", `Run ${id} has a problem: look at its steps.`)];
}

function ofUnknown(id: string, { working }: ReadRun, { tool_call_id: path, begun_at }: StoredCall): Finding {
  const step = `the step "${stepName(working, path)}" of run ${id}`;
  const sentence = `What ${step} did is unknown, which was begun at ${timeText(begun_at)}: look it up before the run is retried.`;
  return finding(id, "step_outcome_unknown", sentence);
}

function ofRollback(id: string, { working, stored }: ReadRun): readonly Finding[] {
  const { bodies, undoable } = working;
  const undone = [...undoable].map((_, position) => below(ROLLBACK, position));
  const failed = undone.filter((path) => bodies.has(path) && bodies.get(path)?.status !== "succeeded");
  if (failed.length > 0 && stored.ended_at !== null) {
    const names = failed.map((path) => stepName(working, undoneBy(working, path)));
    const sentence = `The rollback of run ${id} failed: what ${stepsInWords(names)} did was not undone.`;
    return [finding(id, "rollback_failed", sentence)];
  }
  // A run that cannot be carried on, or was ended for good, undoes nothing.
  const left = undone.filter((path) => !bodies.has(path));
  if (left.length === 0 || stored.ended_at === null || !isBroken(working.bodies)) return [];
  const names = left.map((path) => stepName(working, undoneBy(working, path)));
  const sentence = `Run ${id} ended before it could be rolled back: what ${stepsInWords(names)} did was not undone.`;
  return [finding(id, "rollback_failed", sentence)];
}

/** The row of a run that was broken off says so. */
function isBroken(bodies: ReadRun["working"]["bodies"]): boolean {
  return bodies.get("")?.status === "cut_off";
}

function finding(id: string, cause: StepCause | "run_problem", sentence: string): Finding {
  return { thread_id: null, run_id: id, cause, sentence, command: show(id) };
}
