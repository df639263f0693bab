// Every later turn of a run: the result of a tool is compared with what is pending, and taken, ignored or escalated.
import type { Escalation, RequestRefusal } from "../../contracts/gateway/agent/agentic-event.ts";
import { judgeResult, type ToolResult } from "../../contracts/gateway/agent/agentic-result.ts";
import { type RunFacts, type RunningRun, withCompletedStep } from "../../contracts/gateway/agent/agentic-run.ts";
import type { OkResponse } from "../../contracts/gateway/protocol/response.ts";
import { ignore, logLine, quoted } from "./answer.ts";
import { continueRun } from "./continue-run.ts";
import { requestTool } from "./request-tool.ts";
import { draftRun, type RunDraft } from "./run-draft.ts";
import type { Turn } from "./turn-ports.ts";
import { keptPayload } from "./workspace/keep-result.ts";

const LONGEST_ERROR = 8_192;

export async function resumeRun(turn: Turn, result: ToolResult): Promise<OkResponse> {
  const verdict = judgeResult(turn.state, result, turn.config);
  const subject = { run_id: result.run_id, step: result.step, tool: result.tool };
  if (verdict.kind === "unknown") return ignore("warn", subject, "there is no such run");
  if (verdict.kind === "ended") return ignore("info", subject, `the run is ${quoted(verdict.status)}`);
  const { kind, run } = verdict;
  switch (kind) {
    case "stale":
      return ignore("info", subject, "the step is over");
    case "late":
      return ignore("info", subject, `attempt ${result.attempt} was abandoned for attempt ${run.attempt}`);
  }
  const { workspace_ref, attempt, pending_step, pending_tool } = run;
  const { step } = result;
  const draft = draftRun(turn, { workspace_ref, subject, at: { step, attempt }, steps_taken: step });
  switch (kind) {
    case "step_ahead": {
      const steps = { expected_step: pending_step, actual_step: step };
      return await draft.escalate("reflect", run, { reason: "step_mismatch", ...steps });
    }
    case "wrong_tool": {
      const tools = { expected_tool: pending_tool, actual_tool: result.tool };
      return await draft.escalate("reflect", run, { reason: "pending_tool_mismatch", ...tools });
    }
    case "matched":
      if (result.status !== "ok") return await afterError(turn, draft, result, run);
      return await afterSuccess(turn, draft, result, run);
  }
}

async function afterSuccess(turn: Turn, draft: RunDraft, result: ToolResult, run: RunningRun): Promise<OkResponse> {
  const { step } = result;
  const { max_steps } = run;
  // Before the planner is asked, so that the cutoff does not depend on it.
  if (turn.config.max_steps_mode === "strict" && step >= max_steps) {
    return await draft.escalate("reflect", withCompletedStep(run, step), {
      reason: "max_steps_exceeded",
      step,
      max_steps,
    });
  }
  return await continueRun(turn, draft, result, run);
}

function refusedRequest(
  reason: RequestRefusal,
  { step, tool }: { readonly step: number; readonly tool: string },
): Escalation {
  return reason === "tool_unroutable" ? { reason, tool } : { reason, step, tool };
}

/** The same step once more, or the end of the run. */
async function afterError(turn: Turn, draft: RunDraft, result: ToolResult, run: RunningRun): Promise<OkResponse> {
  const { step, tool } = result;
  const { run_id, workspace } = draft;
  const error = (result.error ?? "unknown tool error").slice(0, LONGEST_ERROR).toWellFormed();
  const failed: RunFacts = { ...run, last_error: error };
  if (result.refusal) return await draft.escalate("reflect", failed, refusedRequest(result.refusal, { step, tool }));
  const isLast = result.permanent || run.attempt >= turn.config.max_attempts_per_step;
  const tool_payload = isLast ? undefined : await keptPayload(workspace, run.pending_payload);
  if (!tool_payload) {
    const about = { step, tool, error, attempts: run.attempt };
    return await draft.escalate("reflect", failed, { reason: "tool_error", ...about });
  }
  const at = { step, attempt: run.attempt + 1 };
  const action = { tool, tool_command: run.last_tool_command, tool_payload, rationale: "", ...at };
  const requested = await requestTool(turn, workspace, { run_id, run: failed }, action);
  if ("refused" in requested) return await draft.escalate("act", failed, requested.refused);
  const { change } = requested;
  draft.note("act", "retry", error, at);
  const logs = [logLine("warn", { run_id, step, tool }, `the tool failed: ${error}`), ...change.logs];
  return await draft.end({ ...change, logs });
}
