// Creates the child that a call asks for, once everything that may speak against it was looked at, in this order: the
// files, whether there is such a subagent, its arguments, how many there are, and the variables it needs.

import type { JsonMap } from "../../contracts/json.ts";
import * as words from "../../contracts/standard/child-messages.ts";
import type { Relationship } from "../definitions/relationship.ts";
import { runHook } from "../hooks/run-hook.ts";
import { problemInWords } from "../schemas/in-words.ts";
import { type CallScope, canWait, variablesOfCall } from "./call-scope.ts";
import { childEntries } from "./child-entries.ts";
import { type ChildOrder, type CopiedFiles, parentOf } from "./child-order.ts";
import { copiedTo } from "./copied-to.ts";
import { deferChild } from "./deferred-child.ts";
import { countLive, type LiveChild, someLive } from "./live-children.ts";
import { newChild } from "./new-child.ts";
import { isSwitchedOn } from "./read-variable.ts";
import { type Refusal, refusal, refusalOf } from "./refusal.ts";
import { requiredVariables } from "./required-variables.ts";

export type Wish = {
  /** The name under which the child is asked for. */
  readonly agent: string;
  /** Among what it may be. */
  readonly candidates: readonly Relationship[];
  /** Null: it is named after what it is. */
  readonly name: string | null;
  readonly message: string;
  readonly attachments: readonly string[];
  readonly arguments: JsonMap | null;
  /** The tool that was called. */
  readonly toolName: string;
};

/** What the tool returns: a reference, that the call waits, or why nothing was created. */
export async function createChild(scope: CallScope, wish: Wish): Promise<JsonMap | Refusal> {
  const id = crypto.randomUUID();
  const files = await copiedTo(scope, id, wish.attachments);
  if ("success" in files) return files;
  const relationship = await wanted(scope, wish);
  if ("success" in relationship) return relationship;
  const wrong = await argumentsProblem(scope, relationship, wish.arguments);
  if (wrong) return wrong;
  const { maxInstances } = relationship;
  if (maxInstances !== null && (await countLive(scope, relationship.as)) >= maxInstances) {
    return await overTheLimit(scope, relationship, maxInstances, wish);
  }
  try {
    return await create(scope, relationship, wish, { id, files });
  } catch (thrown) {
    return refusalOf(thrown);
  }
}

async function wanted(scope: CallScope, { agent, candidates }: Wish): Promise<Relationship | Refusal> {
  const read = variablesOfCall(scope);
  const found = candidates.find(({ as }) => as === agent);
  const isAllowed = found && (!found.hidden || scope.byCode);
  if (isAllowed && (await isSwitchedOn(found, read))) return found;
  const available: string[] = [];
  for (const each of candidates) if (!each.hidden && (await isSwitchedOn(each, read))) available.push(each.as);
  return refusal(words.unknownAgent(agent, available), "subagent_not_available", { agent, available });
}

async function argumentsProblem(
  { host }: CallScope,
  { agent, as }: Relationship,
  given: JsonMap | null,
): Promise<Refusal | undefined> {
  const target = host.registry.agents.get(agent);
  const schema = target && host.registry.promptOf(target, "a")?.requiredSchema;
  if (!schema) return undefined;
  const checked = await schema.validate(given ?? {});
  if (checked.ok) return undefined;
  const problems = checked.problems.map(problemInWords);
  const required = Array.isArray(schema.json.required) ? schema.json.required : [];
  return refusal(words.wrongArguments(as, problems), "subagent_arguments_required", { agent: as, required });
}

/** An error; only where there is one that is waited for, the second generation goes on with that instead. */
async function overTheLimit(
  scope: CallScope,
  relationship: Relationship,
  most: number,
  wish: Wish,
): Promise<JsonMap | Refusal> {
  const live = await someLive(scope, relationship.as);
  const [only] = live;
  const { generation, blocking } = relationship;
  if (generation === 2 && blocking && most === 1 && only) return await goOnWith(scope, only, wish);
  const references = live.map(({ id }) => id);
  const data = { agent: relationship.as, max_instances: most, references };
  return refusal(words.tooMany(relationship.as, most, references), "subagent_limit_reached", data);
}

async function goOnWith(scope: CallScope, { id, link }: LiveChild, wish: Wish): Promise<JsonMap | Refusal> {
  const files = await copiedTo(scope, id, wish.attachments);
  if ("success" in files) return files;
  const { receives_messages: receives, thread_name: name } = link;
  const { message, arguments: given } = wish;
  const requestId = canWait(scope) ? scope.requestId : null;
  const entries = childEntries({ receives, message, arguments: given, copied: files.copied, requestId });
  const awaited = requestId === null ? {} : { child_request: requestId };
  await scope.buffer.write(
    ...files.writes,
    ...entries.map((entry) => ({ write: "entry", thread_id: id, entry, child_status: "running", ...awaited }) as const),
  );
  return canWait(scope) ? waiting(wish, id, name) : created(id, name, true);
}

async function create(
  scope: CallScope,
  relationship: Relationship,
  wish: Wish,
  { id, files }: { readonly id: string; readonly files: CopiedFiles },
): Promise<JsonMap | Refusal> {
  const { host, thread, buffer, cast } = scope;
  const waits = relationship.blocking && canWait(scope);
  const order: ChildOrder = {
    id,
    parent: await parentOf(host, thread, buffer.writes),
    relationship,
    side: cast.side,
    name: wish.name ?? relationship.as,
    message: wish.message,
    arguments: wish.arguments,
    files,
    given: {},
    requestId: waits ? scope.requestId : null,
    spawnGroup: scope.messageId,
  };
  const missing = await deferred(scope, order, wish);
  if (missing) return missing;
  const child = await newChild(host, order);
  await buffer.write(...child.writes);
  await tellCreated(scope, id);
  if (waits) return waiting(wish, id, order.name);
  return created(id, order.name, relationship.parentCommunication === "implicit");
}

/** Hooks of the parent are told of the child; what they write for it goes into the commit that creates it. */
async function tellCreated({ host, hooks, state }: CallScope, id: string): Promise<void> {
  if (!hooks.has("after_subagent_created")) return;
  const child = await state.getChildThread(id);
  if (child) await runHook(hooks, "after_subagent_created", { host, state }, child);
}

/** That somebody has to set variables first: the order is kept until then. */
async function deferred(scope: CallScope, order: ChildOrder, { toolName }: Wish): Promise<Refusal | undefined> {
  const { host, thread, run } = scope;
  const { agent, as } = order.relationship;
  const target = host.registry.agents.get(agent);
  if (!target) return undefined;
  const needs = await requiredVariables(host, target, { given: order.given, userId: thread.user_id });
  if (needs.missing.length === 0) return undefined;
  const { requestId, write } = deferChild(host, order, { needs, run, toolName });
  await scope.buffer.write(write);
  return refusal(words.variablesNeeded(as, needs.missing), "subagent_env_required", {
    request_id: requestId,
    endpoint: `/threads/${thread.id}/variables/${requestId}`,
    required: needs.required,
    missing: needs.missing,
    agent: as,
  });
}

function created(reference: string, name: string, isDelivered: boolean): JsonMap {
  const result = { text: words.createdNote(name, isDelivered), reference, name, status: "running" };
  return { success: true, result, metadata: { subagent_id: reference } };
}

function waiting({ toolName }: Wish, reference: string, name: string): JsonMap {
  return {
    success: false,
    status: "runtime_tool_pending",
    tool_name: toolName,
    error: words.waitingNote(name),
    runtime_tool_request: {},
    metadata: { waits_for: "child", subagent_id: reference },
  };
}
