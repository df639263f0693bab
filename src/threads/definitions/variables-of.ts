// The variables of an agent: what its prompts, those that they use and include, and all of their tools need.
import { declaredName } from "../../contracts/standard/names.ts";
import type { Agent } from "../agent.ts";
import type { Tool } from "../tool.ts";
import type { Lookups } from "./check-references.ts";
import type { Prompt } from "./prompt.ts";
import { mergedVariables, type Variable } from "./variable.ts";

type Known = Lookups & {
  readonly prompts: ReadonlyMap<string, Prompt>;
  readonly tools: ReadonlyMap<string, Tool>;
};

export function variablesOf(agent: Agent, registry: Known): readonly Variable[] {
  const prompts = new Set<Prompt>();
  const tools = new Set<Tool>();
  for (const side of ["a", "b"] as const) {
    const prompt = registry.promptOf(agent, side);
    if (prompt) prompts.add(prompt);
  }
  // What is added while a set is gone through is gone through as well.
  for (const prompt of prompts) {
    for (const entry of registry.entriesOf(prompt)) {
      if (entry.kind === "tool") tools.add(entry.tool);
      if (entry.kind === "prompt") prompts.add(entry.prompt);
    }
    for (const part of prompt.parts) {
      const included = part.type === "include" ? registry.prompts.get(part.prompt) : undefined;
      if (included) prompts.add(included);
    }
  }
  const byDeclaredName = new Map([...registry.tools.values()].map((tool) => [tool.name, tool]));
  for (const tool of tools) {
    for (const name of tool.uses ?? []) {
      const used = byDeclaredName.get(declaredName(name));
      if (used) tools.add(used);
    }
  }
  const declared = [...prompts, ...tools].flatMap(({ variables }) => variables);
  return mergedVariables(declared);
}
