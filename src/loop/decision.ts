// What a mediator may decide about a call before it runs, and what each decision means for its result.
import { trim, trimmed } from "../contracts/coerce.ts";
import { isContainer, isMap, type JsonMap, seal, snapshot, snapshotMap } from "../contracts/json.ts";
import type { GateVerdict } from "../contracts/tools/call-gate.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";

export type Decision =
  | { readonly action: "proceed" }
  | {
      readonly action: "reject" | "replace_result" | "pending";
      readonly result: ToolResult;
      /** Nothing more of the batch is run. */
      readonly complete: boolean;
    };

export const proceed: Decision = Object.freeze({ action: "proceed" });

const REJECTED = "Tool call rejected before execution.";

/** Reads what a mediator or filter answered; anything unusable leaves the decision that stood before. */
export function normalize(answer: unknown, before: Decision, call: DecidedCall): Decision {
  if (!isMap(answer) || typeof answer.action !== "string") return before;
  const given = snapshotMap(answer);
  switch (trim(answer.action).toLowerCase()) {
    case "proceed":
      return proceed;
    case "reject":
      return reject(given, call);
    case "replace_result":
      return replace(given, before, call);
    case "pending":
      return wait(given, call);
    default:
      return before;
  }
}

/** The rejection of a call that the gate's rules do not allow now. */
export function gateRejection(verdict: Extract<GateVerdict, { allowed: false }>, toolName: string): Decision {
  const metadata = { error_type: "tool_call_gate_rejected", tool_call_gate: verdict.context };
  return seal({ action: "reject", complete: false, result: toolResult.failure(toolName, verdict.reason, metadata) });
}

type DecidedCall = { readonly name: string };

function reject(given: JsonMap, call: DecidedCall): Decision {
  const complete = Boolean(given.complete);
  const result = resultOf(given.result, call.name) ?? refusal(given, call);
  return seal({ action: "reject", result, complete });
}

function refusal(given: JsonMap, { name }: DecidedCall): ToolResult {
  const metadata = { error_type: "pre_tool_mediation_rejected", ...snapshotMap(given.metadata) };
  return toolResult.failure(name, trimmed(given.error) ?? REJECTED, metadata, given.runtime);
}

function replace(given: JsonMap, before: Decision, call: DecidedCall): Decision {
  const result = resultOf(given.result, call.name);
  return result ? seal({ action: "replace_result", result, complete: Boolean(given.complete) }) : before;
}

function wait(given: JsonMap, { name }: DecidedCall): Decision {
  const request = [given.runtime_tool_request, given.request, given.result].find(isMap) ?? {};
  const metadata = { ...snapshotMap(given.metadata), status: "runtime_tool_pending" };
  const waiting = {
    success: false,
    tool_name: name,
    error: "The tool waits for an external runtime.",
    status: "runtime_tool_pending",
    runtime_tool_request: request,
    runtime: given.runtime,
    metadata,
  };
  return seal({ action: "pending", result: toolResult.normalize(waiting), complete: true });
}

function resultOf(value: unknown, toolName: string): ToolResult | undefined {
  if (!isContainer(value) || !isMap(value)) return undefined;
  try {
    return toolResult.normalize(snapshot({ tool_name: toolName, ...value }));
  } catch {
    return undefined;
  }
}
