// Everything that was defined, gathered under its names: what was listed, and the prompts and tools that stand in others.

import { declaredName, isReservedName, isStandardName } from "../../contracts/standard/names.ts";
import { type Agent, agentsBySlug } from "../agent.ts";
import { isTool, type Tool } from "../tool.ts";
import { type EffectDefinition, isEffect } from "./effect.ts";
import { type HookDefinition, isHook } from "./hook.ts";
import { type DefinitionKind, invalidDefinition } from "./invalid-definition.ts";
import { isModel, type ModelDefinition } from "./model.ts";
import { isPrompt, type Prompt } from "./prompt.ts";

/** What is defined, kind by kind. */
export type Definitions = {
  readonly agents: readonly Agent[];
  readonly prompts: readonly Prompt[];
  readonly models: readonly ModelDefinition[];
  readonly tools: readonly Tool[];
  readonly hooks: readonly HookDefinition[];
  readonly effects: readonly EffectDefinition[];
};

/** The definition that something is said of. */
export type Owner = { readonly kind: DefinitionKind; readonly name: string };

/** What is wrong with a definition; its `detail` begins with the field. */
export type Mistake = Owner & { readonly detail: string };

/** A prompt, and the definition that has to be corrected when something is wrong with it. */
export type Spoken = { readonly prompt: Prompt; readonly owner: Owner; readonly isImplicit: boolean };

export type Catalogue = {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly prompts: ReadonlyMap<string, Prompt>;
  readonly models: ReadonlyMap<string, ModelDefinition>;
  /** By the names they were given. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly hooks: ReadonlyMap<string, HookDefinition>;
  readonly effects: ReadonlyMap<string, EffectDefinition>;
  /** By the name under which it is declared; null where tools of several prompts share it and none was listed. */
  readonly toolsAsDeclared: ReadonlyMap<string, Tool | null>;
  /** Every prompt there is, those of agents that are written with instructions included. */
  readonly spoken: readonly Spoken[];
  /** Where each tool is to be corrected. */
  readonly toolOwners: ReadonlyMap<Tool, Owner>;
};

/** Throws for what none of the define functions has made; everything else that is wrong is told beside. */
export function gather(given: Partial<Definitions>): {
  readonly catalogue: Catalogue;
  readonly mistakes: readonly Mistake[];
  readonly warnings: readonly Mistake[];
} {
  const mistakes: Mistake[] = [];
  const names = new Names(mistakes);
  const agents = agentsBySlug(given.agents ?? []);
  for (const [slug, agent] of agents) names.claim(agent, slug, { kind: "agent", name: slug });
  const spoken = spokenOf([...agents.values()], listedOf(given.prompts, "prompt", isPrompt));
  const prompts = new Map<string, Prompt>();
  for (const { prompt, owner, isImplicit } of spoken) {
    if (isImplicit) continue;
    names.claim(prompt, prompt.name, owner);
    if (!prompts.has(prompt.name)) prompts.set(prompt.name, prompt);
  }
  const ofTools = gatherTools(listedOf(given.tools, "tool", isTool), spoken, names);
  const models = uniqueOf(listedOf(given.models, "model", isModel), "model", ({ name }) => name, mistakes);
  const hooks = uniqueOf(listedOf(given.hooks, "hook", isHook), "hook", ({ id }) => id, mistakes);
  const effects = uniqueOf(listedOf(given.effects, "effect", isEffect), "effect", ({ name }) => name, mistakes);
  const warnings = [...ofTools.toolOwners].flatMap(([tool, owner]) => {
    const detail = `name ${givenName(tool)} should be small letters, digits and underscores`;
    return isOddlyNamed(tool) ? [{ ...owner, detail }] : [];
  });
  return { catalogue: { agents, prompts, models, hooks, effects, spoken, ...ofTools }, mistakes, warnings };
}

/** Whose each name is that tools, prompts and agents share. */
class Names {
  readonly #taken = new Map<string, { readonly owner: Owner; readonly value: object }>();
  readonly #mistakes: Mistake[];

  constructor(mistakes: Mistake[]) {
    this.#mistakes = mistakes;
  }

  isFree(name: string): boolean {
    return !isReservedName(name) && !this.#taken.has(declaredName(name));
  }

  claim(value: object, name: string, owner: Owner): void {
    if (isReservedName(name)) this.#mistakes.push({ ...owner, detail: `name ${name} is reserved` });
    const known = this.#taken.get(declaredName(name));
    if (!known) this.#taken.set(declaredName(name), { owner, value });
    if (!known || known.value === value) return;
    const whose = `the ${known.owner.kind} ${known.owner.name}`;
    const detail = `name ${name} is taken by ${whose}: tools, prompts and agents share their names`;
    this.#mistakes.push({ ...owner, detail });
  }
}

function gatherTools(listed: readonly Tool[], spoken: readonly Spoken[], names: Names) {
  const toolOwners = new Map<Tool, Owner>();
  const tools = new Map<string, Tool>();
  const toolsAsDeclared = new Map<string, Tool | null>();
  for (const tool of listed) {
    const owner: Owner = { kind: "tool", name: givenName(tool) };
    names.claim(tool, owner.name, owner);
    toolOwners.set(tool, owner);
    tools.set(owner.name, tool);
    toolsAsDeclared.set(tool.name, tool);
  }
  for (const { prompt, owner } of spoken) {
    for (const entry of prompt.tools) {
      if (entry.kind !== "tool" || toolOwners.has(entry.tool)) continue;
      const { tool } = entry;
      const name = givenName(tool);
      toolOwners.set(tool, owner);
      // Prompts may have different tools of one name for themselves; only what anybody may name has to be one thing.
      if (!names.isFree(name)) names.claim(tool, name, owner);
      toolsAsDeclared.set(tool.name, toolsAsDeclared.has(tool.name) ? null : tool);
      if (!tools.has(name)) tools.set(name, tool);
    }
  }
  return { tools, toolsAsDeclared, toolOwners };
}

/** The name that a tool was given, of which the declared one is made. */
export function givenName({ name, declaration }: Tool): string {
  const { provider_aliases, provider_safe_name } = declaration;
  if (!name.startsWith("standard/")) return name;
  const alias = Array.isArray(provider_aliases) ? provider_aliases[0] : undefined;
  return typeof alias === "string" ? alias : (provider_safe_name ?? name);
}

function isOddlyNamed(tool: Tool): boolean {
  const name = givenName(tool);
  return !name.includes("/") && !isStandardName(name);
}

function listedOf<Made>(
  list: readonly Made[] | undefined,
  kind: DefinitionKind,
  isMade: (value: unknown) => value is Made,
): readonly Made[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw invalidDefinition(kind, undefined, `${kind}s must be a list`);
  const wrong = list.findIndex((each) => !isMade(each));
  if (wrong !== -1) throw invalidDefinition(kind, undefined, `${kind}s[${wrong}] must be made by ${kind}()`);
  return list;
}

function uniqueOf<Made>(
  list: readonly Made[],
  kind: DefinitionKind,
  nameOf: (made: Made) => string,
  mistakes: Mistake[],
): ReadonlyMap<string, Made> {
  const byName = new Map<string, Made>();
  for (const made of list) {
    const name = nameOf(made);
    const known = byName.get(name);
    if (known !== undefined && known !== made) mistakes.push({ kind, name, detail: `name ${name} is there twice` });
    if (known === undefined) byName.set(name, made);
  }
  return byName;
}

/** Those that were listed first, so that what is wrong with one of them is told as its own. */
function spokenOf(agents: readonly Agent[], listed: readonly Prompt[]): readonly Spoken[] {
  const spoken = new Map<Prompt, Spoken>();
  const add = (prompt: Prompt, owner: Owner, isImplicit = false) => {
    if (spoken.has(prompt)) return;
    spoken.set(prompt, { prompt, owner, isImplicit });
    for (const entry of prompt.tools) if (entry.kind === "prompt") waiting.push({ prompt: entry.prompt, owner });
  };
  const waiting: { readonly prompt: Prompt; readonly owner: Owner }[] = [];
  for (const prompt of listed) add(prompt, { kind: "prompt", name: prompt.name });
  for (const { slug, style, sides } of agents) {
    for (const { backing } of [sides.a, sides.b]) {
      if (backing.kind !== "prompt" || typeof backing.prompt === "string") continue;
      add(backing.prompt, { kind: "agent", name: slug }, style === "agents_api");
    }
  }
  for (let next = waiting.shift(); next; next = waiting.shift()) add(next.prompt, next.owner);
  return [...spoken.values()];
}
