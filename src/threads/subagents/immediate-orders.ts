// Which children an agent has without asking for them: what is to be created when its prompts become active.
import type { Write } from "../../backend/write.ts";
import { readInitialPayload, threadName } from "../../contracts/standard/create-arguments.ts";
import type { Side } from "../../contracts/standard/side.ts";
import type { Agent } from "../agent.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";
import { type ChildOrder, noFiles, type Parent } from "./child-order.ts";
import { deferChild, isDeferred } from "./deferred-child.ts";
import { isSwitchedOn, variableReader } from "./read-variable.ts";
import { requiredVariables } from "./required-variables.ts";
import type { ThreadVariables } from "./thread-variables.ts";

type About = {
  readonly parent: Parent;
  readonly agent: Agent;
  /** The run of the parent, 0 before the first. */
  readonly run: number;
  /** True: the parent is not stored yet, so that it has no children. */
  readonly isNew: boolean;
};

/** Values for one child each, and the variables of the parent that they were kept in. */
type Group = { readonly given: Readonly<Record<string, string>>; readonly kept: readonly string[] };

/**
 * The children to create, and what to write beside them: the parent gives the values away that were kept for them, and
 * one that lacks a variable waits for somebody to set it.
 */
export async function immediateOrders(
  host: Host,
  { parent, agent, run, isNew }: About,
): Promise<{ readonly orders: readonly ChildOrder[]; readonly writes: readonly Write[] }> {
  const planned = await plannedChildren(host, { parent, agent, isNew });
  const given = new Set(planned.flatMap(({ group }) => group.kept));
  const writes: Write[] = [...given].map((name) => goneFrom(parent, name));
  // Nobody inherits what was kept for somebody else.
  const left: Parent = { ...parent, variables: without(parent.variables, given) };
  const orders: ChildOrder[] = [];
  for (const { relationship, side, group } of planned) {
    const order = orderOf(left, relationship, side, group);
    const target = host.registry.agents.get(relationship.agent);
    const about = { given: group.given, userId: parent.thread.user_id };
    const needs = target && (await requiredVariables(host, target, about));
    if (!needs || needs.missing.length === 0) orders.push(order);
    else writes.push(deferChild(host, order, { needs, run, toolName: "subagent_create" }).write);
  }
  return { orders, writes };
}

type Planned = { readonly relationship: Relationship; readonly side: Side; readonly group: Group };

async function plannedChildren(
  host: Host,
  { parent, agent, isNew }: Pick<About, "parent" | "agent" | "isNew">,
): Promise<readonly Planned[]> {
  const { thread, variables } = parent;
  const values = Object.fromEntries([...variables].map(([name, { value }]) => [name, value]));
  const planned: Planned[] = [];
  for (const side of ["a", "b"] as const) {
    const read = variableReader(host, { values, userId: thread.user_id, agent, sides: [side] });
    for (const relationship of host.registry.relationshipsOf(agent, side)) {
      const { immediate, as, maxInstances } = relationship;
      if (immediate === false || planned.some((each) => each.relationship.as === as)) continue;
      if (!(await isSwitchedOn(relationship, read))) continue;
      const live = isNew ? 0 : await host.stores.threads.liveChildren(thread.id, as);
      const keys = keysOf(immediate);
      const groups = keys.length > 0 ? groupsOf(keys, variables) : [{ given: {}, kept: [] }];
      // Without values to tell instances apart there is one, and it is not created again.
      if (keys.length === 0 && (live > 0 || (!isNew && (await isDeferred(host, thread.id, as))))) continue;
      const free = maxInstances === null ? groups.length : Math.max(0, maxInstances - live);
      planned.push(...groups.slice(0, free).map((group) => ({ relationship, side, group })));
    }
  }
  return planned;
}

type Immediate = Exclude<Relationship["immediate"], false>;

function keysOf({ nameEnv, descriptionEnv, scopedEnv }: Immediate): readonly string[] {
  return [...new Set([...scopedEnv, ...[nameEnv, descriptionEnv].filter((name) => name !== undefined)])];
}

/** `KEY` is of the first, `KEY__2` of the second, and so on; whichever of the keys there are make a group. */
function groupsOf(keys: readonly string[], variables: ThreadVariables): readonly Group[] {
  const groups = new Map<number, { given: Record<string, string>; kept: string[] }>();
  for (const [name, { value }] of variables) {
    const [, base = name, number = "1"] = /^(.+)__([1-9]\d*)$/.exec(name) ?? [];
    const key = keys.includes(name) ? name : base;
    if (!keys.includes(key) || (key !== name && Number(number) < 2)) continue;
    const index = key === name ? 1 : Number(number);
    const group = groups.get(index) ?? { given: {}, kept: [] };
    group.given[key] = value;
    group.kept.push(name);
    groups.set(index, group);
  }
  return [...groups].sort(([left], [right]) => left - right).map(([, group]) => group);
}

/** Only what is kept for it may be seen by a model, so that its words and its name come from there. */
function orderOf(parent: Parent, relationship: Relationship, side: Side, { given }: Group): ChildOrder {
  const { nameEnv, descriptionEnv } = relationship.immediate as Immediate;
  const payload = readInitialPayload(relationship, {}, given);
  const named = nameEnv === undefined ? undefined : given[nameEnv]?.trim();
  const told = descriptionEnv === undefined ? undefined : given[descriptionEnv]?.trim();
  return {
    id: crypto.randomUUID(),
    parent,
    relationship,
    side,
    name: threadName(named || (payload.ok && payload.value.name) || relationship.as),
    // One that cannot be written to later has to begin at once.
    message: told || (relationship.resumable ? null : ""),
    arguments: null,
    files: noFiles,
    given,
    requestId: null,
    spawnGroup: null,
  };
}

function without(variables: ThreadVariables, names: ReadonlySet<string>): ThreadVariables {
  return new Map([...variables].filter(([name]) => !names.has(name)));
}

function goneFrom({ thread, variables }: Parent, name: string): Write {
  const { type = "secret", inherited = false } = variables.get(name) ?? {};
  return { write: "variable", thread_id: thread.id, name, sealed: null, type, inherited };
}
