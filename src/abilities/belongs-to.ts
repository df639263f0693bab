// Whom a thread or a run of a workflow belongs to, and where: what decides who reaches it.
import type { SubjectQuery } from "../backend/subject-store.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { conversationOwner } from "../contracts/trust/conversation-owner.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { isSamePerson, principalIdentity } from "../contracts/trust/principal-identity.ts";
import type { Runtime } from "../threads/runtime.ts";
import type { Subject } from "../threads/subject.ts";

/** As much of a thread or a run as decides that. */
export type Belonging = { readonly subject: Subject; readonly owner: Subject["owner"] };

/** The id of the workspace that a thread belongs to: its own, else that of whom it acts for. */
export function placeOf({ workspace, principal }: Subject): string | null {
  return workspace?.workspace_id ?? principal.workspace_id;
}

/** A caller who was let in for one workspace sees nothing of another, whatever he may do in his own. */
export function isHere({ subject }: Belonging, { workspace_id }: Principal): boolean {
  return workspace_id === null || placeOf(subject) === workspace_id;
}

/** True when it acts for who calls: a user's token is not its user, and a visitor not one of another audience. */
export function isOwn(found: Belonging, principal: Principal): boolean {
  const { owner } = found;
  const { audience_id } = principal;
  const caller = conversationOwner(principal);
  if (owner === null || owner.type !== caller?.type || owner.key !== caller.key) return false;
  return audience_id === null || audience_id === found.subject.principal.audience_id;
}

/** True when it might do for the caller what the caller may not: a ceiling holds in every thread and every run. */
export async function actsWithMore(
  authority: Runtime["authority"],
  { principal: acting }: Subject,
  caller: Principal,
  isOwner: boolean,
): Promise<boolean> {
  if (principalIdentity(acting) === principalIdentity(caller)) return false;
  // An owner that a host states may stand for several people.
  if (isOwner && !isSamePerson(acting, caller)) return true;
  try {
    return !(await authority.limits(caller)).isSubsetOf(await authority.limits(acting));
  } catch {
    return true;
  }
}

/** What narrows the lists that the caller is shown: to where he is, and to what is his unless he manages them. */
export function scopeFor(principal: Principal, manages: boolean): SubjectQuery {
  const { workspace_id, audience_id } = principal;
  const workspace = workspace_id === null ? {} : { workspace: workspace_id };
  if (manages) return workspace;
  const owner = conversationOwner(principal);
  if (!owner) throw withoutOwner();
  return { owner: { ...owner, ...(audience_id !== null && { audience: audience_id }) }, ...workspace };
}

export function withoutOwner(): HoldfastError {
  return holdfastError("thread_owner_missing", "Nothing tells this caller from others like it.");
}
