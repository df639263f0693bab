import { describe, expect, it } from "vitest";
import { type ApprovalKey, createMemoryApprovalMemory, nullApprovalMemory } from "./approval-memory.ts";

const key: ApprovalKey = {
  workspace: { workspace_type: "site", workspace_id: "1" },
  user_id: 7,
  agent_id: "writer",
  tool_name: "posts/publish",
};

describe("an approval memory", () => {
  it("recalls what was last remembered, until it is told to forget", () => {
    const memory = createMemoryApprovalMemory();
    expect(memory.recall(key)).toBeNull();
    memory.remember(key, "preview");
    memory.remember(key, "direct");
    expect(memory.recall({ ...key, workspace: { ...key.workspace } })).toBe("direct");
    memory.forget(key);
    expect(memory.recall(key)).toBeNull();
  });

  it.each([
    { workspace: { workspace_type: "site", workspace_id: "2" } },
    { workspace: { workspace_type: "network", workspace_id: "1" } },
    { user_id: 8 },
    { agent_id: "editor" },
    { tool_name: "posts/delete" },
  ])("does not apply a decision to somebody or something else: %j", (other) => {
    const memory = createMemoryApprovalMemory();
    memory.remember(key, "direct");
    expect(memory.recall({ ...key, ...other })).toBeNull();
  });

  it("keeps ids apart whatever text they hold", () => {
    const memory = createMemoryApprovalMemory();
    memory.remember({ ...key, agent_id: 'a","b', tool_name: "c" }, "direct");
    expect(memory.recall({ ...key, agent_id: "a", tool_name: 'b","c' })).toBeNull();
  });

  it("may also remember nothing", () => {
    nullApprovalMemory.remember(key, "direct");
    expect(nullApprovalMemory.recall(key)).toBeNull();
  });
});
