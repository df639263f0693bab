// The caller's side of the policies: gathers what providers, checkers, memories and hooks have to say. What one of them
// throws is thrown on, and the machine then shows and runs nothing that it might have denied.
import { ABILITY_CALL } from "../contracts/abilities/ability.ts";
import { redactedParameters } from "../contracts/abilities/dispatcher.ts";
import { abilityIn } from "../contracts/abilities/executor.ts";
import { trimmed } from "../contracts/coerce.ts";
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";
import { redact } from "../contracts/tools/exposure.ts";
import * as visibility from "../contracts/tools/visibility.ts";
import type { ApprovalMemory } from "../contracts/trust/approval-memory.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { RunOptions } from "./options.ts";

/** True when anybody has a say in what the model sees; otherwise it sees every tool. */
export function narrowsTools(options: RunOptions, context: JsonMap, tools: ToolMap): boolean {
  const { hooks, toolPolicyProviders, toolAccessChecker, hidesWriteTools } = options;
  if (visibility.isConfigured(context, tools) || toolPolicyProviders?.length) return true;
  if (hidesWriteTools === true || toolAccessChecker) return true;
  return hooks !== undefined && (hooks.has("toolPolicyProviders") || hooks.has("resolvedTools"));
}

/** True when the action policy of a call does not follow from the context and the declaration alone. */
export function asksForPolicy({ abilities, actionPolicyProviders, approvalMemory, hooks }: RunOptions): boolean {
  if (abilities || approvalMemory || actionPolicyProviders?.length) return true;
  const seams = ["actionPolicyProviders", "approvalMemoryStore", "toolActionPolicy"] as const;
  return seams.some((seam) => hooks?.has(seam));
}

/** The names of the tools that the model sees, in order. */
export async function visibleTools(tools: ToolMap, context: JsonMap, options: RunOptions): Promise<readonly unknown[]> {
  const { hooks, hidesWriteTools = false } = options;
  const writeCategories = hidesWriteTools
    ? await hooks?.apply("writeCapableCategories", visibility.WRITE_CATEGORIES, context)
    : undefined;
  const accessible = await accessibleTools(tools, context, options);
  const names = visibility.resolve(tools, context, {
    fragments: await fragments(context, options),
    hidesWrites: hidesWriteTools,
    ...(writeCategories && { writeCategories }),
    ...(accessible && { isAccessible: (name: string) => accessible.has(name) }),
    ...categories(options),
  });
  if (!hooks?.has("resolvedTools")) return names;
  const shown = Object.fromEntries(names.map((name) => [name, tools[name]]));
  const replaced = await hooks.apply("resolvedTools", shown, context);
  return Array.isArray(replaced) ? replaced : Object.keys(replaced);
}

/** What each provider has to say, asked one after another. */
async function fragments(context: JsonMap, { hooks, toolPolicyProviders }: RunOptions): Promise<unknown[]> {
  const own = Object.freeze([...(toolPolicyProviders ?? [])]);
  const said: unknown[] = [];
  for (const provider of (await hooks?.apply("toolPolicyProviders", own, context)) ?? own) {
    said.push(readFragment(await asked(provider, context)));
  }
  return said;
}

/** Whatever is neither a fragment nor nothing was meant to say something. */
function readFragment(fragment: unknown): unknown {
  if (fragment == null || visibility.isFragment(fragment)) return fragment;
  throw new Error("A provider of tool policies answers with a fragment of policy, or null.");
}

function asked(provider: unknown, about: UnknownMap): unknown {
  if (typeof provider === "function") return provider(about);
  throw new Error("A provider of policies is a function.");
}

/** The tools that the access checker affirms. One it fails on is not affirmed. */
async function accessibleTools(tools: ToolMap, context: JsonMap, { toolAccessChecker: check }: RunOptions) {
  if (!check) return undefined;
  const entries = Object.entries(tools);
  const answers = await Promise.all(entries.map(([name, tool]) => quietly(() => check(name, tool, context))));
  return new Set(entries.flatMap(([name], index) => (answers[index] === true ? [name] : [])));
}

/**
 * How the call that the context describes may run: as the strictest of what holds for it and for what it calls in turn; with
 * the decision that was remembered, if it was by that.
 */
export async function callPolicy(context: JsonMap, tools: ToolMap, options: RunOptions): Promise<JsonMap> {
  let found = await policyOf(context, options);
  const ability = calledThrough(context);
  if (ability === undefined) return { ...found };
  const { parameters: given } = snapshotMap(context.parameters);
  let parameters = redactedParameters(ability, given, options.abilities);
  for (const [tool_name, tool_def] of asCalledDirectly(ability, tools)) {
    const called = snapshotMap({ ...context, tool_name, tool_def, parameters: given ?? {} });
    found = stricter(found, await policyOf(called, options));
    parameters = redact(parameters, tool_def);
  }
  return { ...found, preview: { tool_name: ability, parameters } };
}

/** The ability that is called through the one that calls others. */
function calledThrough(context: JsonMap): string | undefined {
  const ability = abilityIn(snapshotMap(context.tool_def)) ?? context.tool_name;
  return ability === ABILITY_CALL ? trimmed(snapshotMap(context.parameters).name) : undefined;
}

/** The ability under its own name, and every tool that is declared for it: what guards one of them guards them all. */
function asCalledDirectly(ability: string, tools: ToolMap): readonly (readonly [name: string, definition: JsonMap])[] {
  const own = Object.hasOwn(tools, ability) ? tools[ability] : undefined;
  const others = Object.entries(tools).filter(([name, tool]) => name !== ability && abilityIn(tool) === ability);
  return [[ability, snapshotMap({ ...own, ability })], ...others];
}

const strictness: readonly ActionPolicy[] = ["direct", "preview", "forbidden"];

function stricter(one: Found, other: Found): Found {
  return strictness.indexOf(one.policy) >= strictness.indexOf(other.policy) ? one : other;
}

/** A policy, and what its memory says of the decision that it follows from. */
type Found = { readonly policy: ActionPolicy; readonly remembered?: JsonMap };

async function policyOf(context: JsonMap, options: RunOptions): Promise<Found> {
  const { hooks, actionPolicyProviders } = options;
  const own = Object.freeze([...(actionPolicyProviders ?? [])]);
  const providers = (await hooks?.apply("actionPolicyProviders", own, context)) ?? own;
  const memory = await memoryOf(context, options);
  let recalled: UnknownMap | undefined;
  const policy = await actionPolicy.resolve(context, {
    providers: providers.map((provider) => (about: UnknownMap) => answerOf(provider, about)),
    memory: memory && {
      async recall(key) {
        const answer = await memory.recall(key);
        recalled = isMap(answer) && isMap(answer.remembered) ? answer : undefined;
        return recalled ? recalled.policy : answer;
      },
    },
    ...(hooks?.has("toolActionPolicy") && {
      filter: (policy, toolName) => hooks.apply("toolActionPolicy", policy, toolName, context),
    }),
    ...categories(options),
  });
  return policy === recalled?.policy ? { policy, remembered: snapshotMap(recalled.remembered) } : { policy };
}

/** What a provider says. One that says something that is no policy meant to say something. */
async function answerOf(provider: unknown, about: UnknownMap): Promise<unknown> {
  const answer = await asked(provider, about);
  if (answer == null || actionPolicy.normalize(answer)) return answer;
  throw new Error("A provider of action policies answers direct, preview or forbidden, or null.");
}

async function memoryOf(context: JsonMap, { approvalMemory, hooks }: RunOptions): Promise<ApprovalMemory | null> {
  const memory: unknown = approvalMemory ?? (await hooks?.apply("approvalMemoryStore", null, context));
  if (memory == null) return null;
  if (isMap(memory) && typeof memory.recall === "function") return memory as unknown as ApprovalMemory;
  throw new Error("An approval memory can recall.");
}

function categories({ abilities }: RunOptions) {
  return abilities ? { abilityCategory: (name: string) => abilities.get(name)?.category } : {};
}
