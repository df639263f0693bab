// How a tool may run once it is called: at once, only after a person has seen what it would do, or not at all.
import { identifier, scalarText, stringList, trim, wholeNumber } from "../coerce.ts";
import { isContainer, isMap, seal, type UnknownMap } from "../json.ts";
import { isThenable, whenReady } from "../when-ready.ts";
import type { Workspace } from "../workspace.ts";
import * as workspaces from "../workspace.ts";
import { agentConfigOf } from "./agent-config.ts";
import { type AbilityCategory, categoriesOf } from "./categories.ts";
import { perDefinition } from "./per-definition.ts";

/** `preview` shows the action to a person and waits; `forbidden` refuses the call. */
export type ActionPolicy = "direct" | "preview" | "forbidden";

/** A host's say in how a call may run: returns a policy, or null to leave it to the next. */
export type ActionPolicyProvider = (context: UnknownMap) => unknown;

/** Those with a say beside the context. Any of them may answer later; what one throws is thrown on. */
type Say = {
  /** Asked in order until one has an answer; what is not a function is passed over. */
  readonly providers?: readonly unknown[];
  /** What a user decided about the tool before. An approval memory is one. */
  readonly memory?: { recall(key: RecallKey): unknown } | null;
  /** Has the last word, also about what is denied; an answer that is no policy changes nothing. */
  readonly filter?: (policy: ActionPolicy, toolName: string, context: UnknownMap) => unknown;
  readonly abilityCategory?: AbilityCategory;
};

type RecallKey = {
  readonly workspace: Workspace;
  readonly user_id: number;
  readonly agent_id: string;
  readonly tool_name: string;
};

/** The policy that a value names, else the one that the fallback names, else null. */
export function normalize(value: unknown, fallback?: unknown): ActionPolicy | null {
  return named(value) ?? named(fallback) ?? null;
}

/**
 * How the tool that `tool_name` and `tool_def` of a context describe may run. The first to have an answer decides: what
 * is denied, the policy of the run or else of the agent, providers, the memory, the tool itself; otherwise it runs at
 * once. A promise only when somebody answers with one.
 */
export function resolve(context: UnknownMap, say: Say = {}): ActionPolicy | Promise<ActionPolicy> {
  const toolName = scalarText(context.tool_name) ?? "";
  if (toolName === "") return "direct";
  const decided = configured(context, toolName, say) ?? asked(context, toolName, say);
  const { filter } = say;
  if (filter === undefined) return decided;
  return whenReady(decided, (policy) =>
    whenReady(filter(policy, toolName, context), (answer) => normalize(answer) ?? policy),
  );
}

/** True when a context may call for anything but running at once. */
export function isConfigured(context: UnknownMap): boolean {
  return context.deny != null || policyOf(context) !== undefined;
}

/** The field in which a declaration names a policy that there is not; undefined when it names none such. */
export function unreadableField(definition: UnknownMap): string | undefined {
  if (!declaresPolicy(definition)) return undefined;
  return Object.keys(definition).find((key) => isPolicyField(key) && named(definition[key]) === undefined);
}

/** What those decide who cannot be asked: lists of denied tools, and policies by tool and by category. */
function configured(context: UnknownMap, toolName: string, { abilityCategory }: Say): ActionPolicy | undefined {
  if (context.deny !== undefined && stringList(context.deny).includes(toolName)) return "forbidden";
  const policy = policyOf(context);
  if (policy === undefined) return undefined;
  const { tools, categories } = policy;
  const own = isMap(tools) && Object.hasOwn(tools, toolName) ? named(tools[toolName]) : undefined;
  if (own !== undefined || !isMap(categories)) return own;
  const categoriesOfTool = new Set(categoriesOf(context.tool_def, abilityCategory));
  for (const [category, value] of Object.entries(categories)) {
    const decided = categoriesOfTool.has(trim(category)) ? named(value) : undefined;
    if (decided !== undefined) return decided;
  }
  return undefined;
}

/** A policy of the run stands in place of the agent's, even when it says nothing. */
function policyOf(context: UnknownMap): UnknownMap | undefined {
  const { action_policy } = context;
  const policy = isContainer(action_policy) ? action_policy : agentConfigOf(context).action_policy;
  return isMap(policy) ? policy : undefined;
}

function asked(context: UnknownMap, toolName: string, say: Say): ActionPolicy | Promise<ActionPolicy> {
  return whenReady(
    provided(context, say.providers ?? [], 0),
    (policy) =>
      policy ??
      whenReady(recalled(context, toolName, say.memory), (remembered) => remembered ?? declared(context) ?? "direct"),
  );
}

type Answer = ActionPolicy | undefined | Promise<ActionPolicy | undefined>;

function provided(context: UnknownMap, providers: readonly unknown[], from: number): Answer {
  for (let asked = from; asked < providers.length; asked++) {
    const provider = providers[asked];
    const answer: unknown = typeof provider === "function" ? provider(context) : undefined;
    if (isThenable(answer)) {
      return Promise.resolve(answer).then((value) => named(value) ?? provided(context, providers, asked + 1));
    }
    const policy = named(answer);
    if (policy !== undefined) return policy;
  }
  return undefined;
}

function recalled(context: UnknownMap, toolName: string, memory: Say["memory"]): Answer {
  const key = memory ? recallKey(context, toolName) : undefined;
  return memory && key ? whenReady(memory.recall(key), named) : undefined;
}

/** Undefined unless the context says where, for whom and by which agent the tool is called. */
function recallKey(context: UnknownMap, tool_name: string): RecallKey | undefined {
  const user_id = wholeNumber(context.user_id ?? context.acting_user_id, 0);
  const agent_id = identifier(context.agent_id) ?? identifier(context.agent_slug);
  const workspace = workspaces.read(context.workspace);
  return user_id && agent_id && workspace ? seal({ workspace, user_id, agent_id, tool_name }) : undefined;
}

function declared({ tool_def, mode }: UnknownMap): ActionPolicy | undefined {
  if (!isMap(tool_def) || !declaresPolicy(tool_def)) return undefined;
  return named(tool_def.action_policy) ?? named(tool_def[`action_policy_${scalarText(mode) ?? "chat"}`]);
}

/** True when a tool says itself how it may run. Most say nothing, and need not be read again to know it. */
export const declaresPolicy = perDefinition((definition) => Object.keys(definition).some(isPolicyField));

function isPolicyField(key: string): boolean {
  return key === "action_policy" || key.startsWith("action_policy_");
}

function named(value: unknown): ActionPolicy | undefined {
  if (typeof value !== "string") return undefined;
  const word = trim(value).toLowerCase();
  return word === "direct" || word === "preview" || word === "forbidden" ? word : undefined;
}
