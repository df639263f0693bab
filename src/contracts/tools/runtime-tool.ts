// A tool that somebody else runs: the request a run waits for, and the result that is handed in later.
import { sha256 } from "../canonical-json.ts";
import { nonEmptyString, trim, trimmed, truthy } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { emptyMap, isContainer, type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import * as citations from "./citations.ts";

/** What a run waits for. It is pending until a result or a timeout ends it, whichever comes first. */
export type RuntimeToolRequest<Status extends string = RuntimeToolStatus> = {
  readonly status: Status;
  readonly request_id: string;
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly parameters: JsonMap;
  readonly run_id: string;
  readonly timeout_at: string;
  readonly runtime: JsonMap;
  readonly metadata: JsonMap;
};

type RuntimeToolStatus = "runtime_tool_pending" | "runtime_tool_completed" | "runtime_tool_timeout";

/** What was handed in for a request. */
export type RuntimeToolResult = {
  readonly status: "runtime_tool_submitted";
  readonly request_id: string;
  readonly tool_name: string;
  readonly metadata: JsonMap;
} & (
  | { readonly success: true; readonly result: JsonMap | readonly Json[] }
  | { readonly success: false; readonly error: string }
);

/** What a request is made from when a tool call has to wait; the context may name the run and the time limit. */
type RuntimeToolCall = {
  readonly tool_name: unknown;
  readonly tool_call_id: unknown;
  readonly parameters?: unknown;
  readonly context?: UnknownMap | undefined;
  readonly runtime?: unknown;
  readonly metadata?: unknown;
};

/** A pending request, whatever status the value had; throws `invalid_runtime_tool_request` without tool or call. */
export function request(value: unknown): RuntimeToolRequest {
  const given = snapshotMap(value);
  const runId = typeof given.run_id === "string" ? given.run_id : "";
  return snapshot({
    status: "runtime_tool_pending",
    request_id: trimmed(given.request_id) ? given.request_id : requestId([runId, given.tool_name, given.tool_call_id]),
    tool_name: required(given, "tool_name", "invalid_runtime_tool_request"),
    tool_call_id: required(given, "tool_call_id", "invalid_runtime_tool_request"),
    parameters: arrayOrEmpty(given.parameters),
    run_id: runId,
    timeout_at: typeof given.timeout_at === "string" ? given.timeout_at : "",
    runtime: arrayOrEmpty(given.runtime),
    metadata: arrayOrEmpty(given.metadata),
  }) as RuntimeToolRequest;
}

/** The pending request of a tool call. */
export function requestFromCall({ context, ...call }: RuntimeToolCall): RuntimeToolRequest {
  return request({ ...call, run_id: context?.run_id, timeout_at: context?.runtime_tool_timeout_at });
}

/** The same request, timed out. */
export function requestTimeout(value: unknown): RuntimeToolRequest {
  return withStatus(request(value), "runtime_tool_timeout");
}

/** The same request under another status. */
export function withStatus<Status extends string>(
  pending: RuntimeToolRequest,
  status: Status,
): RuntimeToolRequest<Status> {
  return snapshot({ ...pending, status }) as RuntimeToolRequest<Status>;
}

/** A submitted result; throws `invalid_runtime_tool_result` unless it says which request and tool it is for. */
export function result(value: unknown): RuntimeToolResult {
  const given = snapshotMap(value);
  const success = truthy(given.success ?? true);
  return snapshot({
    status: "runtime_tool_submitted",
    request_id: required(given, "request_id", "invalid_runtime_tool_result"),
    tool_name: required(given, "tool_name", "invalid_runtime_tool_result"),
    success,
    metadata: citations.normalizeMetadata(given.metadata),
    ...(success ? { result: payload(given.result) } : { error: failure(given.error) }),
  }) as RuntimeToolResult;
}

/** A result completed from the request it answers: the ids it does not state are the request's. */
export function resultFromRequest(answered: unknown, value: unknown): RuntimeToolResult {
  const { request_id, tool_name } = snapshotMap(answered);
  const given = snapshotMap(value);
  return result({
    ...given,
    request_id: given.request_id ?? request_id,
    tool_name: given.tool_name ?? tool_name,
  });
}

function required(
  given: JsonMap,
  field: string,
  code: "invalid_runtime_tool_request" | "invalid_runtime_tool_result",
): string {
  const value = trimmed(given[field]);
  if (value === undefined) throw holdfastError(code, `${field} must be a non-empty string`);
  return value;
}

// Made from what identifies the call, so that asking twice gives one request. The contract drops "0" like an empty part.
function requestId(parts: unknown[]): string {
  return `runtime-tool-${sha256(parts.filter((part) => nonEmptyString(part) && part !== "0").join("|"))}`;
}

// The contract takes lists too where a map is expected; they are kept, and whoever reads one by name finds nothing.
function arrayOrEmpty(value: unknown): JsonMap {
  return isContainer(value) ? (value as JsonMap) : emptyMap;
}

function payload(value: Json | undefined): JsonMap | readonly Json[] {
  if (value === undefined || value === null) return emptyMap;
  return isContainer(value) ? value : { value };
}

function failure(error: unknown): string {
  return typeof error === "string" && trim(error) !== "" ? error : "Runtime tool execution failed.";
}
