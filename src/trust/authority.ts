// Whether a principal may do something here: its own ceiling, that of the client it came through and that of the context
// narrow each other, and every user behind them has to hold the capability.
import { sortedText } from "../contracts/canonical-json.ts";
import type { UnknownMap } from "../contracts/json.ts";
import type { AgentRole } from "../contracts/trust/access-grant.ts";
import { can, type HoldsCapability } from "../contracts/trust/authorization.ts";
import { resolveCeiling } from "../contracts/trust/autonomous-policy.ts";
import { allows, fromArray } from "../contracts/trust/capability-ceiling.ts";
import type { Principal } from "../contracts/trust/principal.ts";

/** A host's own answers. Whatever throws is a no. */
export type AuthorityOptions = {
  /** Users who hold every capability; nobody unless given. */
  readonly administrators?: readonly number[];
  /** Which other user holds which capability; none holds any unless given. */
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
  /** True when whoever it is came with a token that was revoked since: then everything is refused that is asked here. */
  isRevoked(principal: Principal): Promise<boolean>;
  allows(principal: Principal, capability: string, context?: UnknownMap): Promise<boolean>;
  /** True when no ceiling on the way refuses it, whoever holds it. */
  within(principal: Principal, capability: string): Promise<boolean>;
  /**
   * What narrows a principal, each limit in a text that can be compared: its own ceiling, that of its client, and
   * the careful one. Where the
   * host decides in place of ceilings, its client, of which nobody here knows what that means. Throws what the host throws.
   */
  limits(principal: Principal): Promise<ReadonlySet<string>>;
  /** True when the principal was granted at least this role for the agent. */
  hasRole(principal: Principal, agent: string, role: AgentRole): Promise<boolean>;
}

export function createAuthority(
  options: AuthorityOptions,
  hasGrant: (principal: Principal, agent: string, role: AgentRole) => Promise<boolean>,
  /** Asked each time: a thread may outlive the token that it was opened through. */
  isRevoked: (principal: Principal) => Promise<boolean> = async () => false,
): Authority {
  const { authorize, clientCeiling, safeAutonomy = false } = options;
  const holds = holdsCapability(options);

  async function ceilingsAllow(principal: Principal, capability: string, context: UnknownMap): Promise<boolean> {
    const { client_id } = principal;
    const ofClient = client_id === null ? null : await clientCeiling?.(client_id);
    const contexts = ofClient == null ? [context] : [context, { capability_ceiling: ofClient }];
    for (const held of safeAutonomy ? [principal, ...carefully(principal)] : [principal]) {
      for (const within of contexts) if (!(await can(held, capability, within, holds))) return false;
    }
    return true;
  }

  return {
    isRevoked,
    async allows(principal, capability, context = {}) {
      try {
        if (await isRevoked(principal)) return false;
        if (authorize) return (await authorize(principal, capability, context)) === true;
        return await ceilingsAllow(principal, capability, context);
      } catch {
        return false;
      }
    },
    async within(principal, capability) {
      try {
        if (await isRevoked(principal)) return false;
        if (authorize) return (await authorize(principal, capability, {})) === true;
        const ofClient = principal.client_id === null ? null : await clientCeiling?.(principal.client_id);
        return [principal.capability_ceiling, ofClient]
          .filter((ceiling) => ceiling != null)
          .every((ceiling) => allows(fromArray(ceiling), capability));
      } catch {
        return false;
      }
    },
    async limits(principal) {
      const { client_id } = principal;
      const ofClient = client_id === null ? null : await clientCeiling?.(client_id);
      const held = safeAutonomy ? [principal, ...carefully(principal)] : [principal];
      const own = held.map(({ capability_ceiling }) => capability_ceiling);
      const ceilings = [...own, ofClient].filter((ceiling) => ceiling != null);
      const texts = ceilings.map((ceiling) => sortedText(fromArray(ceiling)));
      return new Set(authorize && client_id !== null ? [...texts, `client ${client_id}`] : texts);
    },
    async hasRole(principal, agent, role) {
      try {
        return !(await isRevoked(principal)) && (await hasGrant(principal, agent, role));
      } catch {
        return false;
      }
    },
  };
}

/** Whether a user holds a capability, as an administrator or by the host's word. */
export function holdsCapability({ administrators = [], holdsCapability: held }: AuthorityOptions): HoldsCapability {
  return (user, capability, about) => administrators.includes(user) || (held?.(user, capability, about) ?? false);
}

/** The principal under the careful default, beside its own ceiling: that may be another user's, and never gives way. */
function carefully(principal: Principal): readonly Principal[] {
  const capability_ceiling = resolveCeiling(principal, { enabled: true });
  return capability_ceiling === principal.capability_ceiling ? [] : [{ ...principal, capability_ceiling }];
}
