// The caller's side of the policies: gathers what providers, checkers, memories and hooks have to say. What one of them
// throws is thrown on, and the machine then shows and runs nothing that it might have denied.
import { isMap, type JsonMap } from "../contracts/json.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";
import * as visibility from "../contracts/tools/visibility.ts";
import type { ApprovalMemory } from "../contracts/trust/approval-memory.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { RunOptions } from "./options.ts";

/** True when anybody has a say in what the model sees; otherwise it sees every tool. */
export function narrowsTools(options: RunOptions, context: JsonMap, tools: ToolMap): boolean {
  const { hooks, toolPolicyProviders = [], toolAccessChecker, hidesWriteTools } = options;
  if (visibility.isConfigured(context, tools) || toolPolicyProviders.length > 0 || hidesWriteTools === true)
    return true;
  if (typeof toolAccessChecker === "function") return true;
  return hooks !== undefined && (hooks.has("toolPolicyProviders") || hooks.has("resolvedTools"));
}

/** True when the action policy of a call does not follow from the context and the declaration alone. */
export function asksForPolicy({ abilities, actionPolicyProviders = [], approvalMemory, hooks }: RunOptions): boolean {
  if (abilities || approvalMemory || actionPolicyProviders.length > 0) return true;
  const seams = ["actionPolicyProviders", "approvalMemoryStore", "toolActionPolicy"] as const;
  return seams.some((seam) => hooks?.has(seam));
}

/** The names of the tools that the model sees, in order. */
export async function visibleTools(tools: ToolMap, context: JsonMap, options: RunOptions): Promise<readonly string[]> {
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
  return Object.keys(await hooks.apply("resolvedTools", shown, context));
}

/** What each provider has to say, asked one after another. */
async function fragments(context: JsonMap, { hooks, toolPolicyProviders = [] }: RunOptions): Promise<unknown[]> {
  const providers = (await hooks?.apply("toolPolicyProviders", toolPolicyProviders, context)) ?? toolPolicyProviders;
  const said: unknown[] = [];
  for (const provider of providers) if (typeof provider === "function") said.push(await provider(context));
  return said;
}

/** The tools that the access checker affirms. One it fails on is not affirmed. */
async function accessibleTools(tools: ToolMap, context: JsonMap, { toolAccessChecker: check }: RunOptions) {
  if (typeof check !== "function") return undefined;
  const entries = Object.entries(tools);
  const answers = await Promise.all(entries.map(([name, tool]) => quietly(() => check(name, tool, context))));
  return new Set(entries.flatMap(([name], index) => (answers[index] ? [name] : [])));
}

/** How the call that the context describes may run. */
export async function callPolicy(context: JsonMap, options: RunOptions): Promise<ActionPolicy> {
  const { hooks, actionPolicyProviders = [] } = options;
  const providers =
    (await hooks?.apply("actionPolicyProviders", actionPolicyProviders, context)) ?? actionPolicyProviders;
  return actionPolicy.resolve(context, {
    providers,
    memory: await memoryOf(context, options),
    ...(hooks?.has("toolActionPolicy") && {
      filter: (policy, toolName) => hooks.apply("toolActionPolicy", policy, toolName, context),
    }),
    ...categories(options),
  });
}

async function memoryOf(context: JsonMap, { approvalMemory, hooks }: RunOptions): Promise<ApprovalMemory | null> {
  const memory: unknown = approvalMemory ?? (await hooks?.apply("approvalMemoryStore", null, context));
  return isMap(memory) && typeof memory.recall === "function" ? (memory as unknown as ApprovalMemory) : null;
}

function categories({ abilities }: RunOptions) {
  return abilities ? { abilityCategory: (name: string) => abilities.get(name)?.category } : {};
}
