// What running one tool came to: a value or an error, never both, until a size limit puts an excerpt beside the error.
import { nonEmptyString, trimmed, truthy } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { emptyMap, isContainer, isEmpty, isMap, type Json, type JsonMap, seal, snapshot } from "../json.ts";
import * as citations from "./citations.ts";
import * as runtimeMetadata from "./runtime-metadata.ts";

type Common = {
  readonly tool_name: string;
  readonly metadata: JsonMap;
  readonly runtime?: JsonMap;
  readonly status?: string;
  readonly runtime_tool_request?: JsonMap | readonly Json[];
};

/** The outcome of one tool call. A failure has a `result` only when it was truncated. */
export type ToolResult =
  | (Common & { readonly success: true; readonly result: Json })
  | (Common & { readonly success: false; readonly error: string; readonly result?: JsonMap });

const nothing: readonly Json[] = seal([]);

/** A result with its defaults filled in and unknown fields dropped; throws `invalid_tool_execution_result` without a name. */
export function normalize(value: unknown): ToolResult {
  const fields = snapshot(value);
  if (!isMap(fields)) throw holdfastError("invalid_tool_execution_result", "result must be a map");
  const toolName = nonEmptyString(fields.tool_name);
  if (toolName === undefined) {
    throw holdfastError("invalid_tool_execution_result", "tool_name must be a non-empty string");
  }
  const metadata = metadataOf(fields);
  const optional = optionalFields(fields);
  // The order of the keys is part of the contract: sizes and excerpts are taken from the text as written.
  return seal(
    truthy(fields.success)
      ? { success: true, tool_name: toolName, metadata, ...optional, result: fields.result ?? nothing }
      : {
          success: false,
          tool_name: toolName,
          metadata,
          ...optional,
          error: nonEmptyString(fields.error) ?? "Tool execution failed.",
        },
  );
}

/** A successful result that holds a value and nothing else. Value and runtime must be normalised already. */
export function success(toolName: string, value: Json, runtime: JsonMap): ToolResult {
  const plain = { success: true, tool_name: toolName, metadata: emptyMap } as const;
  const result = value ?? nothing;
  return seal(isEmpty(runtime) ? { ...plain, result } : { ...plain, runtime, result });
}

/** A failed result with this error text. */
export function failure(toolName: string, error: string, metadata: JsonMap, runtime?: unknown): ToolResult {
  return normalize({ success: false, tool_name: toolName, metadata, runtime, error });
}

/** The result of calling a tool that is not there, or that the caller does not see. */
export function notFound(toolName: string): ToolResult {
  return failure(toolName, `Tool '${toolName}' not found`, { error_type: "tool_not_found" });
}

function metadataOf(fields: JsonMap): JsonMap {
  const metadata = citations.normalizeMetadata(fields.metadata);
  const errorType = trimmed(fields.error_type);
  if (errorType === undefined || (metadata.error_type ?? null) !== null) return metadata;
  return seal({ ...metadata, error_type: errorType });
}

function optionalFields(fields: JsonMap): Pick<Common, "runtime" | "status" | "runtime_tool_request"> {
  const runtime = fields.runtime === undefined ? undefined : runtimeMetadata.normalize(fields.runtime);
  const status = trimmed(fields.status);
  const request = fields.runtime_tool_request;
  return {
    ...(runtime !== undefined && !isEmpty(runtime) && { runtime }),
    ...(status !== undefined && { status }),
    ...(isContainer(request) && { runtime_tool_request: request }),
  };
}
