// A subagent that does one thing and is gone: an ordinary tool under its own name.
import { readInitialPayload } from "../../contracts/standard/create-arguments.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";
import { type Tool, tool } from "../tool.ts";
import { callScope } from "./call-scope.ts";
import { createChild } from "./create-child.ts";
import { argumentsOf } from "./create-tool.ts";
import { refusal } from "./refusal.ts";
import { toldSchema } from "./told-schema.ts";

export function relationshipTool(host: Host, relationship: Relationship): Tool {
  const { as, description } = relationship;
  return tool({
    name: as,
    description: description || `Has the subagent ${as} do something.`,
    inputSchema: toldSchema(argumentsOf(host, relationship) ?? { type: "object" }),
    idempotent: true,
    repeatable: true,
    async execute(input, context) {
      const read = readInitialPayload(relationship, input);
      if (!read.ok) return refusal(read.error, "invalid_arguments");
      const wish = { agent: as, candidates: [relationship], arguments: input, toolName: as };
      return await createChild(callScope(context), { ...read.value, ...wish });
    },
  });
}
