import { describe, expect, it } from "vitest";
import { readAgentConfig } from "./agent-config.ts";
import { catalogueOf, checkTool, type RoutableTool } from "./tools.ts";

const tool = (name: string): [string, RoutableTool] => [
  name,
  { plugins: [name], jobs: 2, description: `Does ${name}.` },
];
const rules = (config: object, tools: readonly string[] = ["fetch", "fabric", "jina-reader"]) => ({
  config: readAgentConfig(config as never),
  routableTools: new Map(tools.map(tool)),
  agentNames: new Set(["agentic-loop"]),
});

describe("the tools of an agent", () => {
  it("are those that are allowed and that a pipeline listens to", () => {
    const allowed = rules({ allowed_plugins: ["fetch", "ghost", "agentic-loop"] });
    expect(catalogueOf(allowed)).toEqual([{ name: "fetch", description: "Does fetch.", commands: [] }]);
    expect(checkTool("fabric", allowed).outcome).toBe("not_allowed");
    expect(checkTool("ghost", allowed).outcome).toBe("unroutable");
    expect(checkTool("agentic-loop", allowed).outcome).toBe("not_allowed");
  });

  it("are listed once, under the name that is routed to another", () => {
    const routed = rules({ allowed_plugins: ["fetch", "jina-reader"], tool_routes: { fetch: "jina-reader" } });
    expect(catalogueOf(routed)).toEqual([{ name: "fetch", description: "Does jina-reader.", commands: [] }]);
    expect(checkTool("fetch", routed)).toMatchObject({ outcome: "usable", route: "jina-reader" });
    expect(checkTool("jina-reader", routed)).toMatchObject({ outcome: "usable", route: "jina-reader" });
  });

  it("are listed under their own name where the tool that is routed to them is not allowed", () => {
    const routed = rules({ allowed_plugins: ["jina-reader"], tool_routes: { fetch: "jina-reader" } });
    expect(catalogueOf(routed).map(({ name }) => name)).toEqual(["jina-reader"]);
  });

  it("may be routed to themselves", () => {
    const routed = rules({ allowed_plugins: ["fetch"], tool_routes: { fetch: "fetch" } });
    expect(catalogueOf(routed).map(({ name }) => name)).toEqual(["fetch"]);
  });

  it("are allowed by names without the space around them, no-break spaces included", () => {
    const pasted = rules({ allowed_plugins: [" fetch ", "\u00a0fabric\u00a0", "\u3000", ""] });
    expect(catalogueOf(pasted).map(({ name }) => name)).toEqual(["fetch", "fabric"]);
  });

  it("are none with an empty allowlist", () => {
    for (const config of [{}, { allowed_plugins: [] }, { allowed_plugins: null }])
      expect(catalogueOf(rules(config))).toEqual([]);
  });
});
