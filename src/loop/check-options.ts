// The options that stand between a model and an effect: one of the wrong kind is refused, because a guard that is silently
// left out guards nothing. Other options of the wrong kind are left out, as the contract has it.
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import type { RunOptions } from "./options.ts";

type Check = readonly [option: keyof RunOptions, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["signal", "an AbortSignal", (value) => value instanceof AbortSignal],
  ["toolPolicy", "a map", isMap],
  ["toolPolicyProviders", "a list of functions", isListOfFunctions],
  ["toolAccessChecker", "a function", isFunction],
  ["hidesWriteTools", "true or false", (value) => typeof value === "boolean"],
  ["actionPolicy", "a map whose tools and categories are direct, preview or forbidden", isActionPolicy],
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
  for (const [option, kind, isOfKind] of checks) {
    const value = options[option];
    if (value == null || isOfKind(value)) continue;
    throw holdfastError("invalid_agent_conversation_loop", `${option} must be ${kind}.`);
  }
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isListOfFunctions(value: unknown): boolean {
  return Array.isArray(value) && value.every(isFunction);
}

function isActionPolicy(value: unknown): boolean {
  if (!isMap(value)) return false;
  return [value.tools, value.categories].every(
    (words) => words == null || (isMap(words) && Object.values(words).every((word) => actionPolicy.normalize(word))),
  );
}
