// What an agent is: who speaks for its two sides, what they may call, and the rules that every run of it keeps to.
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { trimmed } from "../contracts/coerce.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import { declaredName } from "../contracts/standard/names.ts";
import type { ApproverRule } from "../contracts/trust/approver-rule.ts";
import type { RunOptions } from "../loop/options.ts";
import type { ModelChoices } from "../models/model-choice.ts";
import { type AgentOptions, optionFields, optionsProblem, runOptionsOf } from "./agent-options.ts";
import { implicitPrompt } from "./definitions/define-prompt.ts";
import { CHOICE, isChoice } from "./definitions/is-choice.ts";
import type { ToolEntry } from "./definitions/prompt.ts";
import { promptSide } from "./definitions/side.ts";
import {
  type Character,
  characterFields,
  plainCharacter,
  readAgentName,
  readCharacter,
  type SidesInput,
} from "./definitions/standard-agent.ts";
import { readEntries, type ToolEntryInput } from "./definitions/tool-entry.ts";
import type { Limits } from "./funds/limits.ts";
import { type Output, readOutput } from "./output.ts";
import type { ToolSchema } from "./schemas/tool-schema.ts";
import type { Tool } from "./tool.ts";

/** What an agent is defined with that has instructions and tools of its own. */
export type AgentDefinition = AgentOptions &
  Pick<RunOptions, "hooks"> & {
    /** Small letters, digits and dashes: the name under which threads are opened, and which they keep. */
    readonly slug: string;
    /** What people who choose an agent are shown; the slug, and nothing, unless given. */
    readonly title?: string;
    readonly description?: string;
    readonly instructions?: string;
    /**
     * A name such as `openai/gpt-5`, a model object of the AI SDK, or a function; a list also names those that take over
     * when the first one fails. Without one the environment decides: `HOLDFAST_MODEL`, or the provider whose key is set.
     */
    readonly model?: ModelChoices;
    /** Tools and prompts, or names of tools, prompts and agents, alone or with settings. */
    readonly tools?: readonly ToolEntryInput[];
    /** What the last words of a run are to be: a zod, Standard or JSON Schema. The outcome has them as `structured_output`. */
    readonly output?: ToolSchema;
  };

/** What an agent is defined with that consists of two sides, each with a prompt, a person or code behind it. */
export type StandardAgentDefinition = AgentOptions & SidesInput;

/** An agent, ready for threads. */
export type Agent = Character & {
  /** Its name, whichever way it was written. */
  readonly slug: string;
  /** `standard`: written as two sides, and kept to their rules. `agents_api`: written with instructions of its own. */
  readonly style: "agents_api" | "standard";
  readonly instructions?: string;
  readonly model?: ModelChoices;
  readonly output?: Output;
  readonly limits: Limits;
  /** True when somebody else than its models writes the summaries. */
  readonly hasOwnSummarizer: boolean;
  /** Those that were given as they are, by name and in their order; what else its prompts may call the registry knows. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly retry: { readonly attempts: number; readonly backoffMs: number; readonly mostMs: number };
  readonly approvalWaitMs?: number;
  readonly approvers?: ApproverRule;
};

/** Kept apart from the agent, because what a run needs is not what a reader of an agent looks for. */
const optionsOf = new WeakMap<object, RunOptions>();

/** With sides, each has limits of its own; this only ends what never would. */
const MAX_TURNS = { agents_api: 25, standard: 250 };

/** Defines an agent. Throws `invalid_agent` with the field that is wrong; a field that there is not is wrong too. */
export function agent(definition: AgentDefinition | StandardAgentDefinition): Agent {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const isStandard = given.slug === undefined && (given.name !== undefined || given.sideA !== undefined);
  return isStandard ? standardAgent(given) : agentsApiAgent(given);
}

/** The options that every run of the agent has. Who runs the tools, the signal and the ids are added run by run. */
export function runOptions(agent: Agent): RunOptions {
  const options = optionsOf.get(agent);
  if (!options) throw holdfastError("invalid_agent", "agent must be made by agent()");
  return options;
}

/** The agents by their slugs. Throws `invalid_agent` for two with one slug, and for what `agent` has not made. */
export function agentsBySlug(list: readonly Agent[]): ReadonlyMap<string, Agent> {
  const bySlug = new Map<string, Agent>();
  if (!Array.isArray(list)) throw holdfastError("invalid_agent", "agents must be a list");
  for (const [index, each] of (list as readonly unknown[]).entries()) {
    if (!isAgent(each)) throw holdfastError("invalid_agent", `agents[${index}] must be made by agent()`);
    const { slug } = each;
    if (bySlug.has(slug)) throw holdfastError("invalid_agent", `agents[${index}] has the slug ${slug} of another`);
    bySlug.set(slug, each);
  }
  return bySlug;
}

/** True for what `agent` has made. */
export function isAgent(value: unknown): value is Agent {
  return isMap(value) && optionsOf.has(value);
}

function agentsApiAgent(given: UnknownMap): Agent {
  const slug = readSlug(given.slug);
  const invalid = invalidFor(slug);
  const { instructions, model, hooks } = given as Partial<AgentDefinition>;
  if (instructions !== undefined && typeof instructions !== "string") throw invalid("instructions must be text");
  for (const field of ["title", "description"] as const) {
    if (given[field] !== undefined && typeof given[field] !== "string") throw invalid(`${field} must be text`);
  }
  const fields = ["slug", "title", "description", "instructions", "model", "tools", "output", "hooks"];
  checkOptions(given, fields, invalid);
  if (hooks !== undefined && !isHooks(hooks)) throw invalid("hooks must be made by createHooks()");
  if (model !== undefined && !isChoice(model)) throw invalid(`model must be ${CHOICE}`);
  const output = given.output === undefined ? undefined : readOutput(given.output);
  if (given.output !== undefined && !output) throw invalid("output must be a schema");
  const entries = readEntries(given.tools);
  if (typeof entries === "string") throw invalid(entries);
  const words = trimmed(instructions) === undefined ? undefined : instructions;
  const prompt = implicitPrompt({ name: slug, instructions: words, model, tools: entries });
  const limits = readLimits(given, entries, invalid);
  return make(given, {
    slug,
    style: "agents_api",
    ...plainCharacter(slug, promptSide(prompt)),
    ...(trimmed(given.title) !== undefined && { title: String(given.title) }),
    ...(trimmed(given.description) !== undefined && { description: String(given.description) }),
    ...(words !== undefined && { instructions: words }),
    ...(model !== undefined && { model }),
    ...(output && { output }),
    limits,
    tools: new Map(entries.flatMap((entry) => (entry.kind === "tool" ? [[entry.tool.name, entry.tool]] : []))),
    // As patient as a provider turn adapter; with others to take over, less so.
    retry: readRetry(given, { attempts: Array.isArray(model) && model.length > 1 ? 2 : 5, backoffMs: 2_000 }),
  });
}

function standardAgent(given: UnknownMap): Agent {
  const slug = readAgentName(given.name);
  if (slug === undefined) {
    const detail = `name must be small letters, digits and underscores, not ${JSON.stringify(given.name)}`;
    throw holdfastError("invalid_agent", detail);
  }
  const invalid = invalidFor(slug);
  checkOptions(given, characterFields, invalid);
  const character = readCharacter(given);
  if (typeof character === "string") throw invalid(character);
  return make(given, {
    slug,
    style: "standard",
    ...character,
    limits: readLimits(given, undefined, invalid),
    tools: new Map(),
    retry: readRetry(given, { attempts: 2, backoffMs: 1_000 }),
  });
}

type Invalid = (detail: string, cause?: unknown) => HoldfastError;

function make(given: AgentOptions, known: Omit<Agent, "hasOwnSummarizer" | "approvalWaitMs" | "approvers">): Agent {
  const { summarizer, approvalWaitMs, approvers } = given;
  const { style, sides, limits, tools } = known;
  const made: Agent = {
    ...known,
    hasOwnSummarizer: summarizer !== undefined,
    ...(approvalWaitMs !== undefined && { approvalWaitMs }),
    ...(approvers && { approvers: Object.freeze({ ...approvers }) }),
  };
  const { hooks: _ids, ...options } = given as AgentOptions & UnknownMap;
  const maxTurns = Math.max(MAX_TURNS[style], sides.a.maxSteps ?? 0, sides.b.maxSteps ?? 0);
  const declarations = [...tools.values()].map(({ declaration }) => declaration);
  const carried = style === "standard" ? options : given;
  optionsOf.set(Object.freeze(made), runOptionsOf(carried, { maxTurns, limits, declarations }, invalidFor(known.slug)));
  return made;
}

function checkOptions(given: UnknownMap, own: readonly string[], invalid: Invalid): void {
  const problem = optionsProblem(given);
  if (problem !== undefined) throw invalid(problem);
  const unknown = Object.keys(given).find((field) => !own.includes(field) && !optionFields.includes(field));
  if (unknown !== undefined) throw invalid(`${unknown} is no field of an agent`);
}

function isHooks(value: unknown): boolean {
  return isMap(value) && typeof value.apply === "function" && typeof value.emit === "function";
}

/** The tools that they name by the names under which those are declared. Entries that are not known yet are not checked. */
function readLimits(
  { limits = {} }: AgentOptions,
  entries: readonly ToolEntry[] | undefined,
  invalid: Invalid,
): Limits {
  const { perTool } = limits;
  if (!perTool) return Object.freeze({ ...limits });
  const names = entries && new Set(entries.map(declaredEntryName));
  const counted = Object.entries(perTool).map(([name, count]) => {
    if (names && !names.has(declaredName(name))) {
      throw invalid(`limits.perTool names ${name}, which is no tool of the agent`);
    }
    return [declaredName(name), count] as const;
  });
  return Object.freeze({ ...limits, perTool: Object.freeze(Object.fromEntries(counted)) });
}

function declaredEntryName(entry: ToolEntry): string {
  if (entry.kind === "tool") return entry.tool.name;
  return declaredName(entry.kind === "prompt" ? entry.prompt.name : entry.name);
}

function readRetry(
  { retry }: AgentOptions,
  usual: { readonly attempts: number; readonly backoffMs: number },
): Agent["retry"] {
  const { attempts = usual.attempts, backoffMs = usual.backoffMs, mostMs = 60_000 } = retry ?? {};
  return Object.freeze({ attempts, backoffMs, mostMs });
}

function readSlug(given: unknown): string {
  const slug = agentSlug(given);
  if (slug === "") throw holdfastError("invalid_agent", "slug must hold a letter or digit");
  if (slug === given) return slug;
  throw holdfastError("invalid_agent", `slug must be written "${slug}", not ${JSON.stringify(given)}`);
}

function invalidFor(slug: string): Invalid {
  return (detail, cause) => holdfastError("invalid_agent", `${detail} (${slug})`, cause);
}
