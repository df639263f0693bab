// Who acts in a step: an agent, one of its sides, the prompt that speaks for it, and what that may call.
import type { Agent } from "../agent.ts";
import type { Prompt, PromptUse, ResolvedEntry } from "../definitions/prompt.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { SideDefinition } from "../definitions/side.ts";
import type { Side } from "../state/thread-state.ts";
import type { Tool } from "../tool.ts";

export type Cast = {
  readonly agent: Agent;
  readonly side: Side;
  readonly definition: SideDefinition;
  readonly prompt: Prompt;
  /** By the names under which they are declared: tools, prompts, agents and those that come with subagents. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Those that only calls of code may use, likewise. */
  readonly others: ReadonlyMap<string, Tool>;
  /** Those of the tools that are prompts, and how they are used. */
  readonly prompts: ReadonlyMap<string, { readonly prompt: Prompt; readonly uses: PromptUse }>;
  /** What stands beside those of the tools that are functions: values for them alone. */
  readonly entries: ReadonlyMap<string, Extract<ResolvedEntry, { kind: "tool" }>>;
  /** By the name under which each is created. */
  readonly relationships: ReadonlyMap<string, Relationship>;
};

/** Whatever a call may stand for, by the name under which it is declared. */
export function toolOf({ tools, others }: Pick<Cast, "tools" | "others">, name: string): Tool | undefined {
  return tools.get(name) ?? others.get(name);
}
