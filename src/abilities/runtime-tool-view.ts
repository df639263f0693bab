// What threads want a client to run, as runtime tool requests: a view for one caller. Nothing is stored a second time.
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import { isMap, type JsonMap, type UnknownMap } from "../contracts/json.ts";
import type { PendingQuery, RuntimeToolStore } from "../contracts/tools/runtime-tool-store.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { isOfRun } from "../threads/requests/of-run.ts";
import type { Answer, Request } from "../threads/requests/requests.ts";
import type { Workbench } from "./reach.ts";
import { timeOf } from "./shapes.ts";
import { visibleRequests } from "./visible-requests.ts";

const USUAL_LIMIT = 100;
const MOST_LISTED = 500;

/** What a thread is told of a request that somebody ended without a result. */
const TIMED_OUT = "Runtime tool request timed out.";

/** The requests of threads within the caller's reach. */
export function runtimeToolView(workbench: Workbench): (principal: Principal) => RuntimeToolStore {
  const { requests } = workbench.runtime;
  const { reach } = workbench;
  const visible = visibleRequests(workbench);

  async function rowOf(request: Request, principal: Principal): Promise<UnknownMap> {
    const { id, thread_id, run, tool_name, shown, expires_at } = request;
    // Whoever runs the tool gets the call with its secrets, and nobody who only looks on, or after it was run.
    const isTheirs = request.status === "pending" && (await reach.has(thread_id, principal, "answer"));
    const asked = isTheirs ? await stillOpen(id) : shown;
    return {
      ...{ ...asked, request_id: id, tool_name, run_id: `${thread_id}:${run}` },
      timeout_at: expires_at === null ? "" : timeOf(expires_at),
      ...endOf(request),
    };
  }

  /** Somebody may be answering it just now. */
  async function stillOpen(id: string): Promise<JsonMap> {
    try {
      return await requests.open(id);
    } catch (thrown) {
      if (!isEnded(thrown)) throw thrown;
      return (await requests.get(id)).shown;
    }
  }

  /** True when this answer is the one that counts. */
  async function submit(id: string, answer: Answer, principal: Principal): Promise<boolean> {
    try {
      await visible.toAnswer(id, principal);
      const { outcome } = await requests.submit(id, answer, { principal });
      return outcome === "submitted";
    } catch (thrown) {
      if (isEnded(thrown)) return false;
      if (!(thrown instanceof HoldfastError) || thrown.code !== "invalid_answer") throw thrown;
      throw holdfastError("invalid_runtime_tool_result", thrown.detail, thrown);
    }
  }

  return (principal) => ({
    create() {
      throw holdfastError("invalid_runtime_tool_request", "what a client is to run is asked by threads alone");
    },

    async get(requestId) {
      try {
        const request = await visible.get(requestId, principal);
        return request.kind === "client_tool" && !isOfRun(request) ? await rowOf(request, principal) : undefined;
      } catch (thrown) {
        if (thrown instanceof HoldfastError && thrown.code === "request_not_found") return undefined;
        throw thrown;
      }
    },

    complete(requestId, result) {
      const answer: Answer = result.success ? { result: result.result } : { error: result.error };
      return submit(requestId, answer, principal);
    },

    timeout: (requestId) => submit(requestId, { error: TIMED_OUT }, principal),

    async recentPending(query) {
      const limit = Math.min(query.limit ?? USUAL_LIMIT, MOST_LISTED);
      const after = query.after === undefined ? {} : { after: query.after };
      const isWanted = wantedBy(query);
      const asked = { kind: "client_tool", status: "pending", ...after, isWanted, limit } as const;
      const found = await visible.list(asked, principal);
      return await Promise.all(found.requests.map((request) => rowOf(request, principal)));
    },
  });
}

/** Those before one are those that come until it does. */
function wantedBy({ run_id, tool_name, before }: PendingQuery): (request: Request) => boolean {
  let isPast = false;
  return (request) => {
    const { id, thread_id, run, tool_name: name } = request;
    isPast ||= id === before;
    // What a workflow asks for is no tool.
    if (isOfRun(request)) return false;
    if (isPast || (tool_name !== undefined && name !== tool_name)) return false;
    return run_id === undefined || run_id === `${thread_id}:${run}`;
  };
}

/** How a request stands, in the words of runtime tools, with the result where there is one. */
function endOf({ status, answer }: Request): UnknownMap {
  if (status === "pending") return { status: "runtime_tool_pending" };
  if (!isMap(answer)) return { status: status === "expired" ? "runtime_tool_timeout" : "runtime_tool_cancelled" };
  if (answer.error === TIMED_OUT) return { status: "runtime_tool_timeout" };
  return { status: "runtime_tool_completed", result: answer };
}

const ended = new Set(["request_answered", "request_expired", "request_cancelled"]);

function isEnded(thrown: unknown): boolean {
  return thrown instanceof HoldfastError && ended.has(thrown.code);
}
