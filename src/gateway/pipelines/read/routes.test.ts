import { expect, it } from "vitest";
import { edgesOf, event, graphOf, placesOf, problemsOf, warningsOf } from "../pipelines-in-test.ts";
import { resolveEvent } from "../resolve.ts";

const routes = "- {from: a, event_type: a.done, to: b}\n- {from: a, event_type: a.done, to: b}\n";

it("a route is compiled into a pipeline with one step and with from_plugin, with a warning", () => {
  const graph = graphOf("[]", routes);
  const name = "route a a.done b";
  expect([...graph.pipelines.keys()]).toEqual([name]);
  expect(edgesOf(graph, name)).toEqual(["-> step_1"]);
  expect(placesOf(resolveEvent({ graph, event: event("a.done") }))).toEqual([`${name}/step_1@0`]);
  expect(placesOf(resolveEvent({ graph, event: event("a.done", {}, { source: "c" }) }))).toEqual([]);
  expect(warningsOf("[]", routes)).toEqual([
    `1:3 routes: is the older form of pipelines; this one is compiled into the pipeline "${name}".`,
    `2:3 routes: "${name}" is listed before; this one is left out.`,
  ]);
});

it.each([
  ["that is no list", "from: a", /^1:1 routes: a list of routes is expected/],
  ["that is no map", "- a", /^1:3 route 1 of the list: a map is expected/],
  ["without a target", "- {from: a, event_type: t}", /^1:3 route 1 of the list: "to" is missing/],
  [
    "with an unknown key",
    "- {from: a, event_type: t, to: b, type: t}",
    /^1:35 route 1 of the list: the key "type" is not known/,
  ],
  ["with a wildcard", "- {from: a, event_type: t.*, to: b}", /^1:13 .*wildcards are not supported/],
  [
    "from an unknown plugin",
    "- {from: z9z9, event_type: t, to: b}",
    /^1:4 pipeline "route z9z9 t b": "from_plugin" names no plugin/,
  ],
  [
    "to an unknown plugin",
    "- {from: a, event_type: t, to: z9z9}",
    /^1:28 pipeline "route a t z9z9", step 1: "uses" names no plugin/,
  ],
  [
    "of a tool request to an agent",
    "- {from: a, event_type: agentic.tool_request.x, to: agentic-loop}",
    /enters an agent/,
  ],
])("a route %s is refused with its place", (_, yaml, expected) => {
  expect(problemsOf("[]", yaml)).toEqual([expect.stringMatching(expected)]);
});

it("problems of pipelines and routes are reported together", () => {
  expect(problemsOf("- {name: p}", "- a").length).toBe(3);
});
