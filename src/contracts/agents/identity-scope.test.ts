import { describe, expect, it } from "vitest";
import * as identityScope from "./identity-scope.ts";

describe("the scope of an identity", () => {
  it("has one spelling", () => {
    const scope = identityScope.normalize({ agent_slug: " My Agent! ", owner_user_id: 7, instance_key: " Site:42 " });
    expect(scope).toEqual({ agent_slug: "my-agent", owner_user_id: 7, instance_key: "site:42" });
    expect(identityScope.key(scope)).toBe("my-agent:7:site:42");
    expect(identityScope.normalize({ agent_slug: "a" })).toMatchObject({ owner_user_id: 0, instance_key: "default" });
    expect(identityScope.normalize(scope)).toEqual(scope);
  });

  it.each([
    ["Team A / Repo  B /", "team-a/repo-b"],
    ["a_b.c:d-e", "a_b.c:d-e"],
    ["/x//y/", "x//y"],
    ["\u212Aé", ""],
    [12, "12"],
  ])("spells the key %j as %j", (given, instance_key) => {
    const normalize = () => identityScope.normalize({ agent_slug: "a", instance_key: given });
    if (instance_key === "") expect(normalize).toThrow("instance_key");
    else expect(normalize()).toMatchObject({ instance_key });
  });

  it.each([
    ["agent_slug", { agent_slug: "!!" }],
    ["agent_slug", {}],
    ["owner_user_id", { agent_slug: "a", owner_user_id: -1, instance_key: "" }],
    ["instance_key", { agent_slug: "a", instance_key: " -/- " }],
    ["instance_key", { agent_slug: "a", instance_key: {} }],
  ])("is refused for its %s: %j", (field, scope) => {
    expect(() => identityScope.normalize(scope)).toThrow(`invalid_agent_identity_scope: ${field}`);
  });
});
