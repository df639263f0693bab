// The children that wait for variables, for whoever sets them: what is missing, and the values, once.
import type { StoredRequest } from "../../backend/request-store.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { tooMany } from "../../contracts/standard/child-messages.ts";
import { isName } from "../../contracts/storable-name.ts";
import type { Host } from "../host.ts";
import { threadNotFound, threadTerminated } from "../thread-errors.ts";
import { type ChildOrder, parentOf } from "./child-order.ts";
import { type DeferredShown, orderOfRequest, shownOf } from "./deferred-child.ts";
import { newChild } from "./new-child.ts";
import { requiredVariables } from "./required-variables.ts";

/** What a child waits for: names, never values. */
export type VariableRequest = DeferredShown & { readonly request_id: string; readonly parent_thread_id: string };

export type VariablesSubmitted = {
  readonly request_id: string;
  readonly child_thread_id: string;
  readonly status: "success";
};

export interface Variables {
  /** Throws `variable_request_not_found` for one that is not there, is another thread's, or was used. */
  get(parentThreadId: string, requestId: string): Promise<VariableRequest>;
  /**
   * Creates the child with the values and starts it, once. Throws `invalid_variables` or `variables_missing` for what was
   * passed and `subagent_limit_reached` for too many children; the request is kept then.
   */
  submit(
    parentThreadId: string,
    requestId: string,
    given: { readonly env: Readonly<Record<string, unknown>> },
  ): Promise<VariablesSubmitted>;
}

export function createVariables(host: Host): Variables {
  const { requests, threads, writes } = host.stores;

  async function pending(parentId: string, requestId: string): Promise<StoredRequest & { readonly sealed: string }> {
    const request = isName(requestId) ? await requests.get(requestId) : undefined;
    const isWanted = request?.kind === "variables" && request.thread_id === parentId && request.status === "pending";
    if (!isWanted || request.sealed === null) throw notFound(requestId);
    return { ...request, sealed: request.sealed };
  }

  return {
    async get(parentThreadId, requestId) {
      const request = await pending(parentThreadId, requestId);
      return { request_id: request.id, parent_thread_id: parentThreadId, ...shownOf(request) };
    },

    async submit(parentThreadId, requestId, given) {
      const request = await pending(parentThreadId, requestId);
      const values = readValues(given);
      const parent = await threads.get(parentThreadId);
      if (!parent) throw threadNotFound(parentThreadId);
      if (parent.terminated_at !== null) throw threadTerminated(parentThreadId, "and has no more children");
      const kept = orderOfRequest(host, request, await parentOf(host, parent, []));
      const order: ChildOrder = { ...kept, given: { ...kept.given, ...values } };
      await checkMissing(host, order);
      const child = await newChild(host, order);
      await host.onCrashPoint("before submit");
      const { as, maxInstances: most } = order.relationship;
      const room = most === null ? {} : { room: { relationship: as, most } };
      const outcome = await writes.apply(parentThreadId, child.writes, { request_id: requestId, ...room });
      await host.onCrashPoint("after submit");
      if (outcome === "not_found") throw threadNotFound(parentThreadId);
      if (outcome === "terminated") throw threadTerminated(parentThreadId, "and has no more children");
      // Somebody else was faster: what it waited for is there.
      if (outcome === "overtaken") throw notFound(requestId);
      if (outcome === "full") throw await overTheLimit(host, order);
      host.news?.add(child.id);
      return { request_id: requestId, child_thread_id: child.id, status: "success" };
    },
  };
}

function notFound(requestId: unknown) {
  return holdfastError("variable_request_not_found", `No child waits for variables as "${String(requestId)}".`);
}

/** The values as texts. What is null was left open. No value is repeated in what is thrown. */
function readValues(given: unknown): Readonly<Record<string, string>> {
  const env: unknown = isMap(given) ? given.env : undefined;
  if (!isMap(env)) throw holdfastError("invalid_variables", "env must be a map of names and values.");
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(env as UnknownMap)) {
    if (!isName(name)) throw holdfastError("invalid_variables", "env holds a name that is blank or too long.");
    if (value !== null && value !== undefined) values[name] = typeof value === "string" ? value : asText(name, value);
  }
  return values;
}

function asText(name: string, value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  if (text === undefined) throw holdfastError("invalid_variables", `The value of ${name} is no text.`);
  return text;
}

async function checkMissing(host: Host, { relationship, given, parent }: ChildOrder): Promise<void> {
  const agent = host.registry.agents.get(relationship.agent);
  if (!agent) return;
  const { missing } = await requiredVariables(host, agent, { given, userId: parent.thread.user_id });
  if (missing.length === 0) return;
  throw holdfastError("variables_missing", `"${relationship.as}" still needs ${missing.join(", ")}.`);
}

async function overTheLimit({ stores }: Host, { relationship, parent }: ChildOrder): Promise<HoldfastError> {
  const { as, maxInstances } = relationship;
  const most = maxInstances ?? 0;
  const live = await stores.threads.children(parent.thread.id, { live: true, relationship: as, limit: most });
  const references = live.map(({ id }) => id);
  return holdfastError("subagent_limit_reached", tooMany(as, most, references));
}
