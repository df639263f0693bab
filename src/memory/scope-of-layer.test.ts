import { describe, expect, it } from "vitest";
import { key } from "../contracts/memory/memory-scope.ts";
import { memorySubject } from "./memory-subject.ts";
import { memoryScope, scopeOfLayer } from "./scope-of-layer.ts";

const workspace = { workspace_type: "site", workspace_id: "42" };
const layers = ["workspace", "shared", "agent", "user", "principal", "network"] as const;

function keysFor(acting_user_id: number, where: typeof workspace | null = workspace) {
  const about = { principal: { acting_user_id }, workspace: where, context: "chat" };
  const subject = memorySubject(about, { slug: "clerk", id: 3 });
  return layers.map((layer) => scopeOfLayer(layer, subject, "a")).map((scope) => scope && key(scope));
}

describe("where the memories of a layer lie", () => {
  it("is the place, the user and the agent that the layer is about", () => {
    expect(keysFor(7)).toEqual([
      "workspace:site:42:0:0:a",
      "shared:site:42:0:0:a",
      "agent:site:42:0:3:a",
      "user:network:default:7:0:a",
      "principal:site:42:7:3:a",
      "network:network:default:0:0:a",
    ]);
  });

  it("is nowhere for a user's layers where there is no user", () => {
    expect(keysFor(0).map((scope) => scope === null)).toEqual([false, false, false, true, true, false]);
  });

  it("is the usual place where none is named", () => {
    expect(keysFor(7, null)[0]).toBe("workspace:site:default:0:0:a");
  });

  it("is told to programs that say whose memory they mean", () => {
    expect(key(memoryScope("user", "a", { user_id: 7 }))).toBe("user:network:default:7:0:a");
    expect(() => memoryScope("user", "a")).toThrow("needs a user_id");
    expect(() => memoryScope("principal", "a", { user_id: 7 })).toThrow("needs an agent_id");
  });

  it.each([
    ["a layer that there is not", () => memoryScope("everybody" as never, "a")],
    ["a name that is none", () => memoryScope("network", 7 as never)],
    ["a name with a zero", () => memoryScope("network", "a\0")],
    ["a name with half a character", () => memoryScope("network", "a\ud800")],
    ["a name that is too long", () => memoryScope("network", "a".repeat(1_001))],
    ["a workspace with a zero", () => memoryScope("shared", "a", { workspace: { ...workspace, workspace_id: "4\0" } })],
    [
      "a workspace with half a character",
      () => memoryScope("shared", "a", { workspace: { ...workspace, workspace_id: "4\udfff" } }),
    ],
    ["nobody at all", () => memoryScope("network", "a", null as never)],
    ["a user who is no number", () => memoryScope("user", "a", { user_id: "7" as never })],
    ["a user below zero", () => memoryScope("user", "a", { user_id: -7 })],
    ["half an agent", () => memoryScope("agent", "a", { agent_id: 1.5 })],
  ])("is not told for %s", (_what, ask) => {
    expect(ask).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("is not told for a workspace that is none", () => {
    expect(() => memoryScope("shared", "a", { workspace: {} as never })).toThrow("invalid_agent_workspace_scope");
  });
});
