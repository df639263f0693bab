// What an agent is: instructions, a model, tools, and the rules that every run of it keeps to.
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { trimmed } from "../contracts/coerce.ts";
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import { errorMessage, HoldfastError, holdfastError } from "../contracts/error.ts";
import { isEmpty, isMap, snapshot, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { checkOptions, checkPolicies } from "../loop/check-options.ts";
import type { RunOptions } from "../loop/options.ts";
import { readDeclarations } from "../loop/read-declarations.ts";
import type { ModelChoices } from "../models/model-choice.ts";
import { countingBudgets, type Limits, limitsProblem } from "./limits.ts";
import { type Output, readOutput } from "./output.ts";
import { isTool, type Tool } from "./tool.ts";
import type { ToolSchema } from "./tool-schema.ts";
import { isWholeNumber } from "./whole-number.ts";

/** Options of a run that are plain values, and are kept as frozen copies. */
const PLAIN = [
  "maxTurns",
  "budgets",
  "context",
  "principal",
  "workspace",
  "toolPolicy",
  "hidesWriteTools",
  "actionPolicy",
  "toolCallRules",
  "spinDetector",
  "identicalFailureTracker",
  "toolResultTruncator",
] as const;

/** Options of a run that hold functions, and are kept as they are. */
const LIVE = [
  "shouldContinue",
  "toolPolicyProviders",
  "toolAccessChecker",
  "actionPolicyProviders",
  "approvalMemory",
  "preToolMediator",
  "postToolResultDiagnostics",
  "completionPolicy",
  "overflowArchive",
  "abilities",
  "holdsCapability",
  "authorize",
  "namedToolExecutors",
  "hooks",
] as const;

type Carried = Pick<RunOptions, (typeof PLAIN)[number] | (typeof LIVE)[number]>;

/** What an agent is defined with. The options that a conversation has too mean the same here. */
export type AgentDefinition = Carried & {
  /** Small letters, digits and dashes: the name under which threads are opened, and which they keep. */
  readonly slug: string;
  readonly instructions?: string;
  /**
   * A name such as `openai/gpt-5`, a model object of the AI SDK, or a function; a list also names those that take over
   * when the first one fails. Without one the environment decides: `HOLDFAST_MODEL`, or the provider whose key is set.
   */
  readonly model?: ModelChoices;
  readonly tools?: readonly Tool[];
  /** What the last words of a run are to be: a zod, Standard or JSON Schema. The outcome has them as `structured_output`. */
  readonly output?: ToolSchema;
  /** What a run may use up at most: steps, calls, tokens, money, time. */
  readonly limits?: Limits;
  /** Most turns for one message, 25 unless given: a thread goes on by itself, so it needs an end of its own. */
  readonly maxTurns?: number;
  /**
   * How often a model is asked that fails (5 times, or twice when others take over from it), and how long to wait in
   * between: doubled each time, up to the most.
   */
  readonly retry?: { readonly attempts?: number; readonly backoffMs?: number; readonly mostMs?: number };
  /** A compaction policy; one that is given is enabled unless it says otherwise. */
  readonly compaction?: UnknownMap;
  /** Writes the summaries that compaction needs; the agent's own model does unless given. */
  readonly summarizer?: Summarizer;
  /** How long a person may take to decide; for ever unless given. */
  readonly approvalWaitMs?: number;
};

/** An agent, ready for threads. */
export type Agent = {
  readonly slug: string;
  readonly instructions?: string;
  readonly model?: ModelChoices;
  readonly output?: Output;
  readonly limits: Limits;
  /** True when somebody else than its models writes the summaries. */
  readonly hasOwnSummarizer: boolean;
  /** By name, in the order in which they were given. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly retry: { readonly attempts: number; readonly backoffMs: number; readonly mostMs: number };
  readonly approvalWaitMs?: number;
};

/** Kept apart from the agent, because what a run needs is not what a reader of an agent looks for. */
const optionsOf = new WeakMap<object, RunOptions>();

const MAX_TURNS = 25;

/** Defines an agent. Throws `invalid_agent` with the field that is wrong; a field that there is not is wrong too. */
export function agent(definition: AgentDefinition): Agent {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const slug = readSlug(given.slug);
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) throw invalid(slug, `${field} must be ${kind}`);
  }
  const unknown = Object.keys(given).find((field) => !fields.has(field));
  if (unknown !== undefined) throw invalid(slug, `${unknown} is no field of an agent`);
  const { instructions, model, approvalWaitMs, retry, limits = {} } = definition;
  if (model !== undefined && !isChoice(model)) throw invalid(slug, `model must be ${CHOICE}`);
  const wrong = limitsProblem(limits);
  if (wrong !== undefined) throw invalid(slug, wrong);
  const output = given.output === undefined ? undefined : readOutput(given.output);
  if (given.output !== undefined && !output) throw invalid(slug, "output must be a schema");
  const tools = toolsByName(given.tools ?? [], slug);
  const nobody = Object.keys(limits.perTool ?? {}).find((name) => !tools.has(name));
  if (nobody !== undefined) throw invalid(slug, `limits.perTool names ${nobody}, which is no tool of the agent`);
  const options = readOptions(definition, tools, slug);
  const made: Agent = {
    slug,
    ...(instructions !== undefined && trimmed(instructions) !== undefined && { instructions }),
    ...(model !== undefined && { model }),
    ...(output && { output }),
    limits: Object.freeze({ ...limits }),
    hasOwnSummarizer: definition.summarizer !== undefined,
    tools,
    retry: Object.freeze(readRetry(retry, Array.isArray(model) && model.length > 1)),
    ...(approvalWaitMs !== undefined && { approvalWaitMs }),
  };
  optionsOf.set(Object.freeze(made), options);
  return made;
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

function isAgent(value: unknown): value is Agent {
  return isMap(value) && optionsOf.has(value);
}

type Check = readonly [field: keyof AgentDefinition, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["instructions", "text", (value) => typeof value === "string"],
  ["retry", "{ attempts?, backoffMs?, mostMs? } with whole numbers", isRetry],
  ["maxTurns", "a whole number from 1", (value) => isWholeNumber(value, 1)],
  ["approvalWaitMs", "a whole number of milliseconds", (value) => isWholeNumber(value, 1)],
  ["compaction", "a map", isMap],
  ["context", "a map", isMap],
  ["principal", "a map", isMap],
  ["workspace", "a map", isMap],
  ["budgets", "a list", Array.isArray],
  ["spinDetector", "a map", isMap],
  ["identicalFailureTracker", "a map", isMap],
  ["toolResultTruncator", "a map", isMap],
  ["summarizer", "a function", isFunction],
  ["shouldContinue", "a function or null", (value) => value === null || isFunction(value)],
  ["postToolResultDiagnostics", "a function", isFunction],
  ["completionPolicy", "a function", isFunction],
  ["overflowArchive", "a function", isFunction],
  ["namedToolExecutors", "a map of functions", (value) => isMap(value) && Object.values(value).every(isFunction)],
  ["hooks", "made by createHooks()", (value) => isMap(value) && isFunction(value.apply) && isFunction(value.emit)],
];

const fields: ReadonlySet<string> = new Set([
  ...["slug", "instructions", "model", "tools", "retry", "compaction", "summarizer", "approvalWaitMs"],
  ...["output", "limits"],
  ...PLAIN,
  ...LIVE,
]);

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isRetry(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { attempts = 1, backoffMs = 0, mostMs = 0, ...unknown } = value;
  const areWhole = isWholeNumber(attempts, 1) && isWholeNumber(backoffMs, 0) && isWholeNumber(mostMs, 0);
  return areWhole && isEmpty(unknown);
}

const CHOICE = 'a name such as "openai/gpt-5", a model object of the AI SDK, a function, or a list of these';

/** What a model may be chosen by; which of them can be asked turns out when the runtime starts. */
function isChoice(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => !Array.isArray(each) && isChoice(each));
  return typeof value === "function" || trimmed(value) !== undefined || isMap(value);
}

/** As patient as a provider turn adapter; with others to take over, less so. */
function readRetry(retry: AgentDefinition["retry"], hasFallbacks: boolean) {
  const { attempts = hasFallbacks ? 2 : 5, backoffMs = 2_000, mostMs = 60_000 } = retry ?? {};
  return { attempts, backoffMs, mostMs };
}

function readSlug(given: unknown): string {
  const slug = agentSlug(given);
  if (slug === "") throw holdfastError("invalid_agent", "slug must hold a letter or digit");
  if (slug === given) return slug;
  throw holdfastError("invalid_agent", `slug must be written "${slug}", not ${JSON.stringify(given)}`);
}

function toolsByName(given: unknown, slug: string): ReadonlyMap<string, Tool> {
  if (!Array.isArray(given)) throw invalid(slug, "tools must be a list");
  const byName = new Map<string, Tool>();
  for (const [index, each] of given.entries()) {
    if (!isTool(each)) throw invalid(slug, `tools[${index}] must be made by tool()`);
    if (byName.has(each.name)) throw invalid(slug, `tools[${index}] has the name ${each.name} of another`);
    byName.set(each.name, each);
  }
  return byName;
}

function readOptions(definition: AgentDefinition, tools: ReadonlyMap<string, Tool>, slug: string): RunOptions {
  const { compaction, limits = {}, summarizer } = definition;
  const counting = countingBudgets(limits);
  const options: RunOptions = Object.freeze({
    ...definedOf(definition, LIVE, (value) => value),
    ...definedOf(definition, PLAIN, (value, field) => copied(value, field, slug)),
    ...(counting.length > 0 && { budgets: Object.freeze([...(definition.budgets ?? []), ...counting]) }),
    maxTurns: definition.maxTurns ?? MAX_TURNS,
    toolDeclarations: Object.freeze([...tools.values()].map(({ declaration }) => declaration)),
    ...(compaction && {
      compactionPolicy: copied({ enabled: true, ...compaction }, "compaction", slug) as UnknownMap,
      ...(summarizer && { summarizer }),
    }),
  });
  try {
    checkOptions(options);
    checkPolicies(snapshotMap(options.context));
  } catch (thrown) {
    throw invalid(slug, thrown instanceof HoldfastError ? thrown.detail : errorMessage(thrown), thrown);
  }
  const [rejected] = readDeclarations(options).rejected;
  if (rejected) throw invalid(slug, `tools cannot all be used: ${rejected.name}: ${rejected.reason}`);
  return options;
}

function definedOf<Field extends keyof Carried>(
  definition: Carried,
  names: readonly Field[],
  read: (value: Carried[Field], field: Field) => unknown,
): Pick<Carried, Field> {
  const entries = names.flatMap((field) => {
    const value = definition[field];
    return value === undefined ? [] : [[field, read(value, field)]];
  });
  return Object.fromEntries(entries);
}

function copied(value: unknown, field: string, slug: string): unknown {
  try {
    return snapshot(value);
  } catch (thrown) {
    throw invalid(slug, `${field} ${errorMessage(thrown)}`, thrown);
  }
}

function invalid(slug: string, detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_agent", `${detail} (${slug})`, cause);
}
