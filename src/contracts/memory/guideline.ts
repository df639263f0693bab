// Guidelines: memory that one person keeps in a workspace, and guidance that the workspace shares. Whose a record is
// says its scope, and no rank among people opens another's private memory.
import { userId } from "../trust/user-id.ts";

/** The kinds of guidelines with their display titles. */
export const guidelineTypes: Readonly<Record<string, string>> = Object.freeze({
  artifact: "Artifact",
  content: "Content",
});

/** The kind of a guideline that names none. */
export const DEFAULT_GUIDELINE_TYPE = "artifact";

export const PRIVATE_MEMORY = "private_user_workspace_memory";
export const SHARED_GUIDANCE = "workspace_shared_guidance";

export type GuidelineScope = typeof PRIVATE_MEMORY | typeof SHARED_GUIDANCE;

/** The record type and the vocabulary of its kinds, as the contract calls them. */
export const GUIDELINE = "wp_guideline";
const GUIDELINE_TYPE = "wp_guideline_type";

/** What nobody holds. */
export const NOBODY = "do_not_allow";

/** The record that somebody wants to do something with. */
export type CapabilityTarget = {
  readonly type: string;
  readonly scope?: string | null;
  /** Whose private memory it is. */
  readonly user_id?: number | string | null;
};

/** What these take does not depend on a record. */
const needs: ReadonlyMap<string, string> = new Map([
  ["read_agent_memory", "read"],
  ["edit_agent_memory", "edit_posts"],
  ["read_workspace_guidelines", "edit_posts"],
  ["edit_workspace_guidelines", "publish_posts"],
]);

/** What these take of the owner of a private memory; of others, and for anything else, they take what nobody holds. */
const ownerNeeds: ReadonlyMap<string, string> = new Map([
  ["read_private_agent_memory", "read"],
  ["edit_private_agent_memory", "edit_posts"],
  ["promote_agent_memory", "promote_agent_memory"],
]);

/** What can be done with any record, and what it takes when the record is a guideline. */
const recordNeeds: ReadonlyMap<string, { readonly owner: string; readonly shared: string }> = new Map([
  ["read_post", { owner: "read", shared: "read_workspace_guidelines" }],
  ["edit_post", { owner: "edit_posts", shared: "edit_workspace_guidelines" }],
  ["delete_post", { owner: "edit_posts", shared: "edit_workspace_guidelines" }],
]);

/**
 * The capabilities of the host that a user needs for a capability over a guideline; what it does not concern is
 * `proposed`, as the host has it. User 0 owns what names no owner: whoever asks keeps anonymous users out.
 */
export function mapCapability(
  capability: string,
  user: number,
  {
    target = null,
    proposed = [],
  }: { readonly target?: CapabilityTarget | null; readonly proposed?: readonly string[] },
): readonly string[] {
  const need = needs.get(capability);
  if (need !== undefined) return [need];
  const isGuideline = target?.type === GUIDELINE;
  const isPrivate = isGuideline && target.scope === PRIVATE_MEMORY;
  const isOwner = isPrivate && userId(target.user_id) === userId(user);
  const ownerNeed = ownerNeeds.get(capability);
  if (ownerNeed !== undefined) return [isOwner ? ownerNeed : NOBODY];
  const record = recordNeeds.get(capability);
  if (record === undefined || !isGuideline) return proposed;
  if (!isPrivate) return [record.shared];
  return [isOwner ? record.owner : NOBODY];
}

/** A kind with its display title, unless somebody has given it a name of its own. */
export function termLabel<Term extends { readonly name: string; readonly slug: string }>(
  term: Term,
  taxonomy: string,
  titles: Readonly<Record<string, string>> = guidelineTypes,
): Term {
  if (taxonomy !== GUIDELINE_TYPE || term.name !== term.slug || !Object.hasOwn(titles, term.slug)) return term;
  return { ...term, name: titles[term.slug] ?? term.name };
}
