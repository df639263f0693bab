// When a source may enter a prompt: always, when something calls for it, when somebody does it by hand, or never.
import { cleanWord } from "./clean-name.ts";

const retrievalPolicies = ["always", "on_intent", "on_tool_need", "manual", "never"] as const;

export type RetrievalPolicy = (typeof retrievalPolicies)[number];

/** The policy that a text names, else the one that `fallback` names, else `always`. */
export function normalize(value: unknown, fallback?: unknown): RetrievalPolicy {
  return policyOf(value) ?? policyOf(fallback) ?? "always";
}

/** True for what enters every prompt. */
export function isAlwaysInjected(policy: RetrievalPolicy): boolean {
  return policy === "always";
}

/** True for what may be retrieved at all. */
export function isRetrievable(policy: RetrievalPolicy): boolean {
  return policy !== "never";
}

function policyOf(value: unknown): RetrievalPolicy | undefined {
  const word = typeof value === "string" ? cleanWord(value) : undefined;
  return retrievalPolicies.find((policy) => policy === word);
}
