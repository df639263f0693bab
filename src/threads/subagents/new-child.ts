// Everything that creates a child, as one list of writes: it is there with its variables, its files and its first
// messages, or not at all.
import type { ChildLink, NewThread } from "../../backend/new-thread.ts";
import type { Write } from "../../backend/write.ts";
import { firstHash } from "../../contracts/audit/chain.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isEmpty } from "../../contracts/json.ts";
import type { Agent } from "../agent.ts";
import { isToldOfBirth } from "../hooks/is-told-of-birth.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { STATE_VERSION } from "../state-version.ts";
import { childEntries } from "./child-entries.ts";
import { type ChildOrder, DEEPEST, type Parent } from "./child-order.ts";
import { immediateOrders } from "./immediate-orders.ts";
import { variablesOfChild, variableWrites } from "./thread-variables.ts";

/** The child with all that is created with it. Throws `agent_not_found` or `subagent_too_deep`. */
export async function newChild(
  host: Host,
  order: ChildOrder,
): Promise<{ readonly id: string; readonly writes: readonly Write[] }> {
  const { id, parent, relationship, files } = order;
  const agent = agentOf(host, relationship.agent);
  const depth = parent.depth + 1;
  if (depth > DEEPEST) {
    throw holdfastError("subagent_too_deep", `"${relationship.as}" would be ${depth} threads below the first one.`);
  }
  const { scopedEnv, receivesMessages: receives } = relationship;
  const variables = variablesOfChild(host, agent, { parent: parent.variables, given: order.given, scopedEnv });
  const { budget, user_id } = parent.thread;
  const own: Parent = { thread: { id, parent_id: parent.thread.id, budget, user_id }, variables, depth };
  const { message, arguments: given, requestId } = order;
  const first = childEntries({ receives, message, arguments: given, copied: files.copied, requestId });
  const entries = isToldOfBirth(host, agent) ? [createEntry.born(), ...first] : first;
  return {
    id,
    writes: [
      { write: "thread", thread: threadOf(host, order, agent) },
      ...variableWrites(host, id, variables),
      ...files.writes,
      // Its own children are there before it reads its first message.
      ...(await immediateWrites(host, { parent: own, agent, run: 0, isNew: true })),
      ...entries.map((entry) => ({ write: "entry", thread_id: id, entry }) as const),
    ],
  };
}

/** What creates the children that an agent has without asking for them. */
export async function immediateWrites(
  host: Host,
  about: Parameters<typeof immediateOrders>[1],
): Promise<readonly Write[]> {
  const { orders, writes } = await immediateOrders(host, about);
  const all: Write[] = [...writes];
  for (const order of orders) all.push(...(await newChild(host, order)).writes);
  return all;
}

function agentOf(host: Host, name: string): Agent {
  const agent = host.registry.agents.get(name);
  if (!agent) throw holdfastError("agent_not_found", `There is no agent "${name}".`);
  return agent;
}

function threadOf(host: Host, order: ChildOrder, agent: Agent): NewThread {
  const { id, parent, name, arguments: given } = order;
  return {
    id,
    key: `child:${id}`,
    agent: agent.slug,
    budget: parent.thread.budget,
    state_version: STATE_VERSION,
    hash: firstHash(id),
    parent_id: parent.thread.id,
    user_id: parent.thread.user_id,
    tags: [`name:${name}`],
    child: linkOf(order, agent),
    child_status: order.message === null ? "idle" : "running",
    arguments: given === null || isEmpty(given) ? null : host.sealing.seal(JSON.stringify(given), id),
  };
}

function linkOf({ relationship, side, name, requestId, spawnGroup }: ChildOrder, agent: Agent): ChildLink {
  const { as, description, blocking, resumable, receivesMessages, parentCommunication } = relationship;
  return {
    agent: agent.slug,
    relationship: as,
    side,
    title: agent.title,
    description,
    blocking,
    resumable,
    receives_messages: receivesMessages,
    parent_communication: parentCommunication,
    thread_name: name,
    spawn_group: spawnGroup,
    request_id: requestId,
  };
}
