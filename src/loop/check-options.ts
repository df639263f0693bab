// The options that stand between a model and an effect: one of the wrong kind is refused, because a guard that is silently
// left out guards nothing. Other options of the wrong kind are left out, as the contract has it.
import { holdfastError } from "../contracts/error.ts";
import { asMap, isMap, type JsonMap } from "../contracts/json.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import { agentConfigOf } from "../contracts/tools/agent-config.ts";
import * as visibility from "../contracts/tools/visibility.ts";
import type { RunOptions } from "./options.ts";

const TOOL_POLICY = "a map whose mode is allow or deny and whose lists are lists of names";
const ACTION_POLICIES = "a map whose tools and categories are direct, preview or forbidden";

type Check = readonly [option: keyof RunOptions, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["signal", "an AbortSignal", (value) => value instanceof AbortSignal],
  ["preToolMediator", "a function", isFunction],
  ["toolCallRules", "a list", Array.isArray],
  ["toolPolicy", TOOL_POLICY, visibility.isFragment],
  ["toolPolicyProviders", "a list of functions", isListOfFunctions],
  ["toolAccessChecker", "a function", isFunction],
  ["hidesWriteTools", "true or false", (value) => typeof value === "boolean"],
  ["actionPolicy", ACTION_POLICIES, isActionPolicy],
  ["actionPolicyProviders", "a list of functions", isListOfFunctions],
  ["approvalMemory", "an approval memory", (value) => isMap(value) && isFunction(value.recall)],
  ["pendingActionStore", "a store of pending actions", (value) => isMap(value) && isFunction(value.store)],
  ["abilities", "a registry of abilities", (value) => isMap(value) && isFunction(value.get) && isFunction(value.list)],
  ["holdsCapability", "a function", isFunction],
  ["authorize", "a function", isFunction],
  ["newId", "a function", isFunction],
];

/** Throws `invalid_agent_conversation_loop` with the first of these options that is of the wrong kind. */
export function checkOptions(options: RunOptions): void {
  for (const [option, kind, isOfKind] of checks) check(options[option], option, kind, isOfKind);
}

/** The same for the policies that a context carries: the run's own, and those of its agent. */
export function checkPolicies(context: JsonMap): void {
  for (const list of ["deny", "allow_only"]) {
    check(context[list], `context.${list}`, "a list of names", (names) => visibility.listsNames({ [list]: names }));
  }
  for (const [place, policies] of [
    ["context", context],
    ["context.agent_config", agentConfigOf(context)],
  ] as const) {
    check(policies.tool_policy, `${place}.tool_policy`, TOOL_POLICY, visibility.isFragment);
    check(policies.action_policy, `${place}.action_policy`, ACTION_POLICIES, isActionPolicy);
  }
}

function check(value: unknown, name: string, kind: string, isOfKind: (value: unknown) => boolean): void {
  if (value == null || isOfKind(value)) return;
  throw holdfastError("invalid_agent_conversation_loop", `${name} must be ${kind}.`);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isListOfFunctions(value: unknown): boolean {
  return Array.isArray(value) && value.every(isFunction);
}

function isActionPolicy(value: unknown): boolean {
  const policies = asMap(value);
  return policies !== undefined && namesPolicies(policies.tools ?? {}) && namesPolicies(policies.categories ?? {});
}

function namesPolicies(value: unknown): boolean {
  const words = asMap(value);
  return words !== undefined && Object.values(words).every((word) => actionPolicy.normalize(word) !== null);
}
