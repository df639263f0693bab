// What threads wait for, for those who answer: list it, read it, submit an answer once.

import type { NewAnswer, RequestQuery, RequestStore, StoredRequest } from "../../backend/request-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Json, JsonMap, UnknownMap } from "../../contracts/json.ts";
import { isName } from "../../contracts/storable-name.ts";
import type { PendingAction } from "../../contracts/trust/pending-action.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import * as principals from "../../contracts/trust/principal.ts";
import { safeMetadata } from "../../contracts/trust/safe-principal.ts";
import { checkFields, checkName, checkNumber, checkQuery } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { inWords } from "../schemas/in-words.ts";
import type { Tool } from "../tool.ts";
import { answerMac } from "./binding.ts";
import { editProposal } from "./edit-proposal.ts";
import { decisionRefusal, isApprover } from "./may-decide.ts";
import { isOfRun, refusalOfRun } from "./of-run.ts";
import { pendingActionOf } from "./pending-action-view.ts";
import { type ReadAnswer, readAnswer } from "./read-answer.ts";
import { rememberedPolicy } from "./remembered.ts";
import { shownAnswer } from "./shown-answer.ts";
import { isOutdated, toolAsked, toolNamed } from "./terms.ts";

/** A request as anybody who may see it sees it. */
export type Request = {
  readonly id: string;
  readonly thread_id: string;
  /** The run of the thread that waits. */
  readonly run: number;
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
  | {
      readonly decision: "accepted" | "rejected";
      readonly reason?: string;
      /** Who decides, in words; a principal says more. */
      readonly by?: string;
      /** Other parameters than were proposed, by name: the call runs with them, still as who asked for it. */
      readonly parameters?: JsonMap;
      /** Decides about the next calls of this tool too, for this user, agent and workspace, until it is forgotten. */
      readonly remember?: boolean;
    }
  | { readonly result: unknown }
  | { readonly error: string };

export type SubmitOptions = {
  /** The request has to be that thread's. */
  readonly thread?: string;
  /** Who answers: what a rule about approvers asks for. */
  readonly principal?: UnknownMap;
};

export type Submitted = {
  /** `repeated`: the same answer was submitted before. */
  readonly outcome: "submitted" | "repeated";
  readonly request: Request;
};

export type RequestsQuery = Omit<RequestQuery, "thread_id"> & { readonly thread?: string };

export interface Requests {
  list(query?: RequestsQuery): Promise<readonly Request[]>;
  get(id: string): Promise<Request>;
  /** True when a rule about approvers calls the principal to decide about it, whoever's thread it is. */
  isApprover(id: string, principal: Principal): Promise<boolean>;
  /** The whole request, secrets included, for whoever is to run the tool or apply the action; only while it is pending. */
  open(id: string): Promise<JsonMap>;
  /** A request for approval as the Agents API knows it: a pending action. Throws `request_not_found` for any other. */
  pendingAction(id: string): Promise<PendingAction>;
  /**
   * Submits an answer: the first one counts, and the same one again is a repeat. Throws `request_not_found`,
   * `request_foreign`, `request_answered`, `request_expired`, `request_cancelled` or `invalid_answer`, and for an approval
   * `approval_forbidden` when it is not theirs to decide, `approval_outdated` for a yes under other rules than those it was asked under.
   */
  submit(id: string, answer: Answer, options?: SubmitOptions): Promise<Submitted>;
}

export function createRequests(host: Host): Requests {
  const { requests, threads } = host.stores;

  async function stored(id: string): Promise<StoredRequest> {
    const request = isName(id) ? await requests.get(id) : undefined;
    if (!request) throw holdfastError("request_not_found", `There is no request "${isName(id) ? id : typeof id}".`);
    return request;
  }

  async function toolOfThread({ thread_id, tool_name }: StoredRequest): Promise<Tool | undefined> {
    const { agent = "" } = (await threads.get(thread_id)) ?? {};
    return toolNamed(host, host.agents.get(agent), tool_name);
  }

  /** A client tool's result has to be what the tool says it returns. */
  async function checkResult(request: StoredRequest, answer: JsonMap): Promise<void> {
    if (!("result" in answer)) return;
    // What a run asks for says itself what it has to be, and was checked.
    if (isOfRun(shownRequest(request))) return;
    const { tool_name } = request;
    const tool = await toolOfThread(request);
    const checked = await tool?.validateOutput(answer.result);
    if (!checked || checked.ok) return;
    throw holdfastError("invalid_answer", `The result does not fit '${tool_name}': ${inWords(checked.problems)}`);
  }

  /**
   * Throws `approval_forbidden`, and `approval_outdated` for a yes under other rules than those of this process. Nothing is
   * decided then: another process may have them, and where nobody has them any more somebody can still say no.
   */
  async function checkDecider(request: StoredRequest, { answer }: ReadAnswer, by: Principal | null): Promise<void> {
    const decision = answer.decision === "accepted" ? "accepted" : "rejected";
    const refusal = await decisionRefusal(host, request, by, { decision, action: () => actionOf(request) });
    if (refusal) throw refusal;
    if (request.status !== "pending" || decision === "rejected" || !isOutdated(host, request)) return;
    throw holdfastError(
      "approval_outdated",
      `Request "${request.id}" was asked under other rules than those that hold here.`,
    );
  }

  function actionOf(request: StoredRequest): PendingAction {
    const { id, sealed } = request;
    return pendingActionOf(request, sealed === null ? null : (JSON.parse(host.sealing.open(sealed, id)) as JsonMap));
  }

  /** The answer as it is stored: bound to what it answers, and to who gave it. */
  async function madeReady(
    request: StoredRequest,
    { answer, edits, remember }: ReadAnswer,
    by: Principal | null,
    payload_hash: string,
  ): Promise<NewAnswer> {
    const { id, binding } = request;
    const tool = request.kind === "approval" ? toolAsked(host, request) : await toolOfThread(request);
    const edited = edits === null ? undefined : await editProposal(host.sealing, request, tool, edits);
    const told = shownAnswer(host, request, tool, answer);
    const body = JSON.stringify(edited ? { ...told, edited: true, edited_parameters: edited.shown } : told);
    const decided_by = by && JSON.stringify(safeMetadata(by));
    const resolver = request.kind === "approval" ? resolverOf(by, answer) : null;
    const bound = { id, binding: edited?.binding ?? binding, answer: body, resolver, decided_by };
    return {
      ...{ body, payload_hash, mac: answerMac(host.sealing, bound) },
      ...(resolver !== null && { resolver }),
      ...(decided_by !== null && { decided_by }),
      ...(edited && { edited: { sealed: edited.sealed, binding: edited.binding } }),
      ...(remember && { remembered: await rememberedPolicy(host, request, answer.decision, decided_by) }),
    };
  }

  return {
    async list({ thread, ruled = false, of, calls, ...query } = {}) {
      checkQuery({ thread, ...query });
      if (calls !== undefined) checkNumber("calls", calls);
      const narrowed = { ...(thread !== undefined && { thread_id: thread }), ...(calls !== undefined && { calls }) };
      const marked = { ruled: ruled === true, ...(of !== undefined && { of }) };
      return (await requests.list({ ...query, ...narrowed, ...marked })).map(shownRequest);
    },

    async get(id) {
      return shownRequest(await stored(id));
    },

    async isApprover(id, principal) {
      return await isApprover(host, await stored(id), principals.fromArray(principal));
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
      return actionOf(request);
    },

    async submit(id, given, options = {}) {
      const request = await stored(id);
      checkFields("options", options, ["thread", "principal"]);
      const { thread, principal } = options;
      if (thread !== undefined) checkName("thread", thread);
      if (thread !== undefined && request.thread_id !== thread) {
        throw holdfastError("request_foreign", `Request "${id}" is not one of thread "${thread}".`);
      }
      refuseOwn(request);
      const by = principal === undefined ? null : principals.fromArray(principal);
      const read = readAnswer(request, given);
      const shown = shownRequest(request);
      const refused = isOfRun(shown) ? await refusalOfRun(shown, read) : undefined;
      if (refused) throw refused;
      // Who may not decide is not told either what was decided.
      if (request.kind === "approval") await checkDecider(request, read, by);
      const payload_hash = host.sealing.bind(read, `payload:${id}`);
      if (request.status !== "pending") return await repeated(request, payload_hash, requests);
      await checkResult(request, read.answer);
      const answer = await madeReady(request, read, by, payload_hash);
      await host.onCrashPoint("before submit");
      const outcome = await requests.submit(id, answer);
      await host.onCrashPoint("after submit");
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
  // A time that is up has not been looked at yet, perhaps; what was stopped before stays stopped.
  const isUp = status === "pending" && expires_at !== null && expires_at <= (await requests.now());
  if (status === "expired" || isUp) return holdfastError("request_expired", `The time of request "${id}" is up.`);
  return holdfastError("request_cancelled", `Nobody waits for request "${id}" any more.`);
}

/** Who decided, in words that may be shown. */
function resolverOf(by: Principal | null, { by: words }: JsonMap): string {
  if (by) return by.acting_user_id > 0 ? `user:${by.acting_user_id}` : by.auth_source;
  return typeof words === "string" && words.trim() !== "" ? words : "holdfast";
}

function shownRequest(request: StoredRequest): Request {
  const { id, thread_id, run, kind, tool_name, status, shown, answer, created_at, expires_at } = request;
  return {
    id,
    thread_id,
    run,
    kind,
    tool_name,
    status,
    shown: JSON.parse(shown) as JsonMap,
    answer: answer === null ? null : (JSON.parse(answer) as Json),
    created_at,
    expires_at,
  };
}
