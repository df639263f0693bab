import { describe, expect, it } from "vitest";
import { edgesOf, graphOf, pipelineOf, problemsOf, rfcPipelines, warningsOf } from "../pipelines-in-test.ts";

const stepOf = (yaml: string, id: string, pipeline = "p") => pipelineOf(graphOf(yaml), pipeline).steps.get(id);

describe("the pipelines of the RFC", () => {
  it("compile as they stand there, without a warning", () => {
    const graph = graphOf(rfcPipelines);
    expect(edgesOf(graph, "agentic-tool-fetch")).toEqual(["-> fetch", "fetch -> resume"]);
    expect(edgesOf(graph, "agentic-tool-fabric")).toEqual(["-> fabric", "fabric -> resume"]);
    expect(warningsOf(rfcPipelines)).toEqual([]);
  });

  it("report a failed tool to the agent, and nothing to an agent about itself", () => {
    expect(stepOf(rfcPipelines, "fetch", "agentic-tool-fetch")).toMatchObject({ on_error: "bridge", is_agent: false });
    expect(stepOf(rfcPipelines, "resume", "agentic-tool-fetch")).toMatchObject({ on_error: "none", is_agent: true });
  });
});

describe("compiling", () => {
  it("joins the steps of a sequence, and those of nested ones", () => {
    const graph = graphOf(
      "- {name: p, on: t, steps: [{id: x, uses: a}, {steps: [{id: y, uses: b}, {id: z, uses: c}]}, {id: w, uses: d}]}",
    );
    expect(edgesOf(graph, "p")).toEqual(["-> x", "x -> y", "y -> z", "z -> w"]);
  });

  it("puts a switch before a step with an if, which goes on behind the step when it does not hold", () => {
    const yaml =
      "- {name: p, on: t, steps: [{id: x, uses: a}, {id: y, uses: b, if: {path: payload.n, op: gt, value: 1}}, {id: z, uses: c}]}";
    expect(edgesOf(graphOf(yaml), "p")).toEqual([
      ...["-> x", "x -> y.if", "y.if -true-> y", "y.if -false-> z", "y -> z"],
    ]);
    expect(stepOf(yaml, "y.if")).toEqual({
      id: "y.if",
      kind: "switch",
      plugin: "core.switch",
      is_agent: false,
      predicate: { path: "payload.n", op: "gt", value: 1 },
      guards: "b",
      baggage: [],
      on_error: "none",
      next: [
        { to: "y", when: "true" },
        { to: "z", when: "false" },
      ],
    });
  });

  it("lets one switch guard a whole group, and ends there when nothing follows", () => {
    const yaml =
      "- {name: p, on: t, steps: [{id: g, if: {path: payload.n, op: exists}, split: [{id: x, uses: a}, {id: y, uses: b}]}]}";
    expect(edgesOf(graphOf(yaml), "p")).toEqual(["-> g.if", "g.if -true-> x", "g.if -true-> y"]);
  });

  it("enters every branch of a split, and runs what follows once for each of their exits", () => {
    const yaml =
      "- {name: p, on: t, steps: [{split: [{id: x, uses: a}, {steps: [{id: y, uses: b}, {id: z, uses: c}]}]}, {id: w, uses: d}]}";
    expect(edgesOf(graphOf(yaml), "p")).toEqual(["-> x", "-> y", "x -> w", "y -> z", "z -> w"]);
  });

  it("inlines a called pipeline and goes on behind the call", () => {
    const yaml = `
- {name: p, on: t, steps: [{id: x, uses: a}, {id: go, call: shared}, {id: w, uses: d}]}
- {name: shared, on: s, steps: [{id: y, uses: b}, {id: z, uses: c}]}
`;
    const graph = graphOf(yaml);
    expect(edgesOf(graph, "p")).toEqual(["-> x", "x -> go.y", "go.y -> go.z", "go.z -> w"]);
    expect(edgesOf(graph, "shared")).toEqual(["-> y", "y -> z"]);
  });

  it("inlines a pipeline as often as it is called, calls within it included", () => {
    const yaml = `
- {name: p, on: t, steps: [{id: one, call: q}, {id: two, call: q}]}
- {name: q, on: s, steps: [{id: go, call: r}]}
- {name: r, on: u, steps: [{id: x, uses: a, if: {path: payload.n, op: exists}}]}
`;
    expect(edgesOf(graphOf(yaml), "p")).toEqual([
      ...[
        "-> one.go.x.if",
        "one.go.x.if -true-> one.go.x",
        "one.go.x.if -false-> two.go.x.if",
        "one.go.x -> two.go.x.if",
      ],
      "two.go.x.if -true-> two.go.x",
    ]);
  });

  it("calls steps without an id step_<n>, by their place among all steps, and leaves out what is taken", () => {
    const yaml =
      "- {name: p, on: t, steps: [{uses: a}, {split: [{uses: b}, {id: step_4, uses: c}]}, {uses: d}, {uses: a}]}";
    expect([...pipelineOf(graphOf(yaml), "p").steps.keys()]).toEqual([
      "step_1",
      "step_3",
      "step_4",
      "step_5",
      "step_6",
    ]);
    const taken = "- {name: p, on: t, steps: [{uses: a}, {id: step_1, uses: b}]}";
    expect([...pipelineOf(graphOf(taken), "p").steps.keys()]).toEqual(["step_2", "step_1"]);
  });

  it("keeps ids apart that objects have by themselves", () => {
    const yaml = "- {name: p, on: t, steps: [{id: constructor, uses: a}, {id: toString, uses: b}]}";
    expect(edgesOf(graphOf(yaml), "p")).toEqual(["-> constructor", "constructor -> toString"]);
  });

  it.each([
    ["the jobs of its longest chain, switches included", "", 4],
    ["what its author says", "max_depth: 7, ", 7],
    ["nothing with max_depth 0", "max_depth: 0, ", null],
  ])("limits the depth of an instance to %s", (_, key, limit) => {
    const yaml = `- {name: p, on: t, ${key}steps: [{uses: a}, {split: [{uses: b}, {uses: b, if: {path: payload.n, op: exists}}]}, {uses: c}]}`;
    expect(pipelineOf(graphOf(yaml), "p").max_depth).toBe(limit);
  });

  it("bridges failures by default where a tool request starts the pipeline, in called steps too", () => {
    const yaml = `
- {name: p, on: agentic.tool_request.x, steps: [{id: go, call: shared}, {id: y, uses: b, on_error: none}, {uses: agentic-loop}]}
- {name: shared, on: s, steps: [{id: x, uses: a, if: {path: payload.n, op: exists}}, {id: z, uses: c, on_error: bridge}]}
`;
    const onError = (pipeline: string) =>
      Object.fromEntries(
        [...pipelineOf(graphOf(yaml), pipeline).steps.values()].map(({ id, on_error }) => [id, on_error]),
      );
    expect(onError("p")).toMatchObject({ "go.x.if": "bridge", "go.x": "bridge", "go.z": "bridge", y: "none" });
    expect(onError("shared")).toEqual({ "x.if": "none", x: "none", z: "bridge" });
  });

  it("lets a pipeline listen to dead letters", () => {
    expect(pipelineOf(graphOf("- {name: p, on: dead_letter, steps: [{uses: a}]}"), "p").trigger).toEqual({
      on: "dead_letter",
    });
  });

  it("lets what a pipeline emits start it again", () => {
    expect(problemsOf("- {name: p, on: a.done, from_plugin: a, steps: [{uses: a}]}")).toEqual([]);
  });
});

describe("a configuration is refused, naming the pipeline, the line and the column (scenario 42)", () => {
  it.each([
    [
      "a name that is used twice",
      "- {name: p, on: t, steps: [{uses: a}]}\n- {name: p, on: u, steps: [{uses: b}]}",
      [/^2:4 pipeline "p": the name is used twice, first in pipelines\.yaml, line 1\./],
    ],
    [
      "both triggers",
      "- {name: p, on: t, on-hook: job.failed, steps: [{uses: a}]}",
      [/^1:20 pipeline "p": "on" and "on-hook"/],
    ],
    [
      "an unknown plugin",
      "- {name: p, on: t, steps: [{uses: fabrik}]}",
      [/^1:29 pipeline "p", step 1: "uses" names no plugin: "fabrik"\. Did you mean "fabric"\?/],
    ],
    [
      "an unknown plugin in a branch of a call",
      "- {name: p, on: t, steps: [{call: q}]}\n- {name: q, on: u, steps: [{split: [{uses: z9z9}]}]}",
      [/^2:38 pipeline "q", step 1, step 1: "uses" names no plugin: "z9z9"\./],
    ],
    [
      "an unknown source",
      "- {name: p, on: t, from_plugin: agent-loop, steps: [{uses: a}]}",
      [/^1:20 pipeline "p": "from_plugin" names no plugin: "agent-loop"\. Did you mean "agentic-loop"\?/],
    ],
    [
      "an unknown pipeline",
      "- {name: shared, on: t, steps: [{call: share}]}",
      [/^1:34 pipeline "shared", step 1: "call" names no pipeline: "share"\. Did you mean "shared"\?/],
    ],
    [
      "a command that the plugin does not declare",
      "- {name: p, on: t, steps: [{uses: jina-reader, command: haed}]}",
      [/^1:48 pipeline "p", step 1: jina-reader declares no command "haed"\. Did you mean "head"\?/],
    ],
    [
      "a step id that is used twice",
      "- {name: p, on: t, steps: [{id: x, uses: a}, {steps: [{id: x, uses: b}]}]}",
      [/^1:56 pipeline "p", step 2, step "x": the id "x" is used twice/],
    ],
    [
      "an id that a switch needs",
      "- {name: p, on: t, steps: [{id: x, uses: a, if: {path: payload.n, op: exists}}, {id: x.if, uses: b}]}",
      [/the id "x\.if" is needed for another step/],
    ],
    [
      "an id that a called step needs",
      "- {name: p, on: t, steps: [{id: x, call: q}, {id: x.y, uses: b}]}\n- {name: q, on: u, steps: [{id: y, uses: a}]}",
      [/^1:47 pipeline "p", step "x\.y": the id "x\.y" is needed for another step/],
    ],
    [
      "a pipeline that calls itself",
      "- {name: a, on: t, steps: [{call: a}]}",
      [/^1:29 .*the calls form a cycle: a -> a\./],
    ],
    [
      "a call cycle",
      "- {name: a, on: t, steps: [{call: b}]}\n- {name: b, on: u, steps: [{uses: a}, {call: a}]}",
      [/^2:40 pipeline "b", step 2: the calls form a cycle: a -> b -> a\./],
    ],
    [
      "a call cycle that is reached from elsewhere",
      "- {name: x, on: s, steps: [{call: a}]}\n- {name: a, on: t, steps: [{call: b}]}\n- {name: b, on: u, steps: [{call: a}]}",
      [/the calls form a cycle: a -> b -> a\./],
    ],
    [
      "two actions in a step",
      "- {name: p, on: t, steps: [{uses: a, call: q}]}",
      [/^1:38 pipeline "p", step 1: a step does one thing/],
    ],
    [
      "a negative max_depth",
      "- {name: p, on: t, max_depth: -1, steps: [{uses: a}]}",
      [/^1:20 pipeline "p": "max_depth"/],
    ],
  ])("with %s", (_, yaml, expected) => {
    expect(problemsOf(yaml)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });

  it("when its calls add up to more than a thousand steps, before they are inlined", () => {
    const pipelines = Array.from({ length: 30 }, (_, at) => {
      const steps = at === 29 ? "{uses: a}" : `{call: p${at + 1}}, {call: p${at + 1}}`;
      return `- {name: p${at}, on: t, steps: [${steps}]}`;
    });
    const problems = problemsOf(pipelines.join("\n"));
    expect(problems).toContainEqual(
      expect.stringContaining('pipeline "p0": with the pipelines it calls it has more than 1000'),
    );
    expect(problems).toHaveLength(20);
  });

  it("with the first fifty names that are not known, however many there are", () => {
    const steps = Array.from({ length: 900 }, (_, at) => `{uses: unknown-${at}}`);
    expect(problemsOf(`- {name: p, on: t, steps: [${steps.join(", ")}]}`)).toHaveLength(50);
  });

  it("when calls are nested too deep", () => {
    const pipelines = Array.from({ length: 200 }, (_, at) => {
      return `- {name: p${at}, on: t, steps: [{${at === 199 ? "uses: a" : `call: p${at + 1}`}}]}`;
    });
    expect(problemsOf(pipelines.join("\n"))[0]).toMatch(/pipeline "p\d+": calls are nested deeper than 32/);
  });
});

describe("an agent is never a tool: a pipeline on a tool request does not load when it enters one", () => {
  it.each([
    ["directly", "[{uses: agentic-loop}]"],
    ["in a group", "[{steps: [{uses: agentic-loop}]}]"],
    ["in a branch", "[{split: [{uses: a}, {uses: agentic-loop}]}]"],
    ["through a call", "[{call: shared}]"],
    ["behind a condition", "[{uses: agentic-loop, if: {path: payload.n, op: exists}}]"],
    ["past a step that is left out", "[{uses: a, if: {path: payload.n, op: exists}}, {uses: agentic-loop}]"],
    [
      "past nested conditions",
      "[{if: {path: payload.n, op: exists}, steps: [{uses: a, if: {path: payload.m, op: exists}}, {uses: agentic-loop}]}]",
    ],
  ])("%s", (_, steps) => {
    const shared = "- {name: shared, on: s, steps: [{uses: agentic-loop}]}";
    expect(problemsOf(`- {name: p, on: agentic.tool_request.x, steps: ${steps}}\n${shared}`)).toEqual([
      expect.stringMatching(/^1:3 pipeline "p": it listens to "agentic\.tool_request\.x" and enters an agent/),
    ]);
  });

  it("but every other pipeline may enter one", () => {
    expect(problemsOf("- {name: p, on: agentic.start, steps: [{uses: agentic-loop}]}")).toEqual([]);
    expect(problemsOf("- {name: p, on: agentic.tool_result, steps: [{uses: agentic-loop}]}")).toEqual([]);
  });
});

describe("a warning is due", () => {
  it.each([
    [
      "for a tool without a step that resumes",
      "- {name: p, on: agentic.tool_request.x, steps: [{uses: a}]}",
      /^1:3 pipeline "p": no step of it is an agent/,
    ],
    [
      "for a pipeline that nothing starts",
      "- {name: p, on: ductile.step.succeeded, steps: [{uses: a}]}",
      /^1:3 .*start no pipeline/,
    ],
    [
      "for a plugin without handle",
      "- {name: p, on: t, steps: [{uses: reporter}]}",
      /^1:29 .*reporter declares no command "handle"/,
    ],
    [
      "for a bridge to an agent about itself",
      "- {name: p, on: t, steps: [{uses: agentic-loop, on_error: bridge}]}",
      /has no effect/,
    ],
    [
      "for the configuration of a group",
      "- {name: p, on: t, steps: [{steps: [{uses: a}], if: {not: {path: config.x, op: exists}}}]}",
      /config is empty/,
    ],
    [
      "for a template that cannot be read",
      `- {name: p, on: t, steps: [{uses: a, with: {x: "s3cret {payload.a"}}]}`,
      /the template of "x" has a brace/,
    ],
  ])("%s", (_, yaml, expected) => {
    expect(warningsOf(yaml)).toEqual([expect.stringMatching(expected)]);
    expect(warningsOf(yaml).join()).not.toContain("s3cret");
  });

  it("for no tool whose results are routed by a pipeline of their own", () => {
    const yaml =
      "- {name: p, on: agentic.tool_request.x, steps: [{uses: a}]}\n- {name: q, on: agentic.tool_result, steps: [{uses: agentic-loop}]}";
    expect(warningsOf(yaml)).toEqual([]);
  });
});
