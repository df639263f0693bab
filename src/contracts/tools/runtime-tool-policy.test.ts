import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import { fromTools, policyFor } from "./runtime-tool-policy.ts";

describe("a runtime tool policy", () => {
  it("allows only what lives in the runtime with all it may touch", () => {
    const local = { environment: "runtime_local", capability_scope: "runtime_local" };
    const { tools } = fromTools({
      "client/pick": { runtime: local },
      "site/read": { runtime: { ...local, capability_scope: "elsewhere" } },
      "site/erase": [],
    });
    expect(tools.map(({ allowed, capability_scope }) => [allowed, capability_scope])).toEqual([
      [true, "runtime_local"],
      [false, "elsewhere"],
      [false, "control_plane"],
    ]);
  });

  it("leaves out what has no name or is no declaration", () => {
    expect(fromTools({ " ": { name: "" }, a: "tool", b: null, " c ": { source: " " } }).tools).toMatchObject([
      { id: "c", runtime_tool_id: "c" },
    ]);
    for (const source of ["", 5, null]) {
      expect(fromTools({ c: { source } }).tools[0]).not.toHaveProperty("source");
    }
    expect(fromTools({ c: { source: " client " } }).tools[0]).toMatchObject({ source: " client " });
  });

  it("carries no context unless there is a scalar in it", () => {
    expect(fromTools({}, { user: { id: 1 }, none: null, odd: Number.NaN })).not.toHaveProperty("context");
    expect(fromTools({}, { agent: "", live: false }).context).toEqual({ agent: "", live: false });
  });
});

it("is passed through the host's filter, which may narrow it", async () => {
  const hooks = createHooks();
  hooks.filter("runtimeToolPolicy", (policy) => ({ ...policy, tools: [] }));
  const tools = { "client/pick": { runtime: { environment: "runtime_local", capability_scope: "runtime_local" } } };
  expect(await policyFor(tools, {}, hooks)).toMatchObject({ version: 1, tools: [] });
  expect(await policyFor(tools, {}, createHooks())).toEqual(fromTools(tools));
});
