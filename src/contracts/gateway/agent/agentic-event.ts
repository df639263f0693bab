// The events that an agent emits, one per turn: a tool request, or the end of a run.
import type { Json, JsonMap } from "../../json.ts";
import type { EmittedEvent } from "../protocol/event.ts";
import {
  AGENT_COMPLETED,
  AGENT_ESCALATED,
  completedKey,
  escalatedKey,
  requestKey,
  toolRequestType,
  withoutReservedKeys,
} from "./correlation.ts";

/** The name of the agent that is shipped. */
export const AGENT_PLUGIN = "agentic-loop";

export type ToolRequest = {
  readonly run_id: string;
  readonly step: number;
  readonly tool: string;
  readonly tool_command: string;
  readonly tool_payload: JsonMap;
  readonly attempt: number;
  readonly requested_at: string;
};

/**
 * Asks for a tool. The payload for the tool stands beside the correlation and below `tool_payload`; reserved keys of it
 * are in neither place. The route selects the pipeline and is usually the tool's own name.
 */
export function toolRequested(route: string, request: ToolRequest): EmittedEvent {
  const tool_payload = withoutReservedKeys(request.tool_payload);
  return {
    type: toolRequestType(route),
    payload: { ...tool_payload, ...request, tool_payload },
    dedupe_key: requestKey(request),
  };
}

export type Completion = {
  readonly goal: string;
  readonly outcome: string;
  readonly steps_taken: number;
  /** Paths in the workspace of files that exist. */
  readonly artifacts: readonly string[];
};

export function runCompleted(run_id: string, completion: Completion): EmittedEvent {
  return { type: AGENT_COMPLETED, payload: { run_id, ...completion }, dedupe_key: completedKey(run_id) };
}

/** Why a run was escalated, with what belongs to the reason. */
export type Escalation =
  | { readonly reason: "step_mismatch"; readonly expected_step: number; readonly actual_step: number }
  | { readonly reason: "pending_tool_mismatch"; readonly expected_tool: string; readonly actual_tool: string }
  | {
      readonly reason: "tool_error";
      readonly step: number;
      readonly tool: string;
      readonly error: string;
      readonly attempts: number;
    }
  | { readonly reason: "max_steps_exceeded"; readonly step: number; readonly max_steps: number }
  | { readonly reason: "max_reframes_exceeded"; readonly reframes: number; readonly max_reframes: number }
  | { readonly reason: "followup_tool_not_allowed" | "tool_unroutable"; readonly tool: string }
  | { readonly reason: "no_next_action"; readonly step: number }
  | { readonly reason: "pending_timeout"; readonly step: number; readonly tool: string; readonly pending_since: string }
  | { readonly reason: "planner_escalated"; readonly step: number; readonly detail: string }
  /** The job tree may not grow by as many jobs as the next request needs. */
  | { readonly reason: "max_tree_jobs_exceeded"; readonly step: number; readonly tool: string }
  | { readonly reason: "cancelled"; readonly by: string };

/** Why the gateway answers a request itself: what no tool has said, and a reason of its own to escalate. */
export const requestRefusals = ["tool_unroutable", "max_tree_jobs_exceeded"] as const;
export type RequestRefusal = (typeof requestRefusals)[number];

export function runEscalated(run_id: string, escalation: Escalation): EmittedEvent {
  const about: { readonly [key: string]: Json } = escalation;
  return { type: AGENT_ESCALATED, payload: { run_id, ...about }, dedupe_key: escalatedKey(run_id) };
}
