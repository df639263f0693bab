// The safe trace of a tool call: hashes and a status, never parameters or a result.
import { stableHash as hash } from "../canonical-json.ts";
import { nonEmptyString } from "../coerce.ts";
import { emptyMap, isEmpty, type JsonMap, seal } from "../json.ts";
import type { ToolDeclaration } from "./declaration.ts";
import type { Exposure } from "./exposure.ts";
import { perDefinition } from "./per-definition.ts";
import type { ToolResult } from "./result.ts";

export { hash };

/** The audit event of one mediated call, from what others may see of its parameters and the result as it was recorded. */
export function event(call: {
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly exposure: Exposure;
  readonly result: ToolResult;
  readonly declaration: ToolDeclaration | null;
  readonly turn: number;
}): JsonMap {
  const { tool_name, tool_call_id, exposure, result, declaration, turn } = call;
  const source = nonEmptyString(declaration?.source);
  const errorType = nonEmptyString(result.metadata?.error_type);
  return seal({
    schema_version: 1,
    type: "tool_call",
    turn_count: turn,
    ...(tool_name !== "" && { tool_name }),
    ...(tool_call_id !== "" && { tool_call_id }),
    ...(source !== undefined && { tool_source: source }),
    parameters_sha256: exposure.parameters_sha256,
    parameters_redacted: true,
    success: result.success,
    result_status: result.success ? "success" : "error",
    result_sha256: summaryHash(result, declaration),
    ...(errorType !== undefined && { error_type: errorType }),
  });
}

/** Most calls succeed and say nothing of it; their hash follows from the declaration alone. */
function summaryHash(result: ToolResult, declaration: ToolDeclaration | null): string {
  const isPlain = declaration && result.success && result.tool_name === declaration.name && isEmpty(result.metadata);
  return isPlain ? plainSuccess(declaration) : hash(summary(result));
}

const plainSuccess = perDefinition(({ name }) => hash({ success: true, tool_name: name, metadata: emptyMap }));

// The payload stays out: a trace may be shared with those who must not be able to test guesses at what a tool returned.
function summary(result: ToolResult): JsonMap {
  const { success, tool_name, metadata } = result;
  return success
    ? { success, tool_name, metadata }
    : { success, tool_name, metadata, error_sha256: hash(result.error) };
}
