// Opens the thread of a key: the same one every time. What a new one comes with is written in the same transaction.
import type { StoredSubject } from "../backend/subject-store.ts";
import type { Thread } from "../backend/thread-rows.ts";
import type { VariableType, Write } from "../backend/write.ts";
import { firstHash } from "../contracts/audit/chain.ts";
import { holdfastError } from "../contracts/error.ts";
import * as principals from "../contracts/trust/principal.ts";
import { principalIdentity } from "../contracts/trust/principal-identity.ts";
import type { Agent } from "./agent.ts";
import { checkFields, checkName, checkThreadKey } from "./check-arguments.ts";
import { isToldOfBirth } from "./hooks/is-told-of-birth.ts";
import type { Host } from "./host.ts";
import { createEntry, readMessage } from "./new-entry.ts";
import { STATE_VERSION } from "./state-version.ts";
import { immediateChildren } from "./subagents/immediate.ts";
import { namesSubject, newSubject, type SubjectOptions } from "./subject.ts";
import type { MessageInput } from "./tool.ts";

export type OpenOptions = SubjectOptions & {
  readonly agent: string;
  /** The name of a budget that its calls to models draw on, together with those of other threads. */
  readonly budget?: string;
  /** Whom it belongs to: values and variables of that user are within its reach. */
  readonly user?: string;
  readonly tags?: readonly string[];
  /** Variables of a new thread; secret unless they are said to be text, here or where the agent declares them. */
  readonly env?: Readonly<Record<string, string | { readonly value: string; readonly type: VariableType }>>;
  /** What a new thread begins with. It acts on them when the last one is a user's and not silent. */
  readonly messages?: readonly (string | MessageInput)[];
};

const FIELDS = ["agent", "budget", "user", "tags", "env", "messages", "principal", "workspace", "context", "consent"];

/** Throws `agent_not_found`, and `thread_key_taken` when the key belongs to another agent or draws on another budget. */
export async function openThread(host: Host, key: string, options: OpenOptions): Promise<Thread> {
  checkFields("options", options, FIELDS);
  const agent = agentNamed(host, options.agent);
  checkThreadKey(key);
  const { budget, tags = [] } = options;
  const subject = newSubject(agent, options);
  const own = userOf(subject);
  const user = options.user ?? own;
  if (own !== undefined && user !== own) {
    throw holdfastError("invalid_argument", `user is "${String(user)}", and the principal acts for "${own}".`);
  }
  if (!Array.isArray(tags)) throw holdfastError("invalid_argument", "tags must be a list of names.");
  for (const tag of tags) checkName("tags", tag);
  if (budget !== undefined) await checkBudget(host, budget);
  if (user !== undefined) checkName("user", user);
  const id = crypto.randomUUID();
  const opened = {
    ...{ id, key, agent: agent.slug, budget: budget ?? null, state_version: STATE_VERSION, hash: firstHash(id) },
    ...{ parent_id: null, user_id: user ?? null, tags, child: null, child_status: null, arguments: null, subject },
  };
  const writes = await comesWith(host, agent, opened, options);
  await host.onCrashPoint("before open");
  const { thread } = await host.stores.threads.open(opened, writes);
  await host.onCrashPoint("after open");
  // Handed over to another agent it is still the one that was opened with this.
  if (thread.origin_agent !== agent.slug && thread.agent !== agent.slug) {
    throw holdfastError("thread_key_taken", `The key "${key}" belongs to a thread of "${thread.agent}".`);
  }
  if (user !== undefined && thread.user_id !== user) {
    throw holdfastError("thread_key_taken", `The thread "${key}" belongs to another user.`);
  }
  if (namesSubject(options) && !isSame(await host.stores.subjects.get(thread.id), subject)) {
    throw holdfastError("thread_key_taken", `The thread "${key}" acts for somebody else.`);
  }
  if (budget !== undefined && thread.budget !== budget) {
    const drawn = thread.budget === null ? "on no shared budget" : `on the budget "${thread.budget}"`;
    throw holdfastError("thread_key_taken", `The thread "${key}" draws ${drawn}.`);
  }
  return thread;
}

/** Values and variables of a user are found by the number, where the principal has one. */
function userOf({ principal }: StoredSubject): string | undefined {
  const { acting_user_id } = principals.fromArray(JSON.parse(principal));
  return acting_user_id > 0 ? String(acting_user_id) : undefined;
}

/**
 * What a request brings along differs from one to the next; whose thread it is must not, nor how much that may do: whoever
 * comes with less would have the thread do more for him.
 */
function isSame(known: StoredSubject | undefined, asked: StoredSubject): boolean {
  if (!known) return false;
  const fields = ["owner_type", "owner_key", "workspace_type", "workspace_id"] as const;
  return fields.every((field) => known[field] === asked[field]) && identityOf(known) === identityOf(asked);
}

function identityOf({ principal }: StoredSubject): string {
  return principalIdentity(principals.fromArray(JSON.parse(principal)));
}

function agentNamed({ agents }: Host, slug: string): Agent {
  const agent = agents.get(slug);
  if (agent) return agent;
  const known = [...agents.keys()].join(", ") || "none";
  throw holdfastError("agent_not_found", `There is no agent "${String(slug)}"; there is ${known}.`);
}

async function checkBudget({ stores }: Host, name: string): Promise<void> {
  checkName("budget", name);
  if (!(await stores.budgets.get(name))) throw holdfastError("budget_not_found", `There is no budget "${name}".`);
}

type Opened = Pick<Thread, "id" | "parent_id" | "budget" | "user_id">;

async function comesWith(host: Host, agent: Agent, opened: Opened, options: OpenOptions): Promise<readonly Write[]> {
  const { id } = opened;
  const declared = new Map(host.registry.variablesOf(agent).map(({ name, type }) => [name, type]));
  const variables = Object.entries(options.env ?? {}).map(([name, given]): Write => {
    const { value, type } = typeof given === "string" ? { value: given, type: declared.get(name) ?? "secret" } : given;
    checkName("env", name);
    return { write: "variable", thread_id: id, name, sealed: host.sealing.seal(value, id), type, inherited: false };
  });
  const entries = [
    ...(isToldOfBirth(host, agent) ? [createEntry.born()] : []),
    ...firstEntries(options.messages ?? []),
  ];
  const writes = [...variables, ...entries.map((entry): Write => ({ write: "entry", thread_id: id, entry }))];
  return [...writes, ...(await immediateChildren(host, { thread: opened, agent, run: 0, isNew: true, writes }))];
}

function firstEntries(messages: NonNullable<OpenOptions["messages"]>) {
  const last = messages.at(-1);
  const { role = "", metadata } = last === undefined ? {} : readMessage(last);
  const isActedOn = role === "user" && metadata?.silent !== true;
  return messages.map((each, index) => {
    const key = `first ${index}`;
    const isAsking = isActedOn && index === messages.length - 1;
    return isAsking ? createEntry.queuedMessage(each, { key }) : createEntry.injected(each, { key });
  });
}
