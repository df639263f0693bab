// What threads wait for, for those who answer: list it, read it, submit an answer once.

import type { RequestStore, StoredRequest } from "../../backend/request-store.ts";
import { stableHash } from "../../contracts/canonical-json.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import type { PendingAction } from "../../contracts/trust/pending-action.ts";
import { checkQuery, isName } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { inWords } from "../schemas/in-words.ts";
import { pendingActionOf } from "./pending-action-view.ts";

/** A request as anybody who may see it sees it. */
export type Request = {
  readonly id: string;
  readonly thread_id: string;
  readonly kind: StoredRequest["kind"];
  readonly tool_name: string;
  readonly status: StoredRequest["status"];
  /** The call without its secrets, and for an approval its summary and preview. */
  readonly shown: JsonMap;
  readonly answer: Json;
  readonly created_at: number;
  readonly expires_at: number | null;
};

/** For an approval the decision, and who made it; for a client tool its result or why there is none. */
export type Answer =
  | { readonly decision: "accepted" | "rejected"; readonly reason?: string; readonly by?: string }
  | { readonly result: unknown }
  | { readonly error: string };

export type Submitted = {
  /** `repeated`: the same answer was submitted before. */
  readonly outcome: "submitted" | "repeated";
  readonly request: Request;
};

export interface Requests {
  list(query?: {
    thread?: string;
    status?: Request["status"];
    after?: string;
    limit?: number;
  }): Promise<readonly Request[]>;
  get(id: string): Promise<Request>;
  /** The whole request, secrets included, for whoever is to run the tool or apply the action; only while it is pending. */
  open(id: string): Promise<JsonMap>;
  /** A request for approval as the Agents API knows it: a pending action. Throws `request_not_found` for any other. */
  pendingAction(id: string): Promise<PendingAction>;
  /**
   * Submits an answer: the first one counts, and the same one again is a repeat. With `thread`, the request has to be
   * that thread's. Throws `request_not_found`, `request_foreign`, `request_answered`, `request_expired`,
   * `request_cancelled` or `invalid_answer`.
   */
  submit(id: string, answer: Answer, options?: { readonly thread?: string }): Promise<Submitted>;
}

export function createRequests(host: Host): Requests {
  const { requests, threads } = host.stores;

  async function stored(id: string): Promise<StoredRequest> {
    const request = isName(id) ? await requests.get(id) : undefined;
    if (!request) throw holdfastError("request_not_found", `There is no request "${String(id)}".`);
    return request;
  }

  /** A client tool's result has to be what the tool says it returns. */
  async function checkResult({ tool_name, thread_id }: StoredRequest, answer: JsonMap): Promise<void> {
    if (!("result" in answer)) return;
    const thread = await threads.get(thread_id);
    const { agents, registry } = host;
    const own = agents.get(thread?.agent ?? "")?.tools.get(tool_name);
    const tool = own ?? [...registry.tools.values()].find(({ name }) => name === tool_name);
    const checked = await tool?.validateOutput(answer.result);
    if (!checked || checked.ok) return;
    throw holdfastError("invalid_answer", `The result does not fit '${tool_name}': ${inWords(checked.problems)}`);
  }

  return {
    async list({ thread, ...query } = {}) {
      checkQuery({ thread, ...query });
      const found = await requests.list({ ...query, ...(thread !== undefined && { thread_id: thread }) });
      return found.map(shownRequest);
    },

    async get(id) {
      return shownRequest(await stored(id));
    },

    async open(id) {
      const request = await stored(id);
      refuseOwn(request);
      if (request.status !== "pending" || request.sealed === null) throw await ended(request, requests);
      return JSON.parse(host.sealing.open(request.sealed, id)) as JsonMap;
    },

    async pendingAction(id) {
      const request = await stored(id);
      if (request.kind !== "approval") throw holdfastError("request_not_found", `Request "${id}" is no approval.`);
      const whole = request.sealed === null ? null : (JSON.parse(host.sealing.open(request.sealed, id)) as JsonMap);
      return pendingActionOf(request, whole);
    },

    async submit(id, given, { thread } = {}) {
      const request = await stored(id);
      if (thread !== undefined && request.thread_id !== thread) {
        throw holdfastError("request_foreign", `Request "${id}" is not one of thread "${thread}".`);
      }
      refuseOwn(request);
      const answer = readAnswer(request, given);
      const payload_hash = stableHash(answer);
      if (request.status !== "pending") return await repeated(request, payload_hash, requests);
      await checkResult(request, answer);
      await host.reached("before submit");
      const outcome = await requests.submit(id, { body: JSON.stringify(answer), payload_hash });
      await host.reached("after submit");
      const now = await stored(id);
      if (outcome === "refused") return await repeated(now, payload_hash, requests);
      host.progress.changed(request.thread_id);
      return { outcome: "submitted", request: shownRequest(now) };
    },
  };
}

async function repeated(request: StoredRequest, payloadHash: string, requests: RequestStore): Promise<Submitted> {
  if (request.answer !== null && request.payload_hash === payloadHash) {
    return { outcome: "repeated", request: shownRequest(request) };
  }
  throw await ended(request, requests);
}

/** What a child brings, or the variables of one, is nobody else's to bring or to read. */
function refuseOwn({ id, kind }: StoredRequest): void {
  if (kind === "approval" || kind === "client_tool") return;
  const who = kind === "child" ? "a subagent answers it" : "it takes variables";
  throw holdfastError("invalid_answer", `Request "${id}" takes no answer here: ${who}.`);
}

/** Why a request takes no answer any more. */
async function ended(request: StoredRequest, requests: RequestStore) {
  const { id, status, answer, expires_at } = request;
  if (answer !== null) return holdfastError("request_answered", `Request "${id}" was answered before.`);
  const isExpired = status === "expired" || (expires_at !== null && expires_at <= (await requests.now()));
  if (isExpired) return holdfastError("request_expired", `The time of request "${id}" is up.`);
  return holdfastError("request_cancelled", `Nobody waits for request "${id}" any more.`);
}

function readAnswer({ id, kind }: StoredRequest, given: unknown): JsonMap {
  const answer = snapshot(given);
  const invalid = (detail: string) => holdfastError("invalid_answer", `Request "${id}" takes ${detail}.`);
  if (!isMap(answer)) throw invalid("a map");
  if (kind === "approval") {
    const { decision, reason, by, ...more } = answer;
    const isDecision = decision === "accepted" || decision === "rejected";
    const isReason = [reason, by].every((words) => words === undefined || typeof words === "string");
    // What came of an action that the tool itself applied may be told with the decision.
    const isKnown = Object.keys(more).every((field) => field === "result" || field === "error");
    if (!isDecision || !isReason || !isKnown) throw invalid('{ decision: "accepted" or "rejected", reason?, by? }');
    return answer;
  }
  const fields = Object.keys(answer);
  const isError = fields.length === 1 && typeof answer.error === "string";
  const isResult = fields.length === 1 && fields[0] === "result";
  if (!isError && !isResult) throw invalid("{ result } or { error } with a text");
  return isError ? { ...answer, success: false } : { ...answer, success: true };
}

function shownRequest(request: StoredRequest): Request {
  const { id, thread_id, kind, tool_name, status, shown, answer, created_at, expires_at } = request;
  return {
    id,
    thread_id,
    kind,
    tool_name,
    status,
    shown: JSON.parse(shown) as JsonMap,
    answer: answer === null ? null : (JSON.parse(answer) as Json),
    created_at,
    expires_at,
  };
}
