import { expect, it } from "vitest";
import { graphOf, rfcPipelines } from "./pipelines-in-test.ts";
import { routableTools } from "./routable-tools.ts";

it("the tools of the RFC can be requested, each as a chain of two jobs, and no other (scenario 24)", () => {
  const tools = routableTools(graphOf(rfcPipelines), "agentic-loop");
  expect([...tools.values()]).toEqual([
    { tool: "jina-reader", pipelines: ["agentic-tool-fetch"], plugins: ["jina-reader"], longestChain: 2, jobs: 2 },
    { tool: "fabric", pipelines: ["agentic-tool-fabric"], plugins: ["fabric"], longestChain: 2, jobs: 2 },
  ]);
  expect(tools.has("shell")).toBe(false);
});

it("a tool with several pipelines leads to the plugins of all, and costs the jobs of all", () => {
  const graph = graphOf(`
- {name: p, on: agentic.tool_request.x, steps: [{uses: a, if: {path: payload.n, op: exists}}, {uses: b}, {uses: agentic-loop}]}
- {name: q, on: agentic.tool_request.x, from_plugin: a, steps: [{split: [{uses: c}, {uses: a}]}, {uses: d}]}
- {name: r, on: agentic.start, steps: [{uses: agentic-loop}]}
`);
  expect([...routableTools(graph, "a").values()]).toEqual([
    { tool: "x", pipelines: ["p", "q"], plugins: ["a", "b", "c"], longestChain: 4, jobs: 4 + 4 },
  ]);
  expect(routableTools(graph, "agentic-loop").get("x")).toMatchObject({ pipelines: ["p"], plugins: ["a", "b"] });
});
