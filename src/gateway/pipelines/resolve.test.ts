import { describe, expect, it } from "vitest";
import { STEP_SUCCEEDED, SWITCH_FALSE, SWITCH_TRUE } from "../../contracts/gateway/job.ts";
import {
  event,
  graphOf,
  jobOf,
  onlyRoute,
  pipelineOf,
  placesOf,
  rfcPipelines,
  routesOf,
  toolRequest,
} from "./pipelines-in-test.ts";
import { type Emitter, enterPipeline, resolveEvent, resolveHook, resolveSkipped } from "./resolve.ts";

const outsidePipelines: Emitter = { job_id: "job", plugin: "a", place: null, context: {}, input: null, run: undefined };

describe("an event from outside", () => {
  it("enters every pipeline that listens for exactly its type, in the order of the configuration", () => {
    const graph = graphOf(`
- {name: second, on: page.changed, steps: [{id: x, uses: b}]}
- {name: longer, on: page.changed.twice, steps: [{id: x, uses: b}]}
- {name: first, on: page.changed, steps: [{split: [{id: y, uses: c}, {id: z, uses: d}]}]}
`);
    const routed = resolveEvent({ graph, event: event("page.changed") });
    expect(placesOf(routed)).toEqual(["second/x@0", "first/y@0", "first/z@0"]);
    expect(routesOf(routed).every(({ startsInstance }) => startsInstance)).toBe(true);
  });

  it("leads to nothing when no pipeline listens, which is no error", () => {
    expect(resolveEvent({ graph: graphOf(rfcPipelines), event: event("page.changed") })).toEqual({
      kind: "routed",
      routes: [],
    });
  });

  it("becomes one job in each of two pipelines, with the same dedupe key (scenario 35)", () => {
    const graph = graphOf(
      "- {name: p, on: t, steps: [{id: x, uses: a}]}\n- {name: q, on: t, steps: [{id: x, uses: b}]}",
    );
    const routed = resolveEvent({ graph, event: event("t", {}, { dedupe_key: "key" }) });
    expect(routesOf(routed).map((route) => [route.step.plugin, route.event.dedupe_key])).toEqual([
      ["a", "key"],
      ["b", "key"],
    ]);
    expect(new Set(routesOf(routed).map(({ place }) => place.instance_id)).size).toBe(2);
  });

  it("starts the same instance whenever it is routed again, and another one for another event, pipeline or job", () => {
    const graph = graphOf(
      "- {name: p, on: t, steps: [{split: [{uses: a}, {uses: b}]}]}\n- {name: q, on: t, steps: [{uses: a}]}",
    );
    const instances = (event_id: string, emitter?: Emitter) =>
      routesOf(resolveEvent({ graph, event: event("t", {}, { event_id }), ...(emitter && { emitter }) })).map(
        ({ place }) => place.instance_id,
      );
    const [first, second, other] = instances("one");
    expect(first).toBe(second);
    expect(first).not.toBe(other);
    expect(instances("one")).toEqual([first, second, other]);
    expect(instances("two")).not.toContain(first);
    expect(instances("one", outsidePipelines)).not.toContain(first);
  });

  it("only enters a pipeline with from_plugin when it comes from that plugin", () => {
    const graph = graphOf("- {name: p, on: t, from_plugin: b, steps: [{id: x, uses: a}]}");
    expect(placesOf(resolveEvent({ graph, event: event("t", {}, { source: "b" }) }))).toEqual(["p/x@0"]);
    expect(placesOf(resolveEvent({ graph, event: event("t", {}, { source: "" }) }))).toEqual([]);
    expect(placesOf(resolveEvent({ graph, event: event("t", {}, { source: "api" }) }))).toEqual([]);
  });
});

describe("the if of a pipeline", () => {
  const graph = graphOf(`
- name: p
  on: t
  if: {all: [{path: payload.n, op: gt, value: 1}, {path: context.user, op: eq, value: ada}]}
  steps: [{id: x, uses: a}]
`);
  const emitter = { ...outsidePipelines, context: { user: "ada" } };

  it("sees the payload and the context in which the event was emitted", () => {
    expect(placesOf(resolveEvent({ graph, event: event("t", { n: 2 }), emitter }))).toEqual(["p/x@0"]);
    expect(placesOf(resolveEvent({ graph, event: event("t", { n: 1 }), emitter }))).toEqual([]);
    expect(placesOf(resolveEvent({ graph, event: event("t", { n: 2 }) }))).toEqual([]);
  });

  it("fails the job that emitted a value of the wrong type", () => {
    expect(resolveEvent({ graph, event: event("t", { n: "2" }), emitter })).toEqual({
      kind: "refused",
      refusal: {
        reason: "predicate_failed",
        pipeline: "p",
        step_id: null,
        message: expect.stringMatching(/^pipeline "p": The predicate cannot be evaluated: gt compares numbers/),
      },
    });
  });
});

describe("an event of a pipeline step", () => {
  const graph = graphOf(`
- {name: p, on: t, steps: [{id: x, uses: a}, {split: [{id: y, uses: b}, {id: z, uses: c}]}]}
- {name: q, on: x.done, steps: [{id: w, uses: d}]}
`);
  const first = onlyRoute(resolveEvent({ graph, event: event("t") }));

  it("leads to the steps that follow, whatever its type, then to the pipelines that listen for it", () => {
    const emitter = jobOf(first);
    expect(placesOf(resolveEvent({ graph, event: event("anything"), emitter }))).toEqual(["p/y@1", "p/z@1"]);
    const both = routesOf(resolveEvent({ graph, event: event("x.done"), emitter }));
    expect(both.map(({ place }) => `${place.pipeline}/${place.step_id}@${place.depth}`)).toEqual([
      "p/y@1",
      "p/z@1",
      "q/w@0",
    ]);
    expect(both.map(({ startsInstance }) => startsInstance)).toEqual([false, false, true]);
    expect(both.map(({ place }) => place.instance_id === first.place.instance_id)).toEqual([true, true, false]);
  });

  it("runs the next step once for each of several events (scenario 16)", () => {
    const rfc = graphOf(rfcPipelines);
    const emitter = jobOf(onlyRoute(resolveEvent({ graph: rfc, event: toolRequest("fabric") })));
    const routes = ["e1", "e2", "e3"].flatMap((event_id) =>
      routesOf(resolveEvent({ graph: rfc, event: event("fabric.progress", { step: 0 }, { event_id }), emitter })),
    );
    expect(routes.map(({ step, event }) => [step.plugin, event.event_id])).toEqual([
      ["agentic-loop", "e1"],
      ["agentic-loop", "e2"],
      ["agentic-loop", "e3"],
    ]);
  });

  it("that says nothing but that the step succeeded stays inside the instance (scenario 15)", () => {
    const listening = graphOf(`
- {name: p, on: t, steps: [{id: x, uses: echo}, {id: y, uses: b}]}
- {name: q, on: ${STEP_SUCCEEDED}, steps: [{uses: d}]}
`);
    const emitter = jobOf(onlyRoute(resolveEvent({ graph: listening, event: event("t") })));
    expect(
      placesOf(resolveEvent({ graph: listening, event: event(STEP_SUCCEEDED, { result: "hi" }), emitter })),
    ).toEqual(["p/y@1"]);
  });

  it("leads to nothing behind the last step", () => {
    const last = routesOf(resolveEvent({ graph, event: event("anything"), emitter: jobOf(first) }))[1];
    expect(last && placesOf(resolveEvent({ graph, event: event("anything"), emitter: jobOf(last) }))).toEqual([]);
  });

  it("is refused when the step is not in the graph any more", () => {
    const place = { ...first.place, step_id: "gone" };
    expect(resolveEvent({ graph, event: event("t"), emitter: { ...jobOf(first), place } })).toMatchObject({
      refusal: { reason: "step_not_found", pipeline: "p", step_id: "gone" },
    });
  });

  it("of a step that was skipped is the step's own event, and enters no other pipeline", () => {
    expect(placesOf(resolveSkipped({ graph, emitter: jobOf(first) }))).toEqual(["p/y@1", "p/z@1"]);
    expect(resolveSkipped({ graph, emitter: jobOf(first) })).toMatchObject({ routes: [{ event: event("t") }, {}] });
    expect(placesOf(resolveSkipped({ graph, emitter: outsidePipelines }))).toEqual([]);
  });
});

describe("a switch", () => {
  const graph = graphOf(`
- {name: p, on: t, steps: [{id: x, uses: a, if: {path: payload.n, op: exists}}, {id: y, uses: b}]}
- {name: q, on: ${SWITCH_TRUE}, steps: [{uses: d}]}
`);
  const input = event("t", { n: 1 }, { dedupe_key: "key" });
  const emitter = jobOf(onlyRoute(resolveEvent({ graph, event: input })));

  it("goes on along the exits of its outcome only, and starts no pipeline", () => {
    expect(placesOf(resolveEvent({ graph, event: event(SWITCH_TRUE), emitter }))).toEqual(["p/x@1"]);
    expect(placesOf(resolveEvent({ graph, event: event(SWITCH_FALSE), emitter }))).toEqual(["p/y@1"]);
    expect(placesOf(resolveEvent({ graph, event: event("x.done"), emitter }))).toEqual([]);
  });

  it("hands on the event that it was asked about, without the dedupe key under which it has run itself", () => {
    const { dedupe_key: _, ...handedOn } = input;
    const route = onlyRoute(
      resolveEvent({ graph, event: event(SWITCH_FALSE, { n: 1 }, { event_id: "other" }), emitter }),
    );
    expect(route.event).toEqual(handedOn);
  });
});

describe("the depth of an instance", () => {
  const graph = graphOf(
    "- {name: p, on: t, max_depth: 1, steps: [{id: x, uses: a}, {id: y, uses: b}, {id: z, uses: c}]}",
  );
  const first = onlyRoute(resolveEvent({ graph, event: event("t") }));
  const second = onlyRoute(resolveEvent({ graph, event: event("x.done"), emitter: jobOf(first) }));

  it("counts hops, and the one beyond max_depth is refused", () => {
    expect([first.place.depth, second.place.depth]).toEqual([0, 1]);
    expect(resolveEvent({ graph, event: event("y.done"), emitter: jobOf(second) })).toEqual({
      kind: "refused",
      refusal: {
        reason: "depth_exceeded",
        pipeline: "p",
        step_id: "z",
        message: expect.stringContaining("max_depth of 1"),
      },
    });
  });

  it("is not limited with max_depth 0", () => {
    const unlimited = graphOf("- {name: p, on: t, max_depth: 0, steps: [{id: x, uses: a}, {id: y, uses: b}]}");
    const deep = { ...jobOf(first), place: { ...first.place, depth: 1_000 } };
    expect(placesOf(resolveEvent({ graph: unlimited, event: event("x.done"), emitter: deep }))).toEqual(["p/y@1001"]);
  });

  it("restarts with every instance, so that an agent resumes after its second tool and after its twentieth", () => {
    const rfc = graphOf(rfcPipelines);
    let agent: Emitter | undefined;
    for (let turn = 1; turn <= 20; turn++) {
      const request = { ...toolRequest("fabric", { step: turn }), event_id: `request-${turn}` };
      const tool = onlyRoute(resolveEvent({ graph: rfc, event: request, ...(agent && { emitter: agent }) }));
      const resume = onlyRoute(resolveEvent({ graph: rfc, event: event("fabric.completed"), emitter: jobOf(tool) }));
      expect([tool.place.depth, resume.place.depth, resume.step.plugin]).toEqual([0, 1, "agentic-loop"]);
      agent = jobOf(resume);
    }
  });
});

describe("an agent is not started from inside a run", () => {
  const graph = graphOf(`${rfcPipelines}
- {name: start, on: agentic.start, steps: [{id: agent, uses: agentic-loop, if: {path: payload.goal, op: exists}}]}
- {name: report, on: agent.completed, steps: [{id: x, uses: a}]}
`);
  const tool = onlyRoute(resolveEvent({ graph, event: toolRequest("fabric") }));
  const inRun = { run_id: "R1", step: 1, tool: "fabric" };

  it("neither by a pipeline nor by the step that resumes it", () => {
    expect(resolveEvent({ graph, event: event("agentic.start", { goal: "g" }), emitter: jobOf(tool, inRun) })).toEqual({
      kind: "refused",
      refusal: {
        reason: "agent_inside_run",
        pipeline: "agentic-tool-fabric",
        step_id: "resume",
        message: expect.stringContaining("from inside the run R1"),
      },
    });
    const direct = { ...outsidePipelines, context: inRun, run: "R1" };
    expect(resolveEvent({ graph, event: event("agentic.start", { goal: "g" }), emitter: direct })).toMatchObject({
      refusal: { reason: "agent_inside_run", pipeline: "start", step_id: "agent" },
    });
  });

  it("but from anywhere else, and what an ended run emits goes its way", () => {
    expect(placesOf(resolveEvent({ graph, event: event("agentic.start", { goal: "g" }) }))).toEqual([
      "start/agent.if@0",
    ]);
    expect(placesOf(resolveEvent({ graph, event: event("agentic.start"), emitter: outsidePipelines }))).toEqual([
      "start/agent.if@0",
    ]);
    const resume = onlyRoute(resolveEvent({ graph, event: event("fabric.completed"), emitter: jobOf(tool, inRun) }));
    expect(placesOf(resolveEvent({ graph, event: event("agent.completed"), emitter: jobOf(resume, inRun) }))).toEqual([
      "report/x@0",
    ]);
  });
});

describe("lifecycle hooks", () => {
  const graph = graphOf(`
- {name: p, on-hook: job.failed, steps: [{id: x, uses: a}]}
- {name: q, on-hook: job.failed, from_plugin: b, if: {path: payload.status, op: eq, value: failed}, steps: [{id: x, uses: a}]}
- {name: r, on: job.failed, steps: [{id: x, uses: a}]}
`);

  it("start the pipelines that listen for their signal, not those that listen for an event of the same name", () => {
    const failed = event("job.failed", { status: "failed" }, { source: "b" });
    expect(placesOf(resolveHook({ graph, signal: "job.failed", event: failed }))).toEqual(["p/x@0", "q/x@0"]);
    expect(placesOf(resolveHook({ graph, signal: "job.completed", event: failed }))).toEqual([]);
    const other = event("job.failed", { status: "dead" }, { source: "b" });
    expect(placesOf(resolveHook({ graph, signal: "job.failed", event: other }))).toEqual(["p/x@0"]);
  });
});

describe("a pipeline that is named by its caller", () => {
  it("is entered whatever plugin it listens to, unless its if does not hold", () => {
    const graph = graphOf(
      "- {name: p, on: t, from_plugin: b, if: {path: payload.n, op: exists}, steps: [{id: x, uses: a}]}",
    );
    const pipeline = pipelineOf(graph, "p");
    expect(placesOf(enterPipeline({ pipeline, event: event("t", { n: 1 }, { source: "api" }) }))).toEqual(["p/x@0"]);
    expect(placesOf(enterPipeline({ pipeline, event: event("t", {}, { source: "api" }) }))).toEqual([]);
  });
});
