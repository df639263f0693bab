// The life of a runtime tool request: created, then answered or timed out exactly once, then perhaps resumed.
import { numeric, trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import type { Hooks } from "../hooks.ts";
import { emptyMap, isContainer, isMap, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import type { RuntimeToolRequest, RuntimeToolResult } from "./runtime-tool.ts";
import * as runtimeTool from "./runtime-tool.ts";
import { type PendingQuery, type RuntimeToolStore, requireStore } from "./runtime-tool-store.ts";

/** Goes on with the run that waited; it must return a map. */
export type Continuation = (
  request: RuntimeToolRequest,
  result: RuntimeToolResult,
  context: JsonMap,
) => UnknownMap | Promise<UnknownMap>;

/** What ending a request returns: the result, and the same in the shapes a transcript needs. */
export type RuntimeToolSubmission = {
  readonly status: string;
  readonly request: RuntimeToolRequest<string>;
  readonly result: RuntimeToolResult;
  readonly duplicate: boolean;
  readonly tool_result_message: JsonMap;
  readonly tool_execution_result: JsonMap;
  readonly continuation_result: JsonMap | null;
};

/** A stored row: the request under its stored status, and the result once there is one. */
type StoredRuntimeTool = {
  readonly request: RuntimeToolRequest<string>;
  readonly result: RuntimeToolResult | undefined;
};

/** Stores a pending request and tells `runtimeToolRequestCreated`. */
export async function createPendingRequest(
  store: RuntimeToolStore,
  value: unknown,
  context: UnknownMap = emptyMap,
  hooks?: Hooks,
): Promise<RuntimeToolRequest> {
  const request = runtimeTool.request(value);
  await requireStore(store).create(request);
  hooks?.emit("runtimeToolRequestCreated", request, snapshotMap(context));
  return request;
}

/**
 * Hands in the result of a pending request. A second result changes nothing: the first comes back as a duplicate,
 * without event or continuation. Throws `invalid_runtime_tool_result` when there is no such request, or when it ended
 * without a result.
 */
export async function submitResult(
  store: RuntimeToolStore,
  value: unknown,
  continuation?: Continuation | null,
  context: UnknownMap = emptyMap,
  hooks?: Hooks,
): Promise<RuntimeToolSubmission> {
  const given = snapshotMap(value);
  const stored = await readRequired(store, given.request_id, "invalid_runtime_tool_result");
  if (!isPending(stored)) return replaySubmitted(stored);

  const { request } = stored;
  const result = runtimeTool.resultFromRequest(request, given);
  const won = await store.complete(request.request_id, result);
  if (!won) return replaySubmitted(await readStored(store, request.request_id));

  const about = snapshotMap(context);
  hooks?.emit("runtimeToolResultSubmitted", request, result, about);
  const continuation_result = await resume(continuation, request, result, about, hooks);
  return submission({ status: result.status, request, result, duplicate: false, continuation_result });
}

/**
 * Ends a pending request without a result. A request that has already ended is replayed as a duplicate under the status
 * it ended with. Throws `invalid_runtime_tool_timeout` when there is no such request.
 */
export async function timeoutRequest(
  store: RuntimeToolStore,
  requestId: unknown,
  continuation?: Continuation | null,
  context: UnknownMap = emptyMap,
  hooks?: Hooks,
): Promise<RuntimeToolSubmission> {
  const stored = await readRequired(store, requestId, "invalid_runtime_tool_timeout");
  if (!isPending(stored)) return replayEnded(stored);

  const won = await store.timeout(stored.request.request_id);
  if (!won) return replayEnded(await readStored(store, stored.request.request_id));

  const request = runtimeTool.requestTimeout(stored.request);
  const result = endedWithoutResult(request, "Runtime tool request timed out.");
  const about = snapshotMap(context);
  hooks?.emit("runtimeToolRequestTimedOut", request, result, about);
  const continuation_result = await resume(continuation, request, result, about, hooks);
  return submission({ status: request.status, request, result, duplicate: false, continuation_result });
}

/** The pending requests that match. */
export async function recentPending(
  store: RuntimeToolStore,
  query: PendingQuery = {},
): Promise<readonly RuntimeToolRequest[]> {
  return (await requireStore(store).recentPending(query)).map(runtimeTool.request);
}

/** Reads one stored row and completes it; undefined when there is none. */
export async function readStored(store: RuntimeToolStore, requestId: string): Promise<StoredRuntimeTool | undefined> {
  const row = await requireStore(store).get(requestId);
  if (!isMap(row)) return undefined;
  const pending = runtimeTool.request(row);
  return {
    request: runtimeTool.withStatus(pending, trimmed(row.status) ?? pending.status),
    result: isContainer(row.result) ? runtimeTool.resultFromRequest(pending, row.result) : undefined,
  };
}

async function readRequired(
  store: RuntimeToolStore,
  requestId: unknown,
  code: "invalid_runtime_tool_result" | "invalid_runtime_tool_timeout",
): Promise<StoredRuntimeTool> {
  const id = trimmed(requestId);
  if (id === undefined) throw holdfastError(code, "request_id must be a non-empty string");
  const stored = await readStored(store, id);
  if (stored === undefined) throw holdfastError(code, "request not found");
  return stored;
}

function isPending(stored: StoredRuntimeTool): stored is StoredRuntimeTool & { request: RuntimeToolRequest } {
  return stored.request.status === "runtime_tool_pending";
}

function replaySubmitted(stored: StoredRuntimeTool | undefined): RuntimeToolSubmission {
  if (stored?.result === undefined || isPending(stored)) {
    throw holdfastError("invalid_runtime_tool_result", "request is not pending");
  }
  // A submission shows the request as it was when it was answered, also the second time.
  return replay(stored.result.status, runtimeTool.request(stored.request), stored.result);
}

function replayEnded(stored: StoredRuntimeTool | undefined): RuntimeToolSubmission {
  if (stored === undefined || isPending(stored)) {
    throw holdfastError("invalid_runtime_tool_timeout", "terminal transition was not retained");
  }
  const { request } = stored;
  const result = stored.result ?? endedWithoutResult(request, `Runtime tool request ended as ${request.status}.`);
  return replay(request.status, request, result);
}

function replay(status: string, request: RuntimeToolRequest<string>, result: RuntimeToolResult): RuntimeToolSubmission {
  return submission({ status, request, result, duplicate: true, continuation_result: null });
}

function endedWithoutResult(request: RuntimeToolRequest<string>, error: string): RuntimeToolResult {
  return runtimeTool.resultFromRequest(request, { success: false, error, metadata: { status: request.status } });
}

async function resume(
  continuation: unknown,
  request: RuntimeToolRequest,
  result: RuntimeToolResult,
  context: JsonMap,
  hooks: Hooks | undefined,
): Promise<JsonMap | null> {
  if (continuation === undefined || continuation === null) return null;
  if (typeof continuation !== "function") {
    throw holdfastError("invalid_runtime_tool_continuation", "continuation must be callable");
  }
  const answer: unknown = await continuation(request, result, context);
  if (!isContainer(answer))
    throw holdfastError("invalid_runtime_tool_continuation", "continuation must return an array");
  const continued = snapshot(answer) as JsonMap;
  hooks?.emit("runtimeToolRequestResumed", request, result, continued, context);
  return continued;
}

function submission(ended: {
  readonly status: string;
  readonly request: RuntimeToolRequest<string>;
  readonly result: RuntimeToolResult;
  readonly duplicate: boolean;
  readonly continuation_result: JsonMap | null;
}): RuntimeToolSubmission {
  const { status, request, result, duplicate, continuation_result } = ended;
  const { tool_name, tool_call_id, parameters, runtime, metadata } = request;
  const turn_count = Math.trunc(numeric(metadata.turn_count) ?? 0);
  return snapshot({
    status,
    request,
    result,
    duplicate,
    tool_result_message: { tool_name, tool_call_id, success: result.success, status: result.status, result },
    tool_execution_result: { tool_name, tool_call_id, parameters, result, runtime, turn_count },
    continuation_result,
  }) as RuntimeToolSubmission;
}
