// The operations on access to agents: may I use this one, and which may I use? They answer for whoever asks, and tell
// nothing about anybody else.
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { scalarText } from "../contracts/coerce.ts";
import { asMap, emptyMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { isRole } from "../contracts/trust/access-grant.ts";
import { type AccessHost, canAccessAgent } from "../contracts/trust/agent-access.ts";
import { currentPrincipal, type SessionHost } from "../contracts/trust/current-principal.ts";
import type { Principal } from "../contracts/trust/principal.ts";

/** An agent as those see it who may use it. */
export type AccessibleAgent = {
  readonly slug: string;
  readonly label: string;
  readonly description: string;
  readonly meta: JsonMap;
};

/** Who asks, who decides, and which agents there are. */
export type AgentAccessHost = AccessHost &
  SessionHost & {
    readonly agents: () => readonly {
      readonly slug: string;
      readonly label?: string | undefined;
      readonly description?: string | undefined;
      readonly meta?: unknown;
    }[];
  };

type AccessAnswer = { readonly allowed: boolean; readonly agent: string; readonly minimum_role: string };

/** Whether whoever asks may use the agent, in at least the role that is asked for. */
export async function canAccess(
  input: unknown,
  host: AgentAccessHost,
  context: UnknownMap = {},
): Promise<AccessAnswer> {
  const given = asMap(input) ?? emptyMap;
  const agent = agentSlug(given.agent);
  const minimum_role = roleOf(given);
  const acting = agent === "" ? null : await principalOf(given, context, host);
  const allowed = acting !== null && (await canAccessAgent(acting, agent, minimum_role, {}, host));
  return { allowed, agent, minimum_role };
}

/** The agents that whoever asks may use in at least the role that is asked for, in the order they were registered. */
export async function listAgents(
  input: unknown,
  host: AgentAccessHost,
  context: UnknownMap = {},
): Promise<{ readonly agents: readonly AccessibleAgent[] }> {
  const given = asMap(input) ?? emptyMap;
  const minimumRole = roleOf(given);
  const acting = isRole(minimumRole) ? await principalOf(given, context, host) : null;
  if (acting === null) return { agents: [] };
  const agents = new Map<string, AccessibleAgent>();
  for (const { slug, label, description, meta } of host.agents()) {
    if (agents.has(slug) || !(await canAccessAgent(acting, slug, minimumRole, {}, host))) continue;
    agents.set(slug, { slug, label: label ?? slug, description: description ?? "", meta: snapshotMap(meta) });
  }
  return { agents: [...agents.values()] };
}

/** Who asks is known from the context, which is the host's; the input can only say where and through which client. */
function principalOf(
  { workspace_id, client_id }: UnknownMap,
  { principal }: UnknownMap,
  host: SessionHost,
): Promise<Principal | null> {
  return currentPrincipal({ principal, request_context: "rest", workspace_id, client_id }, host);
}

function roleOf({ minimum_role }: UnknownMap): string {
  return minimum_role == null ? "viewer" : (scalarText(minimum_role) ?? "");
}
