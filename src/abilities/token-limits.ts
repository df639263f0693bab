// What a token may be made with: never more than whoever makes it has himself, in what it may do, for whom, where, and for
// how long. Whoever could make more would have more.
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { TokenOptions } from "../trust/tokens.ts";
import { type Capability, capabilities } from "./capabilities.ts";
import type { Workbench } from "./reach.ts";

/** What somebody wants; the user is the caller's unless named. */
export type WantedToken = Omit<TokenOptions, "owner_user_id" | "expires_at" | "by_grant"> & {
  readonly owner_user_id?: number;
  readonly expires_at?: string | null;
};

const names = Object.keys(capabilities) as readonly Capability[];
const ownNames = names.filter((name) => capabilities[name].has === "own");
const heldNames = names.filter((name) => capabilities[name].has === "held");

/** The token that may be made in place of the one that is wanted. Throws `ability_forbidden` where that is none. */
export async function limitedToken(
  workbench: Pick<Workbench, "runtime" | "reach">,
  wanted: WantedToken,
  principal: Principal,
): Promise<TokenOptions> {
  const owner_user_id = wanted.owner_user_id ?? principal.acting_user_id;
  const isForOther = owner_user_id !== principal.acting_user_id;
  if (isForOther && !(await actsForOthers(workbench, principal))) {
    throw refused(`only who may do everything makes tokens for user ${owner_user_id}`);
  }
  await checkAgent(workbench, wanted.agent, principal);
  return {
    ...wanted,
    owner_user_id,
    by_grant: await restsOnGrant(workbench, wanted.agent, principal),
    allowed_capabilities: await capabilitiesFor(workbench, wanted, principal, isForOther),
    expires_at: await expiryFor(workbench, wanted, principal),
    client_id: await sameAs(workbench, "client_id", wanted, principal),
    workspace_id: await sameAs(workbench, "workspace_id", wanted, principal),
  };
}

/** True for whoever holds everything that there is to be held here: nobody else may act as another user. */
export async function actsForOthers(
  { runtime: { authority } }: Pick<Workbench, "runtime">,
  principal: Principal,
): Promise<boolean> {
  for (const name of heldNames) if (!(await authority.allows(principal, name))) return false;
  return true;
}

/** Acting as an agent is being let in to it. One that is nobody yet is for who manages everything to name. */
async function checkAgent(
  { reach, runtime }: Pick<Workbench, "runtime" | "reach">,
  agent: string,
  principal: Principal,
) {
  if (agent === principal.effective_agent_id || (await reach.agent(agent, principal))) return;
  if (!runtime.agents.has(agent) && (await reach.managesThreads(principal))) return;
  throw refused(`the caller may not use the agent "${agent}" himself`);
}

/** Whoever may use an agent by a grant alone cannot make a token that outlives it, nor one that comes of such a token. */
async function restsOnGrant(
  { reach, runtime }: Pick<Workbench, "runtime" | "reach">,
  agent: string,
  principal: Principal,
): Promise<boolean> {
  if (await reach.managesThreads(principal)) return false;
  if (agent !== principal.effective_agent_id) return true;
  const { token_id } = principal;
  return token_id !== null && ((await runtime.tokens.get(token_id))?.by_grant ?? false);
}

async function capabilitiesFor(
  { runtime: { authority } }: Pick<Workbench, "runtime">,
  { allowed_capabilities: wanted = null }: WantedToken,
  principal: Principal,
  isForOther: boolean,
): Promise<readonly string[] | null> {
  if (wanted === null) return isForOther ? await within(authority, ownNames, principal) : ceilingOf(principal);
  for (const name of wanted) {
    // What everybody has for himself is no more than the caller has; what another user holds may be.
    const mustHold = isForOther && !ownNames.some((own) => own === name);
    const has = mustHold ? await authority.allows(principal, name) : await authority.within(principal, name);
    if (!has) throw refused(`the caller lacks the capability ${name} himself`);
  }
  return wanted;
}

async function within(
  authority: Workbench["runtime"]["authority"],
  asked: readonly string[],
  principal: Principal,
): Promise<readonly string[]> {
  const passed: string[] = [];
  for (const name of asked) if (await authority.within(principal, name)) passed.push(name);
  return passed;
}

/** The caller's own list, for a token that is to have none. A list of what is denied cannot be handed on. */
function ceilingOf({ capability_ceiling: ceiling }: Principal): readonly string[] | null {
  const { allowed_capabilities = null, denied_capabilities = null } = ceiling ?? {};
  if (denied_capabilities === null || denied_capabilities.length === 0) return allowed_capabilities;
  if (allowed_capabilities) return allowed_capabilities.filter((name) => !denied_capabilities.includes(name));
  throw refused("the caller is denied capabilities, so those of the token have to be named");
}

/** No later than that of the caller's own token. */
async function expiryFor(
  { runtime: { tokens } }: Pick<Workbench, "runtime">,
  { expires_at: wanted = null }: WantedToken,
  { token_id }: Principal,
): Promise<string | null> {
  const own = token_id === null ? null : ((await tokens.get(token_id))?.expires_at ?? null);
  if (own === null || wanted === null) return wanted ?? own;
  if (Date.parse(wanted) > Date.parse(own)) throw refused(`the caller's own token expires at ${own}`);
  return wanted;
}

/**
 * Whoever was let in through one client, or for one workspace, lets nobody in elsewhere. What waits for a client is for whoever
 * comes as it, and what is in a workspace for whoever was given the agent there: others name neither.
 */
async function sameAs(
  workbench: Pick<Workbench, "runtime">,
  field: "client_id" | "workspace_id",
  wanted: WantedToken,
  principal: Principal,
): Promise<string | null> {
  const own = principal[field];
  const given = wanted[field] ?? own;
  if (given === own) return given;
  if (own !== null) throw refused(`the caller was let in for another ${field} than "${given}"`);
  const { authority } = workbench.runtime;
  const isGranted =
    field === "workspace_id" &&
    (await authority.hasRole({ ...principal, workspace_id: given }, wanted.agent, "operator"));
  if (isGranted || (await actsForOthers(workbench, principal))) return given;
  throw refused(`the caller was let in for no ${field} "${given}"`);
}

function refused(why: string): HoldfastError {
  return holdfastError("ability_forbidden", `A token is never more than who makes it: ${why}.`);
}
