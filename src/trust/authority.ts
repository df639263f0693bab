// Whether a principal may do something here: its own ceiling, that of the client it came through and that of the context
// narrow each other, and every user behind them has to hold the capability.
import type { UnknownMap } from "../contracts/json.ts";
import type { AgentRole } from "../contracts/trust/access-grant.ts";
import { can, type HoldsCapability } from "../contracts/trust/authorization.ts";
import { resolveCeiling } from "../contracts/trust/autonomous-policy.ts";
import type { Principal } from "../contracts/trust/principal.ts";

/** A host's own answers. Whatever throws is a no. */
export type AuthorityOptions = {
  /** Which user holds which capability; nobody holds any unless given. */
  readonly holdsCapability?: HoldsCapability;
  /** Decides in place of ceilings and users. */
  readonly authorize?: (
    principal: Principal,
    capability: string,
    context: UnknownMap,
  ) => boolean | PromiseLike<boolean>;
  /** The ceiling of a client, whatever its token says. */
  readonly clientCeiling?: (clientId: string) => unknown;
  /** Denies what changes content to whoever acts on nobody's behalf and was given no ceiling; off unless given. */
  readonly safeAutonomy?: boolean;
};

export interface Authority {
  allows(principal: Principal, capability: string, context?: UnknownMap): Promise<boolean>;
  /** True when the principal was granted at least this role for the agent. */
  hasRole(principal: Principal, agent: string, role: AgentRole): Promise<boolean>;
}

export function createAuthority(
  { holdsCapability = () => false, authorize, clientCeiling, safeAutonomy = false }: AuthorityOptions,
  hasGrant: (principal: Principal, agent: string, role: AgentRole) => Promise<boolean>,
): Authority {
  async function ceilingsAllow(principal: Principal, capability: string, context: UnknownMap): Promise<boolean> {
    const { client_id } = principal;
    const ofClient = client_id === null ? null : await clientCeiling?.(client_id);
    const contexts = ofClient == null ? [context] : [context, { capability_ceiling: ofClient }];
    for (const held of safeAutonomy ? [principal, ...carefully(principal)] : [principal]) {
      for (const within of contexts) if (!(await can(held, capability, within, holdsCapability))) return false;
    }
    return true;
  }

  return {
    async allows(principal, capability, context = {}) {
      try {
        if (authorize) return (await authorize(principal, capability, context)) === true;
        return await ceilingsAllow(principal, capability, context);
      } catch {
        return false;
      }
    },
    async hasRole(principal, agent, role) {
      try {
        return await hasGrant(principal, agent, role);
      } catch {
        return false;
      }
    },
  };
}

/** The principal under the careful default, beside its own ceiling: that may be another user's, and never gives way. */
function carefully(principal: Principal): readonly Principal[] {
  const capability_ceiling = resolveCeiling(principal, { enabled: true });
  return capability_ceiling === principal.capability_ceiling ? [] : [{ ...principal, capability_ceiling }];
}
