// The operations on access to agents, for whoever calls: may I use this one, and which may I use?
import { z } from "zod";
import { isRole, roles } from "../contracts/trust/access-grant.ts";
import { type AgentAccessHost, canAccess, listAgents } from "./access.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Door, Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { anyId, jsonMap } from "./shapes.ts";

const scope = {
  minimum_role: z.enum(roles).default("viewer"),
  workspace_id: anyId.nullable().optional(),
  client_id: anyId.nullable().optional(),
};

const doors: readonly Door[] = ["http", "cli", "mcp"];

export function accessOperations({ runtime: { agents, grants }, define, reach }: Workbench): readonly Operation[] {
  const host: AgentAccessHost = {
    agents: () => [...agents.values()].map(({ slug, title, description }) => ({ slug, label: title, description })),
    async decideAccess(_, acting, agent, role) {
      if (await grants.canAccess(acting, agent, role)) return true;
      return agents.has(agent) && isRole(role) && (await reach.managesThreads(acting));
    },
  };

  return [
    define({
      name: "agents/can-access-agent",
      title: "See whether an agent may be used",
      description: "Tells whether whoever asks may use an agent in a role.",
      input: lenientInput(z.object({ agent: anyId.meta({ description: "The slug of the agent." }), ...scope })),
      output: z.object({ allowed: z.boolean(), agent: z.string(), minimum_role: z.string() }),
      effect: "read",
      capability: "agents.read",
      doors,
      route: { method: "get", path: "/agents/{agent}/access" },
      execute: (input, { principal }) => canAccess(input, host, { principal }),
    }),

    define({
      name: "agents/list-accessible-agents",
      title: "List the agents that may be used",
      description: "Lists the agents that whoever asks may use in a role.",
      input: lenientInput(z.object(scope)),
      output: z.object({
        agents: z.array(z.object({ slug: z.string(), label: z.string(), description: z.string(), meta: jsonMap })),
      }),
      effect: "read",
      capability: "agents.read",
      doors,
      route: { method: "get", path: "/agents/accessible" },
      execute: async (input, { principal }) => plain(await listAgents(input, host, { principal })),
    }),
  ];
}
