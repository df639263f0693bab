// The operations on access to agents: may I use this one, and which may I use? They answer for whoever asks, and tell
// nothing about anybody else.
import type { Ability } from "../contracts/abilities/ability.ts";
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { scalarText } from "../contracts/coerce.ts";
import { asMap, emptyMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { isRole, roles } from "../contracts/trust/access-grant.ts";
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
    /** Has the last word on whether the question may be asked at all; only true lets it be. */
    readonly permission?: ((allowed: boolean, input: JsonMap) => boolean | Promise<boolean>) | undefined;
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

/** Both as abilities that can be registered; whoever has a principal may ask. */
export function accessAbilities(host: AgentAccessHost): readonly [can: Ability, list: Ability] {
  const permission = async (input: JsonMap, context: JsonMap): Promise<boolean> => {
    const allowed = (await principalOf(input, context, host)) !== null;
    return host.permission ? (await host.permission(allowed, input)) === true : allowed;
  };
  return [
    { ...canAccessAbility, permission, execute: (input, context) => canAccess(input, host, context) },
    { ...listAgentsAbility, permission, execute: (input, context) => listAgents(input, host, context) },
  ];
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

const scope = {
  minimum_role: { type: "string", enum: roles, default: "viewer" },
  workspace_id: { type: ["string", "null"] },
  client_id: { type: ["string", "null"] },
};

const annotations = { readonly: true, destructive: false, idempotent: true };

const canAccessAbility = {
  name: "agents/can-access-agent",
  label: "See whether an agent may be used",
  description: "Tells whether whoever asks may use an agent in a role.",
  category: "agents-api",
  inputSchema: {
    type: "object",
    required: ["agent"],
    properties: { agent: { type: "string", description: "The slug of the agent." }, ...scope },
  },
  outputSchema: {
    type: "object",
    required: ["allowed", "agent", "minimum_role"],
    properties: { allowed: { type: "boolean" }, agent: { type: "string" }, minimum_role: { type: "string" } },
  },
  annotations,
};

const listAgentsAbility = {
  name: "agents/list-accessible-agents",
  label: "List the agents that may be used",
  description: "Lists the agents that whoever asks may use in a role.",
  category: "agents-api",
  inputSchema: { type: "object", properties: scope },
  outputSchema: {
    type: "object",
    required: ["agents"],
    properties: { agents: { type: "array", items: { type: "object", required: ["slug", "label"] } } },
  },
  annotations,
};
