// The two ends of a run: it is done, or it is escalated to people.
import { type Escalation, runCompleted, runEscalated } from "../../contracts/gateway/agentic-event.ts";
import { type RunFacts, withOutcome, withReason } from "../../contracts/gateway/agentic-run.ts";
import { type LogSubject, logLine, type RunChange } from "./answer.ts";
import type { Turn } from "./turn-ports.ts";
import type { RunWorkspace } from "./workspace.ts";

const LONGEST_OUTCOME = 32_768;

export async function completeRun(
  turn: Turn,
  workspace: RunWorkspace,
  subject: LogSubject & { readonly run_id: string },
  run: RunFacts,
  end: { readonly outcome: string; readonly artifacts: readonly string[]; readonly steps_taken: number },
): Promise<RunChange> {
  const { run_id } = subject;
  const { steps_taken } = end;
  const outcome = end.outcome.slice(0, LONGEST_OUTCOME).toWellFormed();
  const artifacts: string[] = [];
  for (const path of new Set(end.artifacts)) if (await workspace.hasArtifact(path)) artifacts.push(path);
  return {
    id: run_id,
    run: withOutcome(run, outcome, turn.now),
    event: runCompleted(run_id, { goal: run.goal, outcome, steps_taken, artifacts }),
    result: `run ${run_id} completed after ${steps_taken} ${steps_taken === 1 ? "step" : "steps"}`,
    logs: [logLine("info", subject, `completed after ${steps_taken} ${steps_taken === 1 ? "step" : "steps"}`)],
  };
}

export function escalateRun(
  turn: Turn,
  subject: LogSubject & { readonly run_id: string },
  run: RunFacts,
  escalation: Escalation,
): RunChange {
  const { run_id } = subject;
  const { reason, ...about } = escalation;
  return {
    id: run_id,
    run: withReason(run, reason, turn.now),
    event: runEscalated(run_id, escalation),
    result: `run ${run_id} escalated: ${reason}`,
    logs: [logLine("error", subject, `escalated: ${reason} ${JSON.stringify(about).slice(0, 1_000).toWellFormed()}`)],
  };
}
