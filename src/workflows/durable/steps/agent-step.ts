// A step that asks an agent: the conversation is a thread below the run, created in the commit in which the step begins.
import { scalarText, trimmed } from "../../../contracts/coerce.ts";
import { errorMessage, HoldfastError } from "../../../contracts/error.ts";
import { isMap, type Json, type JsonMap } from "../../../contracts/json.ts";
import type { Relationship } from "../../../threads/definitions/relationship.ts";
import { DEEPEST, noFiles, parentOf } from "../../../threads/subagents/child-order.ts";
import { newChild } from "../../../threads/subagents/new-child.ts";
import type { Outcome } from "../../machine/next.ts";
import { newRequest } from "../asked-request.ts";
import type { RunHost } from "../run-host.ts";
import { childFailed, tooDeep, unknownAgent } from "../step-errors.ts";
import { type Beginning, type Begun, deadlineOf } from "./beginning.ts";

/** With a session the agent is asked in a conversation that there is already, by the operation that chats. */
export function isAgentHere(host: RunHost, { type, agent, session_id = null }: JsonMap): boolean {
  const slug = trimmed(agent);
  return type === "agent" && slug !== undefined && session_id === null && host.threads.agents.has(slug);
}

export async function beginAgent(about: Beginning): Promise<Begun> {
  const { host, run, batch, order, call } = about;
  const { threads } = host;
  const slug = trimmed(order.step.agent) ?? "";
  if (!(await host.mayUseAgent(run.principal, slug))) return failed(unknownAgent(slug));
  const message = textOf(order.step.message ?? null);
  const requestId = crypto.randomUUID();
  const childId = crypto.randomUUID();
  const asked = newRequest(threads, {
    ...{ id: requestId, call, kind: "child", name: slug, parameters: { message }, expiresAfter: null },
    shown: { agent: slug, step: String(order.step.id ?? "") },
  });
  const parent = await parentOf(threads, run.thread, []);
  if (parent.depth >= DEEPEST) return failed(tooDeep);
  try {
    const child = await newChild(threads, {
      ...{ id: childId, parent, relationship: relationshipOf(slug), side: "a", name: String(order.step.id ?? slug) },
      ...{ message, arguments: null, files: noFiles, given: {}, requestId, spawnGroup: null },
    });
    batch.writes.push(...child.writes);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return failed({ code: thrown.code, message: errorMessage(thrown), data: null, retryable: false });
  }
  batch.opened.push(asked);
  return {
    open: {
      by: "child",
      waits_for: "agent",
      request_id: requestId,
      child_id: childId,
      ...deadlineOf(order, threads.now()),
    },
  };
}

/** What the agent has said last, with the thread in which it did. */
export function outcomeOfAgent(answer: JsonMap, childId: string): Outcome {
  const { success, result, error } = answer;
  if (success !== true) return { as: "failed", error: childFailed(error) };
  const { text = "", attachments = [] } = isMap(result) ? (result as JsonMap) : {};
  return { as: "succeeded", output: { reply: text, thread_id: childId, attachments } };
}

function failed(error: JsonMap): Begun {
  return { outcome: { as: "failed", error } };
}

function textOf(message: Json): string {
  return scalarText(message) ?? JSON.stringify(message);
}

/** The thread is for this step alone: it is over once it has answered. */
function relationshipOf(agent: string): Relationship {
  return {
    ...{ agent, as: agent, description: "", generation: 1, blocking: true, resumable: false },
    ...{ receivesMessages: "side_a", maxInstances: null, parentCommunication: "implicit" },
    ...{ immediate: false, hidden: false, scopedEnv: [] },
  };
}
