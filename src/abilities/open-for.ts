// Opening a thread for whoever calls. It acts for the caller, whoever that is, and where the caller may be: what is
// remembered in a workspace, and who decides there, is for those who were let in.
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { holdfastError } from "../contracts/error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import type { Workspace } from "../contracts/workspace.ts";
import * as workspaces from "../contracts/workspace.ts";
import { USUAL_WORKSPACE } from "../memory/memory-subject.ts";
import type { OpenOptions } from "../threads/open-thread.ts";
import { agentWorkspace } from "../threads/subject.ts";
import type { ThreadHandle } from "../threads/thread.ts";
import type { ThreadName } from "./caller-key.ts";
import { agentNotFound, type Workbench } from "./reach.ts";

/** As `threads.open` has it, without what follows from who calls. */
export type Opening = Pick<OpenOptions, "agent" | "tags" | "env" | "budget" | "workspace">;

/** Throws `agent_not_found`, `workspace_forbidden`, and what `threads.open` throws. */
export async function openFor(
  workbench: Workbench,
  name: ThreadName,
  { workspace: named, ...opening }: Opening,
  principal: Principal,
): Promise<ThreadHandle> {
  const { runtime, reach } = workbench;
  const { agent } = opening;
  const isGranted = named !== undefined && (await isGrantedIn(workbench, named, agent, principal));
  if (!isGranted && !(await reach.agent(agent, principal))) throw agentNotFound(agent);
  const workspace = await workspaceFor(workbench, { agent, ...(named && { workspace: named }) }, principal);
  const own = await reach.threadKey(name, principal);
  return await runtime.threads.open(own, { ...opening, ...(await subjectFor(workbench, own, workspace, principal)) });
}

/** For whom and where the thread of a key is that the caller opens, for the first time or again. */
export async function subjectFor(
  workbench: Workbench,
  key: string,
  workspace: Workspace | undefined,
  principal: Principal,
): Promise<Pick<OpenOptions, "principal" | "workspace">> {
  const known = await knownTo(workbench, key, workspace, principal);
  return (
    known ?? {
      principal: await actingFor(workbench.runtime, principal, workbench.reach.managesThreads),
      ...(workspace && { workspace }),
    }
  );
}

/**
 * Whom a thread or a run acts for that the caller begins. The token of a caller who manages them stands for its user, with its ceiling:
 * an owner who types commands decides what he may decide, and not alone what takes two.
 */
export async function actingFor(
  { authority }: Pick<Workbench["runtime"], "authority">,
  principal: Principal,
  manages: (principal: Principal) => Promise<boolean>,
): Promise<Principal> {
  const isToken = principal.auth_source === "agent_token";
  if (!isToken || !(await manages(principal))) return principal;
  const user = principals.fromArray({ ...principal, auth_source: "user", token_id: null });
  // Unless a token may do less than its user because it is one.
  const limits = await authority.limits(user);
  return (await authority.limits(principal)).isSubsetOf(limits) ? user : principal;
}

/**
 * Where a thread is that the caller opens: where he was let in, or, if that is nowhere in particular, where the agent
 * itself is (undefined), or where he was granted it. Whoever manages threads may be anywhere. Throws `workspace_forbidden`.
 */
export async function workspaceFor(
  workbench: Pick<Workbench, "runtime" | "reach">,
  { agent, workspace: given }: Pick<Opening, "agent" | "workspace">,
  principal: Principal,
): Promise<Workspace | undefined> {
  const { workspace_id: own } = principal;
  const { workspace_type } = USUAL_WORKSPACE;
  if (given === undefined) return own === null ? undefined : { workspace_type, workspace_id: own };
  const named = workspaces.normalize(given);
  const { workspace_id } = named;
  if (own === workspace_id) return named;
  const definition = workbench.runtime.agents.get(agent);
  // Where it acts also when nobody names a place.
  const usual = (definition && agentWorkspace(definition)) ?? USUAL_WORKSPACE;
  const isTheirs =
    own === null &&
    (isSamePlace(usual, named) ||
      (await isGrantedIn(workbench, named, agent, principal)) ||
      (await workbench.reach.managesThreads(principal)));
  if (isTheirs) return named;
  throw holdfastError("workspace_forbidden", `The caller was not let in for the workspace "${workspace_id}".`);
}

export function isSamePlace(one: Workspace | null | undefined, other: Workspace): boolean {
  return one?.workspace_type === other.workspace_type && one.workspace_id === other.workspace_id;
}

/** True when somebody who comes without a workspace was granted the agent in this one. */
async function isGrantedIn(
  { runtime: { grants } }: Pick<Workbench, "runtime">,
  named: NonNullable<Opening["workspace"]>,
  agent: string,
  principal: Principal,
): Promise<boolean> {
  if (principal.workspace_id !== null) return false;
  const { workspace_id } = workspaces.normalize(named);
  return await grants.hasGrant({ ...principal, workspace_id }, agentSlug(agent), "operator");
}

/**
 * Whom the thread of a key acts for that whoever manages threads opens again: it is within his reach, whoever opened it
 * first, and stays whose it is.
 */
async function knownTo(
  { runtime: { threads }, reach }: Workbench,
  key: string,
  workspace: Workspace | undefined,
  principal: Principal,
): Promise<Pick<OpenOptions, "principal" | "workspace"> | undefined> {
  const known = (await reach.managesThreads(principal)) ? await threads.find(key) : undefined;
  if (!known || !(await reach.has(known.id, principal))) return undefined;
  const acting = await threads.subject(known.id);
  if (workspace && !isSamePlace(acting.workspace, workspace)) return undefined;
  return { principal: acting.principal, ...(acting.workspace && { workspace: acting.workspace }) };
}
