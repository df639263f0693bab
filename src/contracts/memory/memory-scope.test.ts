import { describe, expect, it } from "vitest";
import { key, normalize } from "./memory-scope.ts";

describe("a memory scope", () => {
  it("is read part by part, and its workspace like every workspace", () => {
    const given = {
      layer: " My Layer ",
      workspace_type: " Site",
      workspace_id: 42,
      user_id: "7",
      filename: " a/B.md ",
    };
    const scope = normalize(given);
    expect(scope).toEqual({
      layer: "My Layer",
      workspace_type: "site",
      workspace_id: "42",
      user_id: 7,
      agent_id: 0,
      filename: "a/B.md",
    });
    expect(key(scope)).toBe("My Layer:site:42:7:0:a/B.md");
  });

  it.each([
    [{ workspace_id: "1" }, "workspace_type"],
    [{ workspace_type: "site" }, "workspace_id"],
    [[], "workspace_type"],
  ])("needs a workspace (%#)", (given, field) => {
    expect(() => normalize(given)).toThrow(`invalid_agent_workspace_scope: ${field}`);
  });
});
