// Which agent a run belongs to, when several places might say so.
import { stringList, wholeNumber } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, type JsonMap, snapshotMap } from "../json.ts";
import { agentSlug } from "./agent-slug.ts";

/** The slugs of the agents that a user owns. */
export type AgentsOf = (owner: number) => readonly string[];

/**
 * The slug of the agent: the one that was asked for, the one the principal acts as, the one that was stored with the
 * session, or the only one its owner has; `""` when nobody says. An owner with several agents and no other hint throws
 * `invalid_effective_agent_resolution`.
 */
export function resolve(context: unknown, agentsOf?: AgentsOf): string {
  const given = snapshotMap(context);
  const names = [
    given.agent_slug,
    given.effective_agent_id,
    asMap(given.principal)?.effective_agent_id,
    given.persisted_agent_slug,
    given.persisted_effective_agent_id,
  ];
  return firstSlug(names) ?? onlyAgentOfOwner(given, agentsOf);
}

function firstSlug(names: readonly unknown[]): string | undefined {
  for (const name of names) {
    const slug = agentSlug(name);
    if (slug !== "") return slug;
  }
  return undefined;
}

function onlyAgentOfOwner({ owner_user_id, owner_agent_slugs }: JsonMap, agentsOf: AgentsOf | undefined): string {
  const owner = wholeNumber(owner_user_id, 0);
  if (!owner) return "";
  const slugs = new Set(stringList(owner_agent_slugs ?? agentsOf?.(owner)).map(agentSlug));
  slugs.delete("");
  if (slugs.size > 1) {
    throw holdfastError("invalid_effective_agent_resolution", `the owner ${owner} has several agents`);
  }
  return [...slugs][0] ?? "";
}
