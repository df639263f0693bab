import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../contracts/json.ts";
import { event, graphOf, jobOf, onlyRoute, plugins, rfcPipelines, toolRequest } from "./pipelines-in-test.ts";
import { prepareStep, type StepJob } from "./prepare-step.ts";
import { type Emitter, type Route, resolveEvent } from "./resolve.ts";

function prepared(route: Route, emitter?: Emitter): { readonly job: StepJob; readonly warnings: readonly string[] } {
  const outcome = prepareStep({ route, plugins, ...(emitter && { emitter }) });
  if (outcome.kind === "refused") throw new Error(outcome.refusal.message);
  return outcome;
}

describe("the pipelines of the RFC", () => {
  const graph = graphOf(rfcPipelines);
  const agent: Emitter = {
    job_id: "J1",
    plugin: "agentic-loop",
    place: null,
    context: { run_id: "R0" },
    input: null,
    run: undefined,
  };

  it("carry the correlation to the step that resumes, whatever the tool emits (scenario 13)", () => {
    const request = { ...toolRequest("jina-reader", { tool: "fetch" }), source: "something else" };
    const tool = onlyRoute(resolveEvent({ graph, event: request, emitter: agent }));
    const job = prepared(tool, agent).job;
    const correlation = {
      ...{ run_id: "R1", step: 1, tool: "fetch", tool_command: "handle", attempt: 1 },
      agent: "agentic-loop",
    };
    expect(job).toEqual({ plugin: "jina-reader", command: "handle", payload: request, context: correlation });

    const content = event("content_ready", { text: "…", step: 0, total: 1 });
    const emitter = jobOf(tool, job.context);
    const resume = onlyRoute(resolveEvent({ graph, event: content, emitter }));
    expect(prepared(resume, emitter).job).toEqual({
      ...{ plugin: "agentic-loop", command: "handle", payload: content, context: correlation },
    });
  });

  it("take the attempt for the first when the request does not say", () => {
    const { attempt: _, ...payload } = toolRequest("fabric").payload;
    const route = onlyRoute(resolveEvent({ graph, event: { ...toolRequest("fabric"), payload }, emitter: agent }));
    expect(prepared(route, agent).job.context).toMatchObject({ attempt: 1, agent: "agentic-loop" });
  });

  it.each(["run_id", "step", "tool"])("carry nothing, with a warning, when a request lacks its %s", (key) => {
    const { [key]: _, ...payload } = toolRequest("fabric").payload;
    const route = onlyRoute(resolveEvent({ graph, event: { ...toolRequest("fabric"), payload }, emitter: agent }));
    const { job, warnings } = prepared(route, agent);
    expect(job.context).toEqual({});
    expect(warnings).toEqual([expect.stringContaining(`came without ${key}`)]);
  });
});

describe("the command of a step", () => {
  const commandOf = (steps: string, tool: string, payload: JsonMap) => {
    const graph = graphOf(`- {name: p, on: agentic.tool_request.${tool}, steps: [${steps}, {uses: agentic-loop}]}`);
    return prepared(onlyRoute(resolveEvent({ graph, event: toolRequest(tool, payload) })));
  };

  it("is the author's, else the tool command of the request, else handle", () => {
    const request = { tool_command: "write" };
    expect(commandOf("{uses: fabric, command: health}", "fabric", request).job.command).toBe("health");
    expect(commandOf("{uses: fabric}", "fabric", request).job.command).toBe("write");
    expect(commandOf("{uses: fabric}", "fabric", { tool_command: null }).job.command).toBe("handle");
  });

  it("is the tool command only for the plugin that the request or its type names", () => {
    const request = { tool: "fetch", tool_command: "head" };
    expect(commandOf("{uses: jina-reader}", "jina-reader", request).job.command).toBe("head");
    expect(commandOf("{uses: jina-reader}", "web", { ...request, tool: "jina-reader" }).job.command).toBe("head");
    expect(commandOf("{uses: jina-reader}", "web", request).job.command).toBe("handle");
  });

  it("gets the flattened payload of the request, and no event, unless it is handle", () => {
    const { job } = commandOf("{uses: fabric}", "fabric", { tool_command: "write", path: "x" });
    expect(job.payload).toEqual(toolRequest("fabric", { tool_command: "write", path: "x" }).payload);
  });

  it.each([["rm"], [7], [{ a: 1 }], ["__proto__"]])(
    "that is not declared (%j) leaves a job that will fail before it starts",
    (tool_command) => {
      const { job, warnings } = commandOf("{uses: fabric}", "fabric", { tool_command });
      expect(job).toMatchObject({
        plugin: "fabric",
        command: "handle",
        payload: { type: "agentic.tool_request.fabric" },
      });
      expect(warnings).toEqual([expect.stringContaining("The plugin fabric declares no command")]);
    },
  );
});

describe("the context of a step", () => {
  const graph = graphOf(`
- name: p
  on: t
  steps:
    - {id: x, uses: a, baggage: {web.url: payload.url, asked_by: context.user}}
    - {id: y, uses: b, if: {path: payload.n, op: exists}, baggage: {from: payload.meta, namespace: web.meta}}
    - {id: z, uses: c, baggage: {web.url: payload.url}}
`);
  const caller: Emitter = {
    job_id: "J0",
    plugin: "a",
    place: null,
    context: { user: "ada", secret: "s" },
    input: null,
    run: undefined,
  };
  const x = onlyRoute(resolveEvent({ graph, event: event("t", { url: "u" }), emitter: caller }));
  const afterX = jobOf(x, prepared(x, caller).job.context);

  it("begins anew with an instance; only its claims read the context it was started from", () => {
    expect(afterX.context).toEqual({ web: { url: "u" }, asked_by: "ada" });
  });

  it("is handed through a switch and grows with every claim", () => {
    const choice = onlyRoute(
      resolveEvent({ graph, event: event("x.done", { n: 1, meta: { lang: "en" } }), emitter: afterX }),
    );
    const { job } = prepared(choice, afterX);
    expect(job).toMatchObject({ plugin: "core.switch", command: "handle", context: afterX.context });
    const afterChoice = jobOf(choice, job.context);
    const y = onlyRoute(resolveEvent({ graph, event: event("ductile.switch.true"), emitter: afterChoice }));
    expect(prepared(y, afterChoice).job.context).toEqual({ web: { url: "u", meta: { lang: "en" } }, asked_by: "ada" });
  });

  it("refuses what changes a value, naming its path, and takes an equal one again", () => {
    const choice = onlyRoute(resolveEvent({ graph, event: event("x.done", { url: "other" }), emitter: afterX }));
    const emitter = jobOf(choice, afterX.context);
    const z = onlyRoute(resolveEvent({ graph, event: event("ductile.switch.false"), emitter }));
    expect(prepareStep({ route: z, emitter, plugins })).toEqual({
      kind: "refused",
      refusal: { reason: "baggage_failed", pipeline: "p", step_id: "z", message: expect.stringContaining("web.url") },
    });
    const same = { ...z, event: event("x.done", { url: "u" }) };
    expect(prepared(same, emitter).job.context).toEqual(afterX.context);
  });

  it("fails the emitting job when a source is missing (scenario 41)", () => {
    const route = onlyRoute(resolveEvent({ graph, event: event("t"), emitter: caller }));
    expect(prepareStep({ route, emitter: caller, plugins })).toMatchObject({
      kind: "refused",
      refusal: { reason: "baggage_failed", message: expect.stringContaining("payload.url") },
    });
  });

  it("cannot claim another run than the request names", () => {
    const lying = graphOf(
      "- {name: p, on: agentic.tool_request.x, steps: [{uses: a, baggage: {run_id: payload.other}}, {uses: agentic-loop}]}",
    );
    const route = onlyRoute(resolveEvent({ graph: lying, event: toolRequest("x", { other: "R2" }) }));
    expect(prepareStep({ route, plugins })).toMatchObject({
      refusal: { reason: "baggage_failed", message: expect.stringContaining("run_id") },
    });
    const equal = onlyRoute(resolveEvent({ graph: lying, event: toolRequest("x", { other: "R1" }) }));
    expect(prepared(equal).job.context).toMatchObject({ run_id: "R1" });
  });
});
