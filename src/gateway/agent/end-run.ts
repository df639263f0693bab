// The two ends of a run: it is done, or it is escalated to people.
import { errorMessage } from "../../contracts/error.ts";
import { type Escalation, runCompleted, runEscalated } from "../../contracts/gateway/agent/agentic-event.ts";
import { type RunFacts, type RunningRun, withOutcome, withReason } from "../../contracts/gateway/agent/agentic-run.ts";
import type { LogEntry } from "../../contracts/gateway/protocol/response.ts";
import { type LogSubject, logLine, type RunChange, traceLine } from "./answer.ts";
import type { Turn } from "./turn-ports.ts";
import type { RunWorkspace } from "./workspace/workspace.ts";

const LONGEST_OUTCOME = 32_768;
const LONGEST_DETAIL = 8_192;
/** How many paths are looked up. */
const MOST_ARTIFACTS = 1_000;

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
  for (const path of [...new Set(end.artifacts)].slice(0, MOST_ARTIFACTS)) {
    if (await workspace.hasArtifact(path)) artifacts.push(path);
  }
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
  const stored = clipped(escalation);
  const { reason, ...about } = stored;
  return {
    id: run_id,
    run: withReason(run, reason, turn.now),
    event: runEscalated(run_id, stored),
    result: `run ${run_id} escalated: ${reason}`,
    logs: [logLine("error", subject, `escalated: ${reason} ${JSON.stringify(about).slice(0, 1_000).toWellFormed()}`)],
  };
}

/**
 * Traces the end of a run that no result has led to. A workspace that is unknown or cannot be written must not keep a run
 * from ending.
 */
export async function traceEnd(
  turn: Turn,
  { id }: RunChange,
  run: RunningRun,
  summary: string,
): Promise<readonly LogEntry[]> {
  const { attempt, pending_step: step, pending_tool: tool } = run;
  const about = { run_id: id, step, attempt, phase: "reflect", kind: "escalated", summary } as const;
  try {
    await turn.ports.workspaces.of(run.workspace_ref).appendTrace(turn.request.job_id, [traceLine(turn, about)]);
    return [];
  } catch (thrown) {
    return [logLine("warn", { run_id: id, step, tool }, `not traced: ${errorMessage(thrown)}`)];
  }
}

/** Names of tools and details come from the planner and may have any length. */
function clipped(escalation: Escalation): Escalation {
  const entries = Object.entries(escalation).map(([key, value]) => {
    return [key, typeof value === "string" ? value.slice(0, LONGEST_DETAIL).toWellFormed() : value];
  });
  return Object.fromEntries(entries) as Escalation;
}
