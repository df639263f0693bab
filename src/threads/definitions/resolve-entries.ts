// What the entries of a prompt stand for: each name is looked up once, in a fixed order.
import type { UnknownMap } from "../../contracts/json.ts";
import { declaredName, isForeignName, isPlainName, isReservedName } from "../../contracts/standard/names.ts";
import { aliasesOf, providerSafeName } from "../../contracts/tools/declaration.ts";
import type { Agent } from "../agent.ts";
import type { Catalogue } from "./catalogue.ts";
import { readInit } from "./init.ts";
import type { Prompt, ResolvedEntry, ToolEntry } from "./prompt.ts";
import { relationshipOfEntry } from "./relationship.ts";
import { promptUse, strayField, toolEntry } from "./tool-entry.ts";

export type Resolved = {
  readonly entries: readonly ResolvedEntry[];
  /** What is wrong, and what is only odd, in words that begin with the field. */
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
};

/** `children`: the names of the subagents that the sides of this prompt have anyway. */
export function resolveEntries(prompt: Prompt, catalogue: Catalogue, children: ReadonlySet<string>): Resolved {
  const entries: ResolvedEntry[] = [];
  const mistakes: string[] = [];
  const warnings: string[] = [];
  const called = new Map<string, string>();
  for (const [index, entry] of prompt.tools.entries()) {
    const field = `tools[${index}]`;
    const found = entry.kind === "named" ? lookUp(entry, catalogue, children) : entry;
    if ("mistake" in found) mistakes.push(`${field} ${found.mistake}`);
    else if ("warning" in found) warnings.push(`${field} ${found.warning}`);
    if (!("kind" in found)) continue;
    const stray = entry.kind === "named" ? strayField(entry.given, found.kind) : undefined;
    if (stray !== undefined) warnings.push(`${field}.${stray} says nothing to ${whatIs[found.kind]}`);
    const name = calledBy(found);
    const other = name === undefined ? undefined : called.get(name);
    if (other !== undefined) mistakes.push(`${field} is called ${name} by models, as is ${other}`);
    if (name !== undefined) called.set(name, field);
    entries.push(found);
  }
  return { entries: Object.freeze(entries), mistakes, warnings };
}

/** What a subagent has to be, in words that go on from where it is named; undefined when it is. */
export function subagentProblem(name: string, agent: Agent | undefined): string | undefined {
  if (!agent) return `names ${name}, which is no agent`;
  if (!agent.isDual) return `names ${agent.slug} as a subagent, but one of its sides is not a prompt's`;
  return agent.exposeAsTool ? undefined : `names ${agent.slug} as a subagent, which is not exposed: set exposeAsTool`;
}

export function agentNamed(name: string, { agents }: Pick<Catalogue, "agents">): Agent | undefined {
  return agents.get(name) ?? [...agents.values()].find(({ title }) => title === name);
}

const whatIs = { tool: "a tool", prompt: "a prompt", handoff: "an agent that takes over", subagent: "a subagent" };

type Found = ResolvedEntry | { readonly mistake: string } | { readonly warning: string } | { readonly known: true };

function lookUp(
  entry: Extract<ToolEntry, { kind: "named" }>,
  catalogue: Catalogue,
  children: ReadonlySet<string>,
): Found {
  const { name, given } = entry;
  if (isForeignName(name)) return { warning: `names ${name}: tools that others run are not offered` };
  if (isReservedName(name)) return { warning: `names ${name}, which is there by itself where there are subagents` };
  const tool = catalogue.toolsAsDeclared.get(declaredName(name));
  if (tool === null)
    return { mistake: `names ${name}, of which prompts have different ones: list the one that is meant` };
  if (tool) return toolEntry(tool, given);
  const prompt = catalogue.prompts.get(name);
  if (prompt) return { kind: "prompt", prompt, uses: promptUse(given) };
  const agent = agentNamed(name, catalogue);
  // Other agents may use the same prompt without having that child on their side: for them the entry has to stay.
  if (children.has(name) && subagentProblem(name, agent) !== undefined) return { known: true };
  if (!agent) return { mistake: `names ${name}, which is no tool, prompt or agent` };
  if (!isPlainName(agent.slug))
    return { mistake: `names ${agent.slug}, which no model can call: it begins with a digit` };
  return agent.isDual || isForSubagents(given) ? subagent(agent, given) : handoff(agent, given);
}

function subagent(agent: Agent, given: UnknownMap): Found {
  const mistake = subagentProblem(agent.slug, agent);
  if (mistake !== undefined) return { mistake };
  return { kind: "subagent", relationship: relationshipOfEntry(agent.slug, given, agent.toolDescription) };
}

function handoff(agent: Agent, given: UnknownMap): Found {
  return Object.freeze({ kind: "handoff", agent: agent.slug, init: readInit(given) });
}

/** Settings that only mean something for a child. */
function isForSubagents(given: UnknownMap): boolean {
  return ["resumable", "immediate", "optional", "blocking"].some((field) => given[field] !== undefined);
}

/** Undefined for a child that is created and not called. */
function calledBy(entry: ResolvedEntry): string | undefined {
  if (entry.kind === "tool") return aliasesOf(entry.tool.declaration)[0];
  if (entry.kind === "prompt") return providerSafeName(entry.prompt.name);
  if (entry.kind === "handoff") return providerSafeName(entry.agent);
  return entry.relationship.resumable ? undefined : providerSafeName(entry.relationship.as);
}
