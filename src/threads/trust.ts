// Who may do what in a thread, as its runs are told: the principal behind every call, who judges capabilities, and which
// decisions were made once and for all.
import type { Stores } from "../backend/stores.ts";
import { snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { type ApprovalMemory, nullApprovalMemory } from "../contracts/trust/approval-memory.ts";
import { can } from "../contracts/trust/authorization.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import type { RunOptions } from "../loop/options.ts";
import type { Remembered } from "../loop/records.ts";
import type { Authority } from "../trust/authority.ts";
import { isGenuine } from "../trust/remembered-mac.ts";
import type { Trust } from "../trust/trust.ts";
import type { Cast } from "./cast/cast.ts";
import { asksItself, policyVersion } from "./requests/terms.ts";
import type { Sealing } from "./secrets/sealing.ts";
import type { Subject } from "./subject.ts";

type Lent = {
  readonly trust: Trust;
  readonly sealing: Pick<Sealing, "bind">;
  readonly stores: Pick<Stores, "approvalMemory">;
};

type Acting = { readonly subject: Subject };

/** What a run of the thread is configured with; what the agent itself says about it comes first. */
export function trustOf(host: Lent, { subject }: Acting, cast: Cast, own: RunOptions): Partial<RunOptions> {
  const { principal, workspace } = subject;
  const memory = own.approvalMemory ?? rememberedFor(host, subject, cast);
  return {
    principal: principal as UnknownMap,
    ...(workspace && { workspace }),
    ...(memory && { approvalMemory: memory }),
    ...judging(host.trust.authority, principal, own),
  };
}

/** Who judges capabilities: the agent's own word, if it has one. That a token was revoked is not for an agent to overrule. */
function judging(
  authority: Authority,
  principal: Principal,
  { authorize, holdsCapability }: RunOptions,
): Pick<RunOptions, "authorize" | "holdsCapability"> {
  if (!authorize && !holdsCapability) return { authorize: authorizeWith(authority) };
  if (principal.token_id === null) return {};
  const unlessRevoked =
    <Asked extends readonly unknown[]>(judge: (...asked: Asked) => boolean | PromiseLike<boolean>) =>
    async (...asked: Asked) =>
      !(await authority.isRevoked(principal)) && (await judge(...asked));
  return {
    ...(authorize && { authorize: unlessRevoked(authorize) }),
    ...(holdsCapability && { holdsCapability: unlessRevoked(holdsCapability) }),
  };
}

/**
 * Whether whom a thread acts for has a capability, as the tools of its agent are told. Whoever fails to tell says no.
 */
export async function holdsCapability(
  { trust }: Pick<Lent, "trust">,
  { principal }: Subject,
  own: RunOptions,
  capability: string,
): Promise<boolean> {
  const { authorize, holdsCapability: holds = () => false } = { ...own, ...judging(trust.authority, principal, own) };
  const asked = [snapshotMap(principal), capability, snapshotMap(own.context)] as const;
  try {
    return (await (authorize ? authorize(...asked) : can(...asked, holds))) === true;
  } catch {
    return false;
  }
}

function authorizeWith(authority: Authority): NonNullable<RunOptions["authorize"]> {
  return (principal, capability, context) => authority.allows(principals.fromArray(principal), capability, context);
}

/**
 * Only what asks for approval can have been decided before: nothing else is looked up. It is looked up for whom the thread
 * acts for, whatever an agent says of itself, and holds under the rules under which it was given, if it was we who wrote it.
 */
function rememberedFor(
  { stores, sealing }: Lent,
  { principal, workspace }: Subject,
  cast: Cast,
): ApprovalMemory | undefined {
  const { agent, tools, others } = cast;
  const asking = new Map([...others, ...tools].filter(([, tool]) => asksItself(tool)));
  if (asking.size === 0 || !workspace || principal.acting_user_id <= 0) return undefined;
  const of = { ...workspace, user_id: principal.acting_user_id, agent_id: agent.slug };
  return {
    ...nullApprovalMemory,
    async recall({ tool_name }) {
      const tool = asking.get(tool_name);
      const known = tool && (await stores.approvalMemory.recall({ ...of, tool_name }));
      const isCurrent = known?.policy_version === null || known?.policy_version === policyVersion(agent, tool);
      if (!known || !isCurrent || !isGenuine(sealing.bind, known)) return null;
      const { policy, request_id, decided_by, policy_version } = known;
      const by = decided_by === null ? null : JSON.parse(decided_by);
      return { policy, remembered: { request_id, by, policy_version } satisfies Remembered };
    },
  };
}
