// What is within a caller's reach: their own threads, everybody's for whoever manages them, and to look on those of agents
// they administer. Whoever was let in for one workspace reaches nothing outside of it. What is not within reach is not there:
// nobody is told of the threads of others, not even that they exist.
import type { SubjectQuery } from "../backend/subject-store.ts";
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Runtime } from "../threads/runtime.ts";
import type { ThreadHandle } from "../threads/thread.ts";
import { threadNotFound } from "../threads/thread-errors.ts";
import type { ThreadView } from "../threads/thread-view.ts";
import { actsWithMore, isHere, isOwn, placeOf, scopeFor, withoutOwner } from "./belongs-to.ts";
import { callerKey, madeKey, placeKey, type ThreadName } from "./caller-key.ts";
import { type Capability, capabilities } from "./capabilities.ts";
import { runOnce } from "./once.ts";
import { type Allows, operationsFor } from "./operation.ts";
import { createRunReach, type RunReach } from "./run-reach.ts";

/** What operations are built with. */
export type Workbench = {
  readonly runtime: Runtime;
  readonly define: ReturnType<typeof operationsFor>;
  readonly reach: Reach;
};

/**
 * What somebody wants of a thread. `read`: to look, or to stop it. `answer`: to answer what it waits for. `act`: to have it
 * do something. `talk`: the same for whom the caller has asked already whether they may use its agent.
 */
export type Need = "read" | "answer" | "act" | "talk";

export interface Reach extends RunReach {
  /**
   * Throws `thread_not_found` for a thread that is not the caller's to reach. Unless it is only to be read, it has to be the
   * caller's own, or the caller has to manage threads: whoever administers its agent is refused with `ability_forbidden`, who
   * may not use the agent any more with `agent_not_found`, and whom the thread could do more for than he may with
   * `thread_acts_with_more`. `act` unless given.
   */
  thread(id: string, principal: Principal, need?: Need): Promise<ThreadHandle>;
  /** The same thread as it was when that was decided, for who wants no more than to know how it stands. */
  view(id: string, principal: Principal, need?: Need): Promise<ThreadView>;
  has(id: string, principal: Principal, need?: Need): Promise<boolean>;
  /** True when the thread acts for who calls. Throws `thread_not_found` for one that there is not. */
  owns(id: string, principal: Principal): Promise<boolean>;
  /** True for whoever reaches the threads of everybody, where he is. */
  managesThreads(principal: Principal): Promise<boolean>;
  /** True when the caller may talk with the agent. */
  agent(slug: string, principal: Principal): Promise<boolean>;
  /** What narrows the lists that the caller is shown; nothing does for who manages all threads. Throws `thread_owner_missing`. */
  scope(principal: Principal): Promise<SubjectQuery>;
  /** The key under which a thread of the caller is kept: two callers never meet under the same one. */
  threadKey(name: ThreadName, principal: Principal): Promise<string>;
}

/** Why a thread is not there for somebody, or not for that. */
const refusals: ReadonlySet<string> = new Set([
  ...["thread_not_found", "ability_forbidden", "agent_not_found", "thread_acts_with_more"],
]);

export function createWorkbench(runtime: Runtime): Workbench {
  const { authority, grants, threads } = runtime;

  const allows: Allows = (principal, capability: Capability) => {
    const isOwn = capabilities[capability].has === "own";
    return isOwn ? authority.within(principal, capability) : authority.allows(principal, capability);
  };

  const managesThreads = (principal: Principal) => allows(principal, "threads.manage");
  const runReach = createRunReach(runtime, allows);

  async function agent(slug: string, principal: Principal): Promise<boolean> {
    if (!runtime.agents.has(slug)) return false;
    if (await managesThreads(principal)) return true;
    return await grants.canAccess(principal, agentSlug(slug), "operator");
  }

  /** Whether the caller may use whom a thread is with: of a child, whom its user talks with and who had it do its work. */
  async function mayUseAgentOf(found: ThreadView, who: Principal) {
    const { subject } = found;
    const { agent: speaks, origin_agent } = await found.topmost();
    const workspace_id = who.workspace_id ?? placeOf(subject);
    // One that was handed over is still the one that its user was let in to.
    for (const slug of new Set([speaks, origin_agent])) {
      if (await agent(slug, who)) return true;
      if (await grants.hasGrant({ ...who, workspace_id }, agentSlug(slug), "operator")) return true;
    }
    return false;
  }

  async function view(id: string, principal: Principal, need: Need = "act"): Promise<ThreadView> {
    const found = await threads.view(id);
    const { thread } = found;
    if (!isHere(found, principal)) throw threadNotFound(id);
    const isOwner = isOwn(found, principal);
    if (!isOwner && !(await managesThreads(principal))) {
      if (!(await authority.hasRole(principal, thread.agent, "admin"))) throw threadNotFound(id);
      if (need !== "read") throw onlyRead(id);
    }
    if (need === "read") return found;
    const { subject } = found;
    if (isOwner && need !== "talk" && !(await mayUseAgentOf(found, principal))) {
      throw agentNotFound(thread.agent);
    }
    // To answer for others what their threads wait for takes no more than to be let to.
    const steers = isOwner || need !== "answer";
    if (steers && (await actsWithMore(authority, subject, principal, isOwner))) throw moreThanTheirs(id);
    return found;
  }

  return {
    runtime,
    define: operationsFor(allows, (write, execute) => runOnce(runtime.outcomes, write, execute)),
    reach: {
      ...runReach,
      view,
      thread: async (id, principal, need) => (await view(id, principal, need)).handle,
      async has(id, principal, need) {
        try {
          await view(id, principal, need);
          return true;
        } catch (thrown) {
          if (thrown instanceof HoldfastError && refusals.has(thrown.code)) return false;
          throw thrown;
        }
      },
      owns: async (id, principal) => isOwn(await threads.view(id), principal),
      managesThreads,
      agent,
      scope: async (principal) => scopeFor(principal, await managesThreads(principal)),
      async threadKey(name, principal) {
        const { key } = name;
        const place = placeKey(principal);
        const caller = callerKey(principal);
        const manages = await managesThreads(principal);
        if (caller === null && !manages) throw withoutOwner();
        if (key === undefined) return madeKey(name, principal);
        if (manages) return place === "" ? key : `${place}/${key}`;
        return `${caller}${place}/${key}`;
      },
    },
  };
}

/** That an agent is not there, or not for the caller: nobody is told which. */
export function agentNotFound(slug: string): HoldfastError {
  return holdfastError("agent_not_found", `There is no agent "${slug}" that the caller may use.`);
}

function onlyRead(id: string): HoldfastError {
  const detail = `Thread "${id}" is somebody else's: the role admin of its agent lets one read and stop it, no more.`;
  return holdfastError("ability_forbidden", detail);
}

function moreThanTheirs(id: string): HoldfastError {
  return holdfastError("thread_acts_with_more", `Thread "${id}" may do what the caller may not.`);
}
