// The tools that come with subagents: those to create, address and list them, and one for each that is a tool by itself.
import type { Write } from "../../backend/write.ts";
import { declaredName } from "../../contracts/standard/names.ts";
import type { Side } from "../../contracts/standard/side.ts";
import type { Agent } from "../agent.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";
import type { Tool } from "../tool.ts";
import { CREATE, createTool } from "./create-tool.ts";
import { LIST, listTool } from "./list-tool.ts";
import { MESSAGE, messageTool, SEND } from "./message-tool.ts";
import { isSwitchedOn, type ReadVariable } from "./read-variable.ts";
import { relationshipTool } from "./relationship-tool.ts";

type Of = {
  readonly agent: Agent;
  readonly side: Side;
  readonly relationships: readonly Relationship[];
};

/** All of them: which a step may call, `hiddenTools` tells. None for a side without subagents. */
export function subagentTools(host: Host, { relationships }: Of): readonly Tool[] {
  if (relationships.length === 0) return [];
  const staying = relationships.filter(({ resumable }) => resumable);
  return [
    ...(staying.length > 0 ? [createTool(host, staying)] : []),
    messageTool(MESSAGE),
    messageTool(SEND),
    listTool(relationships),
    ...relationships.filter(({ resumable }) => !resumable).map((each) => relationshipTool(host, each)),
  ];
}

/** The declared names of those that a model must not be offered as things stand. */
export async function hiddenTools(
  host: Host,
  {
    threadId,
    relationships,
    env,
    writes = [],
  }: Of & {
    readonly threadId: string;
    readonly env: ReadVariable;
    /** What is about to be stored: a child may be among it. */
    readonly writes?: readonly Write[];
  },
): Promise<ReadonlySet<string>> {
  if (relationships.length === 0) return new Set();
  const hidden = new Set<string>();
  const hide = (...names: readonly string[]) => {
    for (const name of names) hidden.add(declaredName(name));
  };
  const offered = await offeredRelationships(relationships, env);
  for (const each of relationships) if (!each.resumable && !offered.includes(each)) hide(each.as);
  const { threads } = host.stores;
  const canCreate = offered.some(({ resumable }) => resumable);
  const isBorn = writes.some((each) => each.write === "thread" && each.thread.parent_id === threadId);
  const hasLive = isBorn || (await threads.liveChildren(threadId, null)) > 0;
  if (!canCreate) hide(CREATE);
  // An older name of the same tool: code may still use it.
  hide(SEND);
  if (!hasLive) hide(MESSAGE);
  const hasAny = canCreate || hasLive || (await threads.children(threadId, { limit: 1 })).length > 0;
  if (!hasAny) hide(LIST);
  return hidden;
}

/** Those that a model may be told of: not hidden, and switched on where they need to be. */
async function offeredRelationships(
  relationships: readonly Relationship[],
  env: ReadVariable,
): Promise<readonly Relationship[]> {
  const offered: Relationship[] = [];
  for (const each of relationships) if (!each.hidden && (await isSwitchedOn(each, env))) offered.push(each);
  return offered;
}
