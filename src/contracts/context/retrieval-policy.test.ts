import { describe, expect, it } from "vitest";
import { isAlwaysInjected, isRetrievable, normalize } from "./retrieval-policy.ts";

describe("a retrieval policy", () => {
  it.each([
    ["On Tool Need", undefined, "on_tool_need"],
    ["on-intent", undefined, "always"],
    ["bogus", "MANUAL", "manual"],
    ["bogus", "worse", "always"],
    [4, "never", "never"],
    ["never", "always", "never"],
  ])("reads %j with the fallback %j as %s", (value, fallback, policy) => {
    expect(normalize(value, fallback)).toBe(policy);
  });

  it("injects always only for always, and retrieves unless it is never", () => {
    const policies = ["always", "on_intent", "on_tool_need", "manual", "never"] as const;
    expect(policies.filter(isAlwaysInjected)).toEqual(["always"]);
    expect(policies.filter((policy) => !isRetrievable(policy))).toEqual(["never"]);
  });
});
