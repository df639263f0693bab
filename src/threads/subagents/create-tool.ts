// The tool with which a model creates children that stay: it names one of the subagents that its side may have.
import type { JsonMap } from "../../contracts/json.ts";
import { readCreateArguments } from "../../contracts/standard/create-arguments.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";
import { type Tool, tool } from "../tool.ts";
import { callScope } from "./call-scope.ts";
import { createChild } from "./create-child.ts";
import { refusal } from "./refusal.ts";
import { toldSchema } from "./told-schema.ts";

export const CREATE = "subagent_create";

/** Those that are hidden can be created too, by code, though nobody is told of them. */
export function createTool(host: Host, relationships: readonly Relationship[]): Tool {
  const offered = relationships.filter(({ hidden }) => !hidden);
  return tool({
    name: CREATE,
    description: `Creates a subagent with its own conversation. ${lines(offered)}`,
    inputSchema: toldSchema(schemaOf(host, offered)),
    idempotent: true,
    repeatable: true,
    async execute(input, context) {
      const read = readCreateArguments(input);
      if (!read.ok) return refusal(read.error, "invalid_arguments");
      return await createChild(callScope(context), { ...read.value, candidates: relationships, toolName: CREATE });
    },
  });
}

function lines(offered: readonly Relationship[]): string {
  return `Available:\n${offered.map(({ as, description }) => `- ${as}: ${description}`).join("\n")}`;
}

function schemaOf(host: Host, offered: readonly Relationship[]): JsonMap {
  return {
    type: "object",
    required: ["agent", "message", "attachments", "name"],
    properties: {
      agent: {
        type: "string",
        ...(offered.length > 0 && { enum: offered.map(({ as }) => as) }),
        description: "Which subagent to create.",
      },
      message: { type: "string", description: "What it is to do, with everything it has to know." },
      attachments: {
        type: "array",
        items: { type: "string" },
        description: "Paths of your files that it gets a copy of, such as /attachments/report.pdf; [] for none.",
      },
      name: { type: "string", description: "A short name by which you will know it again." },
      arguments: argumentsSchema(host, offered),
    },
  };
}

/** What the only subagent takes; with several of them the model has to look up the one it chose. */
function argumentsSchema(host: Host, offered: readonly Relationship[]): JsonMap {
  const schemas = offered.flatMap((relationship) => {
    const json = argumentsOf(host, relationship);
    return json ? [[relationship.as, json] as const] : [];
  });
  const [only] = schemas;
  if (offered.length === 1 && only) return only[1];
  const told = schemas.map(([as, json]) => `${as}: ${JSON.stringify(json)}`).join("\n");
  const description =
    schemas.length === 0 ? "Arguments, where a subagent takes some." : `Arguments, as JSON Schema:\n${told}`;
  return { type: "object", description };
}

/** What a subagent is called with: what the prompt of its first side asks for. */
export function argumentsOf({ registry }: Host, { agent }: Relationship): JsonMap | undefined {
  const target = registry.agents.get(agent);
  return target && registry.promptOf(target, "a")?.requiredSchema?.json;
}
