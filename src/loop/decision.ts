// What a mediator may decide about a call before it runs, and what each decision means for its result.
import { nonEmptyString, trim, trimmed, truthy } from "../contracts/coerce.ts";
import { asMap, isMap, type JsonMap, seal, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import type { GateVerdict } from "../contracts/tools/call-gate.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as runtimeTool from "../contracts/tools/runtime-tool.ts";

/** What a mediator may answer about a call; null or nothing lets it proceed, and so does anything else. */
export type MediationDecision =
  | { readonly action: "proceed" }
  | {
      readonly action: "reject";
      readonly error?: string;
      readonly result?: UnknownMap;
      readonly metadata?: UnknownMap;
      readonly runtime?: UnknownMap;
      /** Nothing more of the batch is run, and the run is complete. */
      readonly complete?: boolean;
    }
  | { readonly action: "replace_result"; readonly result: UnknownMap; readonly complete?: boolean }
  | {
      readonly action: "pending";
      readonly request?: UnknownMap;
      readonly metadata?: UnknownMap;
      readonly runtime?: UnknownMap;
    };

/** A decision that was read: what becomes of the call. */
export type Decision =
  | { readonly action: "proceed" }
  | {
      readonly action: "reject" | "replace_result" | "pending";
      readonly result: ToolResult;
      /** Nothing more of the batch is run. */
      readonly complete: boolean;
    };

export const proceed: Decision = seal({ action: "proceed" });

const REJECTED = "Tool call rejected before execution.";

/**
 * Reads what a mediator or filter answered; anything unusable leaves the decision that stood before. That goes for a map
 * without an action too: a filter that forgets to say what it wants must not let a call run that was rejected.
 */
export function normalize(answer: unknown, before: Decision, call: DecidedCall): Decision {
  if (!isMap(answer) || typeof answer.action !== "string") return before;
  const given = answer as JsonMap;
  switch (trim(answer.action).toLowerCase()) {
    case "proceed":
      return proceed;
    case "reject":
      return reject(given, call);
    case "replace_result":
      return replace(given, before, call);
    case "pending":
      return wait(given, before, call);
    default:
      return before;
  }
}

/** The rejection of a call that the gate's rules do not allow now. */
export function gateRejection(verdict: Extract<GateVerdict, { allowed: false }>, toolName: string): Decision {
  const metadata = { error_type: "tool_call_gate_rejected", tool_call_gate: verdict.context };
  return seal({ action: "reject", complete: false, result: toolResult.failure(toolName, verdict.reason, metadata) });
}

/** The rejection of a call that its action policy forbids, or whose policy could not be resolved. */
export function policyRejection(toolName: string, policy: "forbidden" | undefined): Decision {
  const isForbidden = policy === "forbidden";
  const error = isForbidden
    ? `Tool '${toolName}' may not be run here.`
    : `Whether tool '${toolName}' may be run could not be decided.`;
  const metadata = { error_type: isForbidden ? "action_forbidden" : "action_policy_failed" };
  return seal({ action: "reject", complete: false, result: toolResult.failure(toolName, error, metadata) });
}

type DecidedCall = { readonly name: string; readonly id: string; readonly parameters: JsonMap };

function reject(given: JsonMap, call: DecidedCall): Decision {
  const result = resultOf(given.result) ?? refusal(given, call);
  return seal({ action: "reject", result, complete: truthy(given.complete) });
}

function refusal(given: JsonMap, { name }: DecidedCall): ToolResult {
  const metadata = snapshotMap(given.metadata);
  const error_type = metadata.error_type ?? "pre_tool_mediation_rejected";
  return toolResult.failure(name, trimmed(given.error) ?? REJECTED, { ...metadata, error_type }, given.runtime);
}

function replace(given: JsonMap, before: Decision, { name }: DecidedCall): Decision {
  const fields = asMap(given.result);
  const result = fields && resultOf({ ...fields, tool_name: nonEmptyString(fields.tool_name) ?? name });
  return result ? seal({ action: "replace_result", result, complete: truthy(given.complete) }) : before;
}

function wait(given: JsonMap, before: Decision, call: DecidedCall): Decision {
  const { name: tool_name, id: tool_call_id, parameters } = call;
  // A filter may hand on, changed or not, a decision that was read already.
  const read = isMap(given.result) && isMap(given.result.runtime_tool_request) ? given.result : undefined;
  const request = [given.runtime_tool_request, given.request, read?.runtime_tool_request, given.result].find(isMap);
  try {
    // Read here for its errors only: the request is made when the call waits, with what the run adds to it.
    runtimeTool.request({ tool_name, tool_call_id, parameters, ...snapshotMap(request) });
  } catch {
    return before;
  }
  const result = toolResult.normalize({
    success: false,
    tool_name,
    error: "The tool waits for an external runtime.",
    status: "runtime_tool_pending",
    runtime_tool_request: request ?? {},
    runtime: given.runtime ?? read?.runtime,
    metadata: { ...snapshotMap(given.metadata ?? read?.metadata), status: "runtime_tool_pending" },
  });
  return seal({ action: "pending", result, complete: true });
}

function resultOf(value: unknown): ToolResult | undefined {
  try {
    return isMap(value) ? toolResult.normalize(value) : undefined;
  } catch {
    return undefined;
  }
}
