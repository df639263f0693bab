import { describe, expect, it } from "vitest";
import * as effectiveAgent from "./effective-agent.ts";

describe("the effective agent", () => {
  it("is taken from the first place that names one", () => {
    const places = [
      { agent_slug: "asked" },
      { effective_agent_id: "effective" },
      { principal: { effective_agent_id: "Acting As" } },
      { persisted_agent_slug: "stored" },
      { persisted_effective_agent_id: "stored-id" },
      { owner_user_id: 3, owner_agent_slugs: ["owned"] },
    ];
    const named = places.map((_, index) => effectiveAgent.resolve(Object.assign({}, ...places.slice(index))));
    expect(named).toEqual(["asked", "effective", "acting-as", "stored", "stored-id", "owned"]);
  });

  it("goes past names that hold no letter or digit", () => {
    expect(effectiveAgent.resolve({ agent_slug: " - ", principal: "nobody", persisted_agent_slug: "p" })).toBe("p");
  });

  it("is the only agent of its owner, whoever knows of it", () => {
    const agentsOf = (owner: number) => (owner === 3 ? ["Helper", "helper"] : []);
    expect(effectiveAgent.resolve({ owner_user_id: "3" }, agentsOf)).toBe("helper");
    expect(effectiveAgent.resolve({ owner_user_id: 4 }, agentsOf)).toBe("");
    expect(effectiveAgent.resolve({ owner_agent_slugs: ["orphan"] }, agentsOf)).toBe("");
  });

  it("is not guessed when an owner has several", () => {
    expect(() => effectiveAgent.resolve({ owner_user_id: 3 }, () => ["a", "b"])).toThrow(
      "invalid_effective_agent_resolution",
    );
    expect(effectiveAgent.resolve({ owner_user_id: 3, persisted_agent_slug: "a" }, () => ["a", "b"])).toBe("a");
  });
});
