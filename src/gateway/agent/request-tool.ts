// Act: the turn asks for a tool and ends. Nothing runs inside of it.
import { type Escalation, toolRequested } from "../../contracts/gateway/agent/agentic-event.ts";
import { type RunFacts, withPending } from "../../contracts/gateway/agent/agentic-run.ts";
import { withoutReservedKeys } from "../../contracts/gateway/agent/correlation.ts";
import { logLine, type RunChange } from "./answer.ts";
import type { Action } from "./planner/planner.ts";
import { checkTool } from "./tools.ts";
import type { Turn } from "./turn-ports.ts";
import { keepPayload } from "./workspace/keep-result.ts";
import type { RunWorkspace } from "./workspace/workspace.ts";

export type NextAction = Action & { readonly step: number; readonly attempt: number };

/** The run with the action pending and the event that requests it, or why it cannot be requested. */
export async function requestTool(
  turn: Turn,
  workspace: RunWorkspace,
  { run_id, run }: { readonly run_id: string; readonly run: RunFacts },
  action: NextAction,
): Promise<{ readonly change: RunChange } | { readonly refused: Escalation }> {
  const { step, attempt, tool } = action;
  const check = checkTool(tool, turn.rules);
  if (check.outcome === "not_allowed") return { refused: { reason: "followup_tool_not_allowed", tool } };
  if (check.outcome === "unroutable") return { refused: { reason: "tool_unroutable", tool } };
  const left = turn.hints.treeJobsLeft;
  // The tool would be executed, and what it emits would have no place.
  if (left !== undefined && left < check.tool.jobs) {
    return { refused: { reason: "max_tree_jobs_exceeded", step: run.step, tool } };
  }
  const tool_command = action.tool_command ?? turn.config.default_tool_command;
  const tool_payload = withoutReservedKeys(action.tool_payload);
  turn.ports.signal?.throwIfAborted();
  const pending_payload = await keepPayload(workspace, step, tool_payload);
  const requested_at = turn.now;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  return {
    change: {
      id: run_id,
      run: withPending(run, { step, attempt, tool, tool_command, pending_payload }, turn.now),
      event: toolRequested(check.route, { run_id, step, tool, tool_command, tool_payload, attempt, requested_at }),
      result: `run ${run_id} waiting for ${tool} (step ${step}${again})`,
      logs: [logLine("info", { run_id, step, tool }, `requested${again}`)],
    },
  };
}
