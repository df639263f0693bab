import { expect, it } from "vitest";
import type { JsonMap } from "../../contracts/json.ts";
import { graphOf, rfcPipelines } from "../pipelines/pipelines-in-test.ts";
import { maxTreeJobs } from "./max-tree-jobs.ts";

const agent = (config: JsonMap = {}, name = "agentic-loop") => ({ name, isAgent: true, config });
const echo = { name: "echo", isAgent: false, config: { max_steps: 500 } };

it.each([
  ["no agent", [echo], 1_000],
  ["an agent with its defaults of 20 steps and 2 attempts", [agent()], 1_000],
  ["an agent with 100 steps", [agent({ max_steps: 100 })], 2 * (1 + 100 * 2 * 11)],
  ["an agent with max_loops", [agent({ max_loops: 60 }, "mine")], 2 * (1 + 60 * 2 * 11)],
  ["an agent with 5 attempts", [agent({ max_attempts_per_step: 5 })], 2 * (1 + 20 * 5 * 11)],
  ["an agent whose ceiling is unusable", [agent({ max_steps: "many" })], 1_000],
  ["the largest of two agents", [agent(), agent({ max_steps: 80 }, "b")], 2 * (1 + 80 * 2 * 11)],
])("without pipelines, or with short ones, the most jobs of a tree fit %s", (_what, plugins, most) => {
  expect(maxTreeJobs(plugins, graphOf("[]"))).toBe(most);
  expect(maxTreeJobs(plugins, graphOf(rfcPipelines))).toBe(most);
});

const long = (more = "") => `
- {name: long, on: agentic.tool_request.a, ${more}steps: [${"{uses: b}, ".repeat(60)}{uses: agentic-loop}]}
- {name: short, on: agentic.tool_request.b, steps: [{uses: b}, {uses: agentic-loop}]}
`;
const split = `
- name: split
  on: agentic.tool_request.a
  steps: [{split: [${"{uses: b}, ".repeat(20)}{uses: c}]}, {uses: d, if: {path: payload.n, op: exists}}, {uses: agentic-loop}]
`;
const deadLetters = "- {name: dead, on: dead_letter, steps: [{uses: a}, {uses: b}]}\n";

it.each([
  ["the longest pipeline of its tools", long(), ["a", "b"], 61],
  ["a pipeline that splits", split, ["a"], 21 * 4],
  ["what its dead letters start", long() + deadLetters, ["a"], 61 + 2],
  ["but no tool that it may not request", long(), ["b"], 11],
  ["but no pipeline of another agent", long("from_plugin: c, "), ["a"], 11],
])(
  "the most jobs of a tree fit an agent at its step ceiling with %s",
  (_what, pipelines, allowed_plugins, perRequest) => {
    const most = 2 * (1 + 90 * 2 * perRequest);
    expect(maxTreeJobs([echo, agent({ max_steps: 90, allowed_plugins })], graphOf(pipelines))).toBe(most);
  },
);
