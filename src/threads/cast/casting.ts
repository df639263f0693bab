// Casts: for an agent, a side of it and the prompt that speaks, everything that may be called. Made once, kept with the host.
import { holdfastError } from "../../contracts/error.ts";
import type { Agent } from "../agent.ts";
import type { Prompt, PromptUse, ResolvedEntry } from "../definitions/prompt.ts";
import type { Registry } from "../definitions/registry.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";
import type { Side } from "../state/thread-state.ts";
import { subagentTools } from "../subagents/subagent-tools.ts";
import type { Tool } from "../tool.ts";
import type { Cast } from "./cast.ts";
import { handoffTool } from "./handoff.ts";
import { promptTool } from "./prompt-tool.ts";

const made = new WeakMap<Host, Map<string, Cast>>();

/** `spoken`: the name of the prompt that speaks for a call of the side; the side's own prompt unless given. */
export function castOf(host: Host, agent: Agent, side: Side, spoken?: string): Cast {
  const known = made.get(host) ?? new Map<string, Cast>();
  made.set(host, known);
  const key = `${agent.slug} ${side} ${spoken ?? ""}`;
  const found = known.get(key);
  if (found) return found;
  const cast = makeCast(host, agent, side, spoken);
  known.set(key, cast);
  return cast;
}

function makeCast(host: Host, agent: Agent, side: Side, spoken: string | undefined): Cast {
  const { registry } = host;
  const prompt = spoken === undefined ? registry.promptOf(agent, side) : registry.prompts.get(spoken);
  if (!prompt) {
    const name = spoken === undefined ? `side ${side} of "${agent.slug}"` : `"${spoken}"`;
    throw holdfastError("invalid_definition", `There is no prompt that speaks for ${name}.`);
  }
  const entries = registry.entriesOf(prompt);
  // A prompt that speaks for a call starts nothing that outlives it.
  const children = spoken === undefined ? registry.relationshipsOf(agent, side) : [];
  const tools = toolsOf(host, { agent, side, entries, children });
  return {
    agent,
    side,
    prompt,
    definition: agent.sides[side],
    tools,
    others: agent.style === "standard" ? othersThan(registry, tools) : new Map(),
    prompts: promptsAmong(entries),
    entries: new Map(entries.flatMap((entry) => (entry.kind === "tool" ? [[entry.tool.name, entry] as const] : []))),
    relationships: new Map(children.map((relationship) => [relationship.as, relationship])),
  };
}

/** Code may use every tool that was listed, whether or not a prompt offers it. */
function othersThan({ tools: listed }: Registry, tools: ReadonlyMap<string, Tool>): ReadonlyMap<string, Tool> {
  return new Map([...listed.values()].filter(({ name }) => !tools.has(name)).map((each) => [each.name, each]));
}

type Callable = {
  readonly agent: Agent;
  readonly side: Side;
  readonly entries: readonly ResolvedEntry[];
  readonly children: readonly Relationship[];
};

function toolsOf(host: Host, { agent, side, entries, children }: Callable): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const add = (tool: Tool) => tools.set(tool.name, tool);
  for (const entry of entries) {
    if (entry.kind === "tool") add(entry.tool);
    else if (entry.kind === "prompt") add(promptTool(entry.prompt));
    else if (entry.kind === "handoff") add(handoffTool(host, entry));
  }
  if (children.length > 0) for (const each of subagentTools(host, { agent, side, relationships: children })) add(each);
  return tools;
}

function promptsAmong(entries: readonly ResolvedEntry[]): Cast["prompts"] {
  const prompts = new Map<string, { readonly prompt: Prompt; readonly uses: PromptUse }>();
  for (const entry of entries) {
    if (entry.kind === "prompt") prompts.set(promptTool(entry.prompt).name, { prompt: entry.prompt, uses: entry.uses });
  }
  return prompts;
}
