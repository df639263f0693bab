// The operations that tell which agents there are for a caller, and what those may call.
import { z } from "zod";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Agent } from "../threads/agent.ts";
import type { ToolEntry } from "../threads/definitions/prompt.ts";
import type { Tool } from "../threads/tool.ts";
import type { Door, Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap } from "./shapes.ts";

const doors: readonly Door[] = ["http", "cli", "mcp"];

const toolShape = z.object({
  name: z.string(),
  kind: z.enum(["tool", "prompt", "reference"]).meta({
    description: "reference: a tool, prompt or agent by its name alone, about which nothing else is told here.",
  }),
  description: z.string(),
  parameters: jsonMap.meta({ description: "JSON Schema." }),
  action_policy: z.string().nullable().meta({
    description:
      "What the tool itself declares, if it does: direct, preview or forbidden. Rules of the agent may say otherwise.",
  }),
  is_client: z.boolean().meta({ description: "True when the client runs it and submits the result." }),
});

const agentShape = z.object({
  slug: z.string(),
  title: z.string(),
  description: z.string(),
  is_primary: z.boolean().meta({ description: "False: not among those that people choose from." }),
  tools: z.array(toolShape),
});

type ShownTool = z.input<typeof toolShape>;

export function agentOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  async function usableBy(principal: Principal): Promise<readonly Agent[]> {
    const usable: Agent[] = [];
    for (const agent of runtime.agents.values()) if (await reach.agent(agent.slug, principal)) usable.push(agent);
    return usable;
  }

  return [
    define({
      name: "holdfast/list-agents",
      title: "List agents",
      description: "The agents that the caller may talk with, and what they may call.",
      input: z.object({}),
      output: z.object({ agents: z.array(agentShape) }),
      effect: "read",
      capability: "agents.read",
      doors,
      route: { method: "get", path: "/agents" },
      execute: async (_input, { principal }) => ({ agents: (await usableBy(principal)).map(shownAgent) }),
    }),

    define({
      name: "holdfast/list-tools",
      title: "List tools",
      description:
        "The tools of the agents that the caller may talk with, or of one of them. They are called on a thread.",
      input: z.object({ agent: id.optional().meta({ description: "The slug of an agent." }) }),
      output: z.object({ tools: z.array(toolShape.extend({ agent: z.string() })) }),
      effect: "read",
      capability: "agents.read",
      doors,
      route: { method: "get", path: "/tools" },
      async execute({ agent: slug }, { principal }) {
        const usable = await usableBy(principal);
        const wanted = usable.filter((each) => slug === undefined || each.slug === slug);
        if (slug !== undefined && wanted.length === 0) {
          throw holdfastError("agent_not_found", `There is no agent "${slug}" that the caller may use.`);
        }
        return { tools: wanted.flatMap((agent) => toolsOf(agent).map((tool) => ({ agent: agent.slug, ...tool }))) };
      },
    }),
  ];
}

/** Without its instructions: they are the host's. */
function shownAgent(agent: Agent): z.input<typeof agentShape> {
  const { slug, title, description, primary } = agent;
  return { slug, title, description, is_primary: primary, tools: [...toolsOf(agent)] };
}

/** What its prompts may call, by name. */
function toolsOf(agent: Agent): readonly ShownTool[] {
  const prompts = [agent.sides.a, agent.sides.b].flatMap(({ backing }) =>
    backing.kind === "prompt" && typeof backing.prompt !== "string" ? [backing.prompt] : [],
  );
  const shown = prompts.flatMap(({ tools }) => tools.map(shownEntry));
  return [...new Map(shown.map((tool) => [tool.name, tool])).values()];
}

function shownEntry(entry: ToolEntry): ShownTool {
  const nothing = { parameters: {}, action_policy: null, is_client: false };
  switch (entry.kind) {
    case "tool":
      return shownTool(entry.tool);
    case "prompt": {
      const { name, toolDescription, requiredSchema } = entry.prompt;
      const parameters = schemaOf(requiredSchema?.json);
      return { ...nothing, name, kind: "prompt", description: toolDescription, parameters };
    }
    case "named":
      return { ...nothing, name: entry.name, kind: "reference", description: "" };
  }
}

function shownTool({ name, declaration, execute }: Tool): ShownTool {
  const { description, parameters, action_policy } = declaration;
  return {
    ...{ name, kind: "tool", description, parameters: schemaOf(parameters), is_client: execute === undefined },
    action_policy: typeof action_policy === "string" ? action_policy : null,
  };
}

function schemaOf(schema: unknown): z.input<typeof jsonMap> {
  return isMap(schema) ? plain(schema) : {};
}
