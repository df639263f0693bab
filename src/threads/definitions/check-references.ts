// What definitions refer to: everything that has to be there is there, and nothing goes round in a circle.
import { isMap } from "../../contracts/json.ts";
import { declaredName, isReservedName } from "../../contracts/standard/names.ts";
import type { Side } from "../../contracts/standard/side.ts";
import type { Agent } from "../agent.ts";
import type { Catalogue, Mistake, Owner, Spoken } from "./catalogue.ts";
import { circles } from "./circles.ts";
import type { Prompt, ResolvedEntry } from "./prompt.ts";
import type { Relationship } from "./relationship.ts";
import { agentNamed, subagentProblem } from "./resolve-entries.ts";

export type Findings = { readonly mistakes: readonly Mistake[]; readonly warnings: readonly Mistake[] };

/** What names have been found to stand for. */
export interface Lookups {
  /** The prompt that speaks for a side; undefined when a person or code does. */
  promptOf(agent: Agent, side: Side): Prompt | undefined;
  entriesOf(prompt: Prompt): readonly ResolvedEntry[];
  /** The children that a side may have: those among its prompt's tools, and those of the side itself. */
  relationshipsOf(agent: Agent, side: Side): readonly Relationship[];
}

type Say = (detail: string) => void;

/** Every reference but those of entries, which are looked up by themselves. */
export function checkReferences(catalogue: Catalogue, registry: Lookups): Findings {
  const mistakes: Mistake[] = [];
  const warnings: Mistake[] = [];
  const about =
    (owner: Owner, list: Mistake[]): Say =>
    (detail) =>
      list.push({ ...owner, detail });
  for (const spoken of catalogue.spoken) {
    const { owner, prompt } = spoken;
    const prefix = owner.kind === "prompt" || spoken.isImplicit ? "" : `prompt ${prompt.name}: `;
    const say =
      (list: Mistake[]): Say =>
      (detail) =>
        about(owner, list)(`${prefix}${detail}`);
    checkPrompt(spoken, catalogue, say(mistakes), say(warnings));
  }
  for (const agent of catalogue.agents.values()) {
    const owner: Owner = { kind: "agent", name: agent.slug };
    checkAgent(agent, catalogue, registry, about(owner, mistakes), about(owner, warnings));
  }
  for (const { name, fallbacks, providerTools } of catalogue.models.values()) {
    const owner: Owner = { kind: "model", name };
    const unknown = fallbacks.find((each) => !catalogue.models.has(each));
    if (unknown !== undefined) about(owner, mistakes)(`fallbacks names ${unknown}, which is no model`);
    if (providerTools.length > 0) about(owner, warnings)("providerTools are not offered");
  }
  for (const [tool, owner] of catalogue.toolOwners) {
    const unknown = (tool.uses ?? []).find((name) => !isCallable(name, catalogue));
    if (unknown !== undefined) about(owner, mistakes)(`uses names ${unknown}, which is no tool, prompt or agent`);
  }
  return {
    mistakes: [...mistakes, ...circularPrompts(catalogue, registry), ...circularChildren(catalogue, registry)],
    warnings,
  };
}

function checkPrompt({ prompt, isImplicit }: Spoken, catalogue: Catalogue, wrong: Say, odd: Say): void {
  const hook = prompt.hooks.find((id) => !catalogue.hooks.has(id));
  if (hook !== undefined) wrong(`hooks names ${hook}, which is no hook`);
  const models = Array.isArray(prompt.model) ? prompt.model : [prompt.model];
  // What an agent itself names is told of by whoever looks for its model.
  const model = isImplicit ? undefined : models.find((each) => isUnknownModel(each, catalogue));
  if (model !== undefined) wrong(`model names ${String(model)}, which is no model, nor <provider>/<model>`);
  for (const part of prompt.parts) {
    if (part.type !== "include" || catalogue.prompts.has(part.prompt)) continue;
    odd(`prompt includes ${part.prompt}, which is no prompt`);
  }
}

function isUnknownModel(model: unknown, { models }: Catalogue): boolean {
  return typeof model === "string" && !model.includes("/") && model.trim() !== "demo" && !models.has(model.trim());
}

function checkAgent(agent: Agent, catalogue: Catalogue, registry: Lookups, wrong: Say, odd: Say): void {
  const hook = [...agent.hooks, ...agent.parentHooks.map((each) => each.hook)].find((id) => !catalogue.hooks.has(id));
  if (hook !== undefined) wrong(`hooks names ${hook}, which is no hook`);
  for (const side of ["a", "b"] as const) {
    const definition = agent.sides[side];
    const field = `side${side.toUpperCase()}`;
    const { backing } = definition;
    const prompt = registry.promptOf(agent, side);
    if (backing.kind === "prompt" && !prompt)
      wrong(`${field}.prompt names ${String(backing.prompt)}, which is no prompt`);
    for (const [index, { agent: name }] of definition.subagents.entries()) {
      const problem = subagentProblem(name, agentNamed(name, catalogue));
      if (problem !== undefined) wrong(`${field}.subagents[${index}] ${problem}`);
    }
    if (prompt) checkBindings(agent, side, registry.entriesOf(prompt), odd);
  }
}

/** A tool that is bound and not offered is called by nobody, unless code queues it. */
function checkBindings(agent: Agent, side: Side, entries: readonly ResolvedEntry[], odd: Say): void {
  const { stopTool, sessionStop, sessionFail, sessionStatus } = agent.sides[side];
  const offered = new Set(entries.map(nameOfEntry));
  const bound = {
    stopTool,
    sessionStop: sessionStop?.name,
    sessionFail: sessionFail?.name,
    sessionStatus: sessionStatus?.name,
  };
  for (const [field, name] of Object.entries(bound)) {
    if (name === undefined || offered.has(declaredName(name))) continue;
    odd(`side${side.toUpperCase()}.${field} names ${name}, which is not among its prompt's tools`);
  }
}

function nameOfEntry(entry: ResolvedEntry): string {
  if (entry.kind === "tool") return entry.tool.name;
  if (entry.kind === "prompt") return declaredName(entry.prompt.name);
  return declaredName(entry.kind === "handoff" ? entry.agent : entry.relationship.as);
}

function isCallable(name: string, catalogue: Catalogue): boolean {
  if (isReservedName(name) || catalogue.toolsAsDeclared.has(declaredName(name)) || catalogue.prompts.has(name))
    return true;
  const subagents = [...catalogue.agents.values()].flatMap(({ sides }) => [...sides.a.subagents, ...sides.b.subagents]);
  return agentNamed(name, catalogue) !== undefined || subagents.some(({ as }) => as === name);
}

/** A prompt that is used as a tool may use others, but not, by any way round, itself. */
function circularPrompts({ prompts, spoken }: Catalogue, registry: Lookups): readonly Mistake[] {
  const next = (name: string) => {
    const prompt = prompts.get(name);
    return (prompt ? registry.entriesOf(prompt) : []).flatMap((entry) =>
      entry.kind === "prompt" ? [entry.prompt.name] : [],
    );
  };
  return circles(prompts.keys(), next).map((circle) => {
    const owner = spoken.find(({ prompt }) => prompt.name === circle[0])?.owner ?? { kind: "prompt", name: circle[0] };
    return { ...owner, detail: `tools lead back to the prompt itself: ${circle.join(" → ")}` };
  });
}

/** Children that are created by themselves would create each other for ever. */
function circularChildren({ agents }: Catalogue, registry: Lookups): readonly Mistake[] {
  const next = (name: string) => {
    const agent = agents.get(name);
    if (!agent) return [];
    const children = [...registry.relationshipsOf(agent, "a"), ...registry.relationshipsOf(agent, "b")];
    return children.flatMap((child) => (isMap(child.immediate) ? [child.agent] : []));
  };
  return circles(agents.keys(), next).map((circle) => ({
    kind: "agent",
    name: circle[0],
    detail: `immediate subagents lead back to the agent itself: ${circle.join(" → ")}`,
  }));
}
