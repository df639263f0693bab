// Everything that was defined, by its name, with every reference looked up once at the start.
import type { Side } from "../../contracts/standard/side.ts";
import type { ModelChoice, ModelChoices } from "../../models/model-choice.ts";
import type { Agent } from "../agent.ts";
import type { Tool } from "../tool.ts";
import { type Catalogue, type Definitions, gather, type Mistake } from "./catalogue.ts";
import { checkReferences, type Lookups } from "./check-references.ts";
import type { EffectDefinition } from "./effect.ts";
import type { HookDefinition } from "./hook.ts";
import { invalidDefinition } from "./invalid-definition.ts";
import { choicesOf, type ModelDefinition } from "./model.ts";
import type { Prompt } from "./prompt.ts";
import type { Relationship } from "./relationship.ts";
import { agentNamed, type Resolved, resolveEntries } from "./resolve-entries.ts";
import type { Variable } from "./variable.ts";
import { variablesOf } from "./variables-of.ts";

export type { Definitions };

export interface Registry extends Lookups {
  readonly agents: ReadonlyMap<string, Agent>;
  /** Those that were listed, and those that stand in agents and other prompts. Not those of agents with instructions. */
  readonly prompts: ReadonlyMap<string, Prompt>;
  readonly models: ReadonlyMap<string, ModelDefinition>;
  /** By the names they were given, plain or with a namespace. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly hooks: ReadonlyMap<string, HookDefinition>;
  readonly effects: ReadonlyMap<string, EffectDefinition>;
  /** The variables that an agent, its prompts and their tools declare. Not those of its subagents. */
  variablesOf(agent: Agent): readonly Variable[];
  /** The models of a prompt, the first to ask and those that take over; undefined when the environment decides. */
  choicesOf(prompt: Prompt): ModelChoices | undefined;
}

/** Something odd about a definition that keeps nobody from using it. */
export type DefinitionProblem = { readonly definition: string; readonly message: string };

/** Looks everything up. Throws `invalid_definition` for the first thing that is wrong, naming the definition and the field. */
export function createRegistry(definitions: Partial<Definitions>): {
  readonly registry: Registry;
  readonly problems: readonly DefinitionProblem[];
} {
  const { registry, mistakes, warnings } = examine(definitions);
  const [first] = mistakes;
  if (first) throw invalidDefinition(first.kind, first.name, first.detail);
  const problems = warnings.map(({ kind, name, detail }) => ({ definition: `${kind} ${name}`, message: detail }));
  return { registry, problems };
}

/** The registry as far as it goes, with everything that is wrong. Only without mistakes is it of use. */
export function examine(definitions: Partial<Definitions>): {
  readonly registry: Registry;
  readonly mistakes: readonly Mistake[];
  readonly warnings: readonly Mistake[];
} {
  const { catalogue, mistakes, warnings } = gather(definitions);
  const resolved = resolveAll(catalogue);
  const registry = registryOf(catalogue, resolved);
  const found = checkReferences(catalogue, registry);
  const ofEntries = (kind: "mistakes" | "warnings") =>
    catalogue.spoken.flatMap(({ prompt, owner }) => {
      return (resolved.get(prompt)?.[kind] ?? []).map((detail) => ({ ...owner, detail }));
    });
  return {
    registry,
    mistakes: [...mistakes, ...ofEntries("mistakes"), ...found.mistakes],
    warnings: [...warnings, ...ofEntries("warnings"), ...found.warnings],
  };
}

function registryOf(catalogue: Catalogue, resolved: ReadonlyMap<Prompt, Resolved>): Registry {
  const { agents, prompts, models, tools, hooks, effects } = catalogue;
  const relationships = new Map<Agent, Readonly<Record<Side, readonly Relationship[]>>>();
  const variables = new Map<Agent, readonly Variable[]>();
  const registry: Registry = {
    ...{ agents, prompts, models, tools, hooks, effects },
    promptOf: (agent, side) => promptOf(agent, side, catalogue),
    entriesOf: (prompt) => resolved.get(prompt)?.entries ?? [],
    relationshipsOf(agent, side) {
      const known = relationships.get(agent) ?? {
        a: relationshipsOf(agent, "a", registry),
        b: relationshipsOf(agent, "b", registry),
      };
      relationships.set(agent, known);
      return known[side];
    },
    variablesOf(agent) {
      const known = variables.get(agent) ?? variablesOf(agent, registry);
      variables.set(agent, known);
      return known;
    },
    choicesOf: (prompt) => choicesOfPrompt(prompt, registry),
  };
  return registry;
}

function promptOf(agent: Agent, side: Side, { prompts }: Pick<Catalogue, "prompts">): Prompt | undefined {
  const { backing } = agent.sides[side];
  if (backing.kind !== "prompt") return undefined;
  return typeof backing.prompt === "string" ? prompts.get(backing.prompt) : backing.prompt;
}

function resolveAll(catalogue: Catalogue): ReadonlyMap<Prompt, Resolved> {
  const children = new Map<Prompt, Set<string>>();
  for (const agent of catalogue.agents.values()) {
    for (const side of ["a", "b"] as const) {
      const prompt = promptOf(agent, side, catalogue);
      const names = (prompt && children.get(prompt)) ?? new Set<string>();
      for (const { as } of agent.sides[side].subagents) names.add(as);
      if (prompt) children.set(prompt, names);
    }
  }
  return new Map(
    catalogue.spoken.map(({ prompt }) => [
      prompt,
      resolveEntries(prompt, catalogue, children.get(prompt) ?? new Set<string>()),
    ]),
  );
}

/** What a side lists takes its words from the agent where it has none, and the place of what its prompt lists by that name. */
function relationshipsOf(agent: Agent, side: Side, registry: Registry): readonly Relationship[] {
  const prompt = registry.promptOf(agent, side);
  const ofPrompt = (prompt ? registry.entriesOf(prompt) : []).flatMap((entry) => {
    return entry.kind === "subagent" ? [entry.relationship] : [];
  });
  const ofSide = agent.sides[side].subagents.flatMap((relationship) => {
    const target = agentNamed(relationship.agent, registry);
    if (!target) return [];
    const description = relationship.description || target.toolDescription || target.description;
    return [Object.freeze({ ...relationship, agent: target.slug, description })];
  });
  return [...ofPrompt.filter(({ as }) => !ofSide.some((own) => own.as === as)), ...ofSide];
}

/** Names of definitions are replaced by what they stand for; anything else stays as it was given. */
function choicesOfPrompt({ model }: Prompt, registry: Registry): ModelChoices | undefined {
  const expanded = (choice: ModelChoice): readonly ModelChoice[] | undefined => {
    const definition = typeof choice === "string" ? registry.models.get(choice.trim()) : undefined;
    return definition && choicesOf(definition, registry);
  };
  if (!Array.isArray(model)) return model === undefined ? undefined : (expanded(model as ModelChoice) ?? model);
  return (model as readonly ModelChoice[]).flatMap((choice) => expanded(choice) ?? [choice]);
}
