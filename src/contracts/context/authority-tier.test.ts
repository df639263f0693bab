import { describe, expect, it } from "vitest";
import { authorityRank, authorityTiers, isGovernance, normalize, specificityRank } from "./authority-tier.ts";

describe("authority tiers", () => {
  it("are listed from the highest authority to the lowest", () => {
    expect(authorityTiers.map(authorityRank)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it("have an order of specificity of their own", () => {
    const bySpecificity = authorityTiers.toSorted((left, right) => specificityRank(right) - specificityRank(left));
    expect(bySpecificity).toEqual([
      "conversation",
      "user_workspace_private",
      "workspace_shared",
      "user_global",
      "agent_memory",
      "agent_identity",
      "support_authority",
      "platform_authority",
    ]);
  });

  it("govern at the top two places only", () => {
    expect(authorityTiers.filter(isGovernance)).toEqual(["platform_authority", "support_authority"]);
  });

  it("are read without the space around them and in any case", () => {
    expect(normalize(" \tAgent_MEMORY\n")).toBe("agent_memory");
  });

  it.each([["root"], [""], [null], [8], [["conversation"]], ["wor\u212Aspace_shared"], ["conversation\u00a0"]])(
    "are none of %j",
    (value) => {
      expect(() => normalize(value)).toThrow(/^invalid_agent_context_item: .*authority tier/);
    },
  );
});
