// Whether somebody may use an agent: it is his own, or he, or an audience he belongs to, was granted it.
import { identifier, trimmed, truthy } from "../coerce.ts";
import { isMap, type UnknownMap } from "../json.ts";
import { isRole, type PrincipalAccessStore, roleMeets } from "./access-grant.ts";
import * as principal from "./principal.ts";

/** Everybody, known or not. */
export const PUBLIC_AUDIENCE = "audience:public";

/** What a check asks of a store: grants of users, and of principals where the store knows more than users. */
export type AccessLookup = Pick<PrincipalAccessStore, "getAccess"> &
  Partial<Pick<PrincipalAccessStore, "getAccessForPrincipal">>;

/** Which audiences a principal belongs to, given those that are known without the host. */
export type AudiencesOf = (
  audiences: readonly string[],
  acting: principal.Principal,
  context: UnknownMap,
) => readonly unknown[] | Promise<readonly unknown[]>;

/** Who decides about access. What any of these throws is thrown on. */
export type AccessHost = {
  /** Without a store everybody has his own agent and no other. */
  readonly store?: AccessLookup | null | undefined;
  readonly audiencesOf?: AudiencesOf | undefined;
  /** Has the last word; only true lets in. */
  readonly decideAccess?:
    | ((
        allowed: boolean,
        acting: principal.Principal,
        agentId: string,
        minimumRole: string,
        context: UnknownMap,
      ) => boolean | Promise<boolean>)
    | undefined;
};

/**
 * True when the principal may use the agent in at least this role. A context may bring a store of its own as
 * `access_store`, and with a falsy `include_public_audience` what everybody was granted does not count.
 */
export async function canAccessAgent(
  acting: principal.Principal,
  agentId: string,
  minimumRole: string = "viewer",
  context: UnknownMap = {},
  host: AccessHost = {},
): Promise<boolean> {
  const isOwn = acting.effective_agent_id === agentId && trimmed(agentId) !== undefined && isRole(minimumRole);
  const allowed = isOwn || (await hasGrant(acting, agentId, minimumRole, context, host));
  if (!host.decideAccess) return allowed;
  return (await host.decideAccess(allowed, acting, agentId, minimumRole, context)) === true;
}

/** Whose grants count for a principal: its own, then those of each audience it belongs to, the public one included. */
export async function principalsFor(
  acting: principal.Principal,
  context: UnknownMap = {},
  audiencesOf: AudiencesOf = (audiences) => audiences,
): Promise<readonly principal.Principal[]> {
  const { include_public_audience } = context;
  const own = acting.audience_id === null ? [] : [acting.audience_id];
  if (include_public_audience === undefined || truthy(include_public_audience)) own.push(PUBLIC_AUDIENCE);
  const given = await audiencesOf(own, acting, context);
  const audiences = new Set((Array.isArray(given) ? given : own).flatMap((audience) => identifier(audience) ?? []));
  const { effective_agent_id, request_context, request_metadata, workspace_id, client_id, audience_claims } = acting;
  const scope = { request_context, request_metadata, workspace_id, client_id, audience_claims };
  return [acting, ...[...audiences].map((audience) => principal.audience(audience, effective_agent_id, scope))];
}

/**
 * True when the principal, or an audience it belongs to, was granted the agent in at least this role. That it is its own
 * agent says nothing here: everybody whom an agent serves comes with it as his own.
 */
export async function hasGrant(
  acting: principal.Principal,
  agentId: string,
  minimumRole: string,
  context: UnknownMap = {},
  { store: usual, audiencesOf }: Pick<AccessHost, "store" | "audiencesOf"> = {},
): Promise<boolean> {
  if (trimmed(agentId) === undefined || !isRole(minimumRole)) return false;
  const store = isLookup(context.access_store) ? context.access_store : usual;
  if (!store) return false;
  const { acting_user_id, workspace_id } = acting;
  if (acting_user_id > 0) {
    const grant = await store.getAccess(agentId, acting_user_id, workspace_id);
    if (grant && roleMeets(grant.role, minimumRole)) return true;
  }
  if (!store.getAccessForPrincipal) return false;
  for (const candidate of await principalsFor(acting, context, audiencesOf)) {
    const grant = await store.getAccessForPrincipal(agentId, candidate, workspace_id);
    if (grant && roleMeets(grant.role, minimumRole)) return true;
  }
  return false;
}

function isLookup(value: unknown): value is AccessLookup {
  return isMap(value) && typeof value.getAccess === "function";
}
