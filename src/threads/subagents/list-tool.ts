// The tool with which a model looks up the children that it has.
import type { Thread } from "../../backend/thread-rows.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Relationship } from "../definitions/relationship.ts";
import { type Tool, tool } from "../tool.ts";
import { type CallScope, callScope } from "./call-scope.ts";
import { toldSchema } from "./told-schema.ts";

export const LIST = "subagents";

/** So many are shown: the live ones first. */
const MOST = 100;

/** Children of a hidden relationship are not shown. */
export function listTool(relationships: readonly Relationship[]): Tool {
  const hidden = new Set(relationships.filter((each) => each.hidden).map(({ as }) => as));
  return tool({
    name: LIST,
    description: "Lists the subagents that were created, with their references and how they stand.",
    inputSchema: toldSchema({ type: "object", properties: {} }),
    idempotent: true,
    repeatable: true,
    execute: (_input, context) => list(callScope(context), hidden),
  });
}

async function list({ host, thread }: CallScope, hidden: ReadonlySet<string>): Promise<JsonMap> {
  const { threads } = host.stores;
  const live = shown(await threads.children(thread.id, { live: true, limit: MOST + 1 }), hidden);
  const gone = live.length > MOST ? [] : shown(await threads.children(thread.id, { live: false, limit: MOST }), hidden);
  const all = [...live, ...gone];
  const result = { subagents: all.slice(0, MOST), ...(all.length > MOST && { has_more: true }) };
  return { success: true, result };
}

function shown(children: readonly Thread[], hidden: ReadonlySet<string>): readonly JsonMap[] {
  return children.flatMap(({ id, child, child_status, terminated_at }) => {
    if (!child || hidden.has(child.relationship)) return [];
    const { relationship, thread_name, description } = child;
    const status = terminated_at === null ? (child_status ?? "idle") : "terminated";
    return [{ reference: id, name: thread_name, agent: relationship, status, description }];
  });
}
