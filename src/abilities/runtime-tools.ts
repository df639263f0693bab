// The operations on runtime tool requests: what a client lists and answers, and what an operator times out or cancels.
// They refuse with a coded value; only what nobody planned for, such as a store that fails, is thrown.
import { trimmed, truthy, wholeNumber } from "../contracts/coerce.ts";
import { type ErrorCode, HoldfastError } from "../contracts/error.ts";
import type { Hooks } from "../contracts/hooks.ts";
import { asMap, emptyMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import type { RuntimeToolRequest, RuntimeToolResult } from "../contracts/tools/runtime-tool.ts";
import * as lifecycle from "../contracts/tools/runtime-tool-lifecycle.ts";
import { isRuntimeToolStore, type PendingQuery, type RuntimeToolStore } from "../contracts/tools/runtime-tool-store.ts";

/** What the operations work with; without a store each of them answers that there is none. */
type RuntimeToolHost = {
  readonly store?: RuntimeToolStore | undefined;
  /** Goes on with the waiting run; called only for an input that asks to resume. */
  readonly continuation?: lifecycle.Continuation | null | undefined;
  readonly hooks?: Hooks | undefined;
};

type RuntimeToolList = {
  readonly status: "runtime_tool_pending";
  readonly requests: readonly RuntimeToolRequest[];
  readonly count: number;
};

type RuntimeToolView = {
  readonly status: string;
  readonly request: RuntimeToolRequest<string> & { readonly result?: RuntimeToolResult };
};

type Submission = lifecycle.RuntimeToolSubmission;

/** The pending requests, narrowed by run, tool and position. */
export function list(input: unknown, host: RuntimeToolHost): Promise<RuntimeToolList | OperationError> {
  return withStore(host, async (store) => {
    const requests = await lifecycle.recentPending(store, pendingQuery(fieldsOf(input)));
    return { status: "runtime_tool_pending", requests, count: requests.length };
  });
}

/** One request in whatever status it has, with its result once there is one. */
export function get(input: unknown, host: RuntimeToolHost): Promise<RuntimeToolView | OperationError> {
  return withStore(host, async (store) => {
    const requestId = trimmed(fieldsOf(input).request_id);
    if (requestId === undefined) {
      return operationError("agents_runtime_tool_invalid_request", "request_id must be a non-empty string");
    }
    const stored = await lifecycle.readStored(store, requestId);
    if (stored === undefined) {
      return operationError(
        "agents_runtime_tool_request_not_found",
        `There is no runtime tool request "${requestId}".`,
      );
    }
    const { request, result } = stored;
    return { status: request.status, request: result === undefined ? request : { ...request, result } };
  });
}

/** Hands in a result; a repeat returns the first one. */
export function submit(input: unknown, host: RuntimeToolHost): Promise<Submission | OperationError> {
  return withStore(host, (store) => {
    const given = fieldsOf(input);
    return lifecycle.submitResult(store, given, continuationFor(given, host), snapshotMap(given.context), host.hooks);
  });
}

/** Ends a request without a result; a repeat returns how it ended. */
export function timeout(input: unknown, host: RuntimeToolHost): Promise<Submission | OperationError> {
  return withStore(host, (store) => end(store, fieldsOf(input), host));
}

/** `timeout`, because somebody asked for it and not because the time was up. */
export function cancel(
  input: unknown,
  host: RuntimeToolHost,
): Promise<(Submission & { readonly cancelled: true }) | OperationError> {
  return withStore(host, async (store) => ({ ...(await end(store, fieldsOf(input), host)), cancelled: true }));
}

function end(store: RuntimeToolStore, given: UnknownMap, host: RuntimeToolHost): Promise<Submission> {
  const context = snapshotMap(given.context);
  return lifecycle.timeoutRequest(store, given.request_id, continuationFor(given, host), context, host.hooks);
}

function continuationFor(given: UnknownMap, host: RuntimeToolHost): lifecycle.Continuation | null | undefined {
  return truthy(given.resume) ? host.continuation : undefined;
}

function fieldsOf(input: unknown): UnknownMap {
  return asMap(input) ?? emptyMap;
}

function pendingQuery(given: UnknownMap): PendingQuery {
  const query: { -readonly [Field in keyof PendingQuery]: PendingQuery[Field] } = {};
  for (const field of ["run_id", "tool_name", "before", "after"] as const) {
    const value = trimmed(given[field]);
    if (value !== undefined) query[field] = value;
  }
  const limit = wholeNumber(given.limit, 0);
  if (limit) query.limit = limit;
  return query;
}

const operationCodes: { readonly [Code in ErrorCode]?: string } = {
  not_json: "agents_runtime_tool_invalid_request",
  invalid_runtime_tool_request: "agents_runtime_tool_invalid_request",
  invalid_runtime_tool_result: "agents_runtime_tool_invalid_result",
  invalid_runtime_tool_timeout: "agents_runtime_tool_invalid_timeout",
  invalid_runtime_tool_continuation: "agents_runtime_tool_invalid_continuation",
};

async function withStore<Value>(
  { store }: RuntimeToolHost,
  operate: (store: RuntimeToolStore) => Promise<Value | OperationError>,
): Promise<Value | OperationError> {
  if (!isRuntimeToolStore(store)) {
    return operationError(
      "agents_runtime_tool_request_store_unavailable",
      "There is no store for runtime tool requests.",
    );
  }
  try {
    return await operate(store);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    const code = operationCodes[thrown.code];
    if (code === undefined) throw thrown;
    return operationError(code, thrown.detail);
  }
}
