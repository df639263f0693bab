// Where runtime tool requests wait for their results: the port a host implements, and a store that forgets with the process.
import { sortedText } from "../canonical-json.ts";
import { holdfastError } from "../error.ts";
import { isMap, type JsonMap, snapshot, type UnknownMap } from "../json.ts";
import type { RuntimeToolRequest, RuntimeToolResult } from "./runtime-tool.ts";

/** Which pending requests to list. `before` and `after` name a request: what was created earlier or later than it. */
export type PendingQuery = {
  readonly run_id?: string;
  readonly tool_name?: string;
  readonly before?: string;
  readonly after?: string;
  readonly limit?: number;
};

type Awaitable<Value> = Value | Promise<Value>;

/**
 * Rows are a request with its current status and, once completed, its `result`. A request leaves pending once: of any
 * number of concurrent `complete` and `timeout` calls exactly one answers true, and only that one changes the row.
 */
export interface RuntimeToolStore {
  /** Stores a request. Creating the same one again changes nothing; its id for another request throws. */
  create(request: RuntimeToolRequest): Awaitable<void>;
  get(requestId: string): Awaitable<UnknownMap | null | undefined>;
  complete(requestId: string, result: RuntimeToolResult): Awaitable<boolean>;
  timeout(requestId: string): Awaitable<boolean>;
  recentPending(query: PendingQuery): Awaitable<readonly UnknownMap[]>;
}

const verbs = ["create", "get", "complete", "timeout", "recentPending"] as const;

/** True when the value has every verb of the port. */
export function isRuntimeToolStore(value: unknown): value is RuntimeToolStore {
  return isMap(value) && verbs.every((verb) => typeof value[verb] === "function");
}

/** The value as a store; throws `invalid_runtime_tool_store` naming what it cannot do. */
export function requireStore(value: unknown): RuntimeToolStore {
  if (isRuntimeToolStore(value)) return value;
  const missing = isMap(value) ? verbs.filter((verb) => typeof value[verb] !== "function") : verbs;
  throw holdfastError("invalid_runtime_tool_store", `${missing.join(", ")} must be functions`);
}

/** A store in memory, optionally with rows that are already there. A request created again replaces its row. */
export function createMemoryRuntimeToolStore(rows: Iterable<UnknownMap> = []): RuntimeToolStore {
  const stored = new Map<string, JsonMap>();
  for (const row of rows) keep(String(row.request_id), { status: "runtime_tool_pending", ...row });

  function keep(requestId: string, row: UnknownMap): void {
    stored.set(requestId, snapshot(row) as JsonMap);
  }

  // Nothing is awaited between the look and the change, which makes the transition atomic.
  function leavePending(requestId: string, change: UnknownMap): boolean {
    const row = stored.get(requestId);
    if (row?.status !== "runtime_tool_pending") return false;
    keep(requestId, { ...row, ...change });
    return true;
  }

  return {
    create: (request) => {
      const known = stored.get(request.request_id);
      if (known && !asksTheSame(known, request)) throw taken(request);
      if (!known) keep(request.request_id, request);
    },
    get: (requestId) => stored.get(requestId),
    complete: (requestId, result) => leavePending(requestId, { status: "runtime_tool_completed", result }),
    timeout: (requestId) => leavePending(requestId, { status: "runtime_tool_timeout" }),
    recentPending: (query) => select([...stored.values()], query),
  };
}

function asksTheSame(known: JsonMap, { tool_name, tool_call_id, parameters }: RuntimeToolRequest): boolean {
  const asked = sortedText({ tool_name, tool_call_id, parameters });
  return (
    sortedText({ tool_name: known.tool_name, tool_call_id: known.tool_call_id, parameters: known.parameters }) === asked
  );
}

function taken({ request_id }: RuntimeToolRequest) {
  return holdfastError(
    "invalid_runtime_tool_request",
    `request_id "${request_id}" is taken by another request; a run_id in the context keeps the runs apart.`,
  );
}

function select(rows: readonly JsonMap[], { run_id, tool_name, before, after, limit }: PendingQuery): JsonMap[] {
  const positionOf = (requestId: string) => rows.findIndex((row) => row.request_id === requestId);
  const start = after === undefined ? 0 : positionOf(after) + 1;
  const end = before === undefined ? -1 : positionOf(before);
  return rows
    .slice(start, end === -1 ? undefined : end)
    .filter((row) => row.status === "runtime_tool_pending")
    .filter((row) => run_id === undefined || row.run_id === run_id)
    .filter((row) => tool_name === undefined || row.tool_name === tool_name)
    .slice(0, limit);
}
