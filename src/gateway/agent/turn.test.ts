import { describe, expect, it } from "vitest";
import {
  agentWorld,
  answered,
  askFabric,
  eventOf,
  fetchPage,
  finish,
  ignored,
  mostSevere,
  pipelineContext,
} from "../../../test/agent-world.ts";
import { readCorrelation } from "../../contracts/gateway/agent/correlation.ts";

describe("a start", () => {
  it("creates a run and requests the first tool (scenario 1)", async () => {
    const world = agentWorld();
    expect(eventOf(await world.start())).toMatchObject({
      type: "agentic.tool_request.fetch",
      payload: { run_id: "R1", step: 1, tool: "fetch", attempt: 1, url: "http://example.test" },
      dedupe_key: "agentic:run:R1:step:1:request",
    });
    expect(world.run()).toMatchObject({ status: "running", step: 1, pending_step: 1, pending_tool: "fetch" });
    expect(world.state.last_run_id).toBe("R1");
    expect(world.asked.map(({ phase }) => phase)).toEqual(["frame", "plan"]);
  });

  it("cannot override reserved keys, neither beside the payload nor inside it (scenario 12)", async () => {
    const evil = { run_id: "evil", step: 99, tool: "x", tool_payload: { a: 1 }, requested_at: "never", attempt: 7 };
    const world = agentWorld({ script: [{ tool: "fetch", tool_payload: { ...evil, tool_command: "rm", url: "u" } }] });
    const { payload } = eventOf(await world.start());
    expect(payload).toEqual({
      ...{ run_id: "R1", step: 1, tool: "fetch", tool_command: "handle", attempt: 1, url: "u" },
      ...{ requested_at: "2026-02-16T12:00:00Z", tool_payload: { url: "u" } },
    });
  });

  it.each([
    ["an allowlist without the tool", { allowed_plugins: ["fabric"] }],
    ["an empty allowlist", { allowed_plugins: [] }],
    ["an allowlist that is none", { allowed_plugins: "fetch" }],
  ])("with %s is an error for good, and creates no run (scenario 21)", async (_what, config) => {
    const world = agentWorld({ config });
    expect(await world.start()).toMatchObject({ status: "error", retry: false });
    expect(world.state).toEqual({});
    expect(world.workspaces.files.size).toBe(0);
  });

  it("is refused with a goal of nothing but space, in whatever script (scenario 27)", async () => {
    for (const goal of ["", " ", "\t\r\n\v\f", "\u00a0\u2003", "\u3000", "\ufeff"]) {
      const world = agentWorld();
      expect(await world.start({ goal })).toMatchObject({ status: "error", retry: false });
      expect(world.state).toEqual({});
    }
    const world = agentWorld();
    await world.start({ goal: "\u3000", text: "\u00a0read the page\u2003", run_id: "R1" });
    expect(world.run().goal).toBe("read the page");
  });

  it("with a run id of nothing but space gets an id of its own, under which its tool's result finds it", async () => {
    for (const run_id of [" ", "\f", "\u00a0", "\u3000"]) {
      const world = agentWorld();
      const { payload } = eventOf(await world.start({ goal: "g", run_id }));
      expect(payload.run_id).toMatch(/^run-/);
      expect(readCorrelation(payload)).toMatchObject({ step: 1, tool: "fetch" });
    }
  });

  it.each(["agentic-loop", "second-agent"])(
    "never requests an agent, even if it is allowed: %s (scenario 23)",
    async (name) => {
      const world = agentWorld({ script: [{ tool: name }], config: { allowed_plugins: [name] }, tools: [name] });
      expect(await world.start()).toMatchObject({
        status: "error",
        retry: false,
        error: expect.stringContaining("not allowed"),
      });
    },
  );

  it("never requests the agent under the alias that its turn runs under", async () => {
    const world = agentWorld({ script: [{ tool: "mine" }], config: { allowed_plugins: ["mine"] }, tools: ["mine"] });
    const context = { ductile_plugin: "mine" };
    expect(await world.event("agentic.start", { goal: "g" }, context)).toMatchObject({ status: "error", retry: false });
  });

  it("never requests a tool whose pipeline begins with an agent", async () => {
    const world = agentWorld();
    world.ports = { routableTools: new Map([["fetch", { plugins: ["second-agent"], jobs: 2 }]]) };
    expect(await world.start()).toMatchObject({ status: "error", retry: false });
  });

  it("trims the names of the allowlist", async () => {
    const world = agentWorld({ config: { allowed_plugins: [" fetch ", 7, ""] } });
    expect(eventOf(await world.start()).type).toBe("agentic.tool_request.fetch");
  });

  it.each([
    [{ max_steps: 50 }, 5],
    [{ max_steps: 3 }, 3],
    [{ max_steps: 0 }, 5],
    [{ max_steps: -1 }, 5],
    [{ max_steps: 2.5 }, 5],
    [{ max_steps: "3" }, 5],
    [{ max_steps: null }, 5],
    [{}, 5],
  ])("lowers the budget of 5 with %j to %i (scenario 26)", async (context, max_steps) => {
    const world = agentWorld({ config: { max_steps: 5 } });
    await world.start({ goal: "g", run_id: "R1", context });
    expect(world.run().max_steps).toBe(max_steps);
  });

  it.each([
    [{ max_steps: 0, max_reframes: 0 }, 20, 2],
    [{ max_steps: 1.5, max_reframes: "many" }, 20, 2],
    [{ max_loops: 4 }, 4, 2],
    [{ max_steps: 6, max_loops: 4 }, 6, 2],
  ])(
    "takes numbers of the configuration that cannot be used as absent: %j",
    async (config, max_steps, max_reframes) => {
      const world = agentWorld({ config });
      await world.start();
      expect(world.run()).toMatchObject({ max_steps, max_reframes });
    },
  );

  it.each<[string, object]>([
    ["a blank goal", { goal: "   " }],
    ["no goal", {}],
    ["a goal that is no text", { goal: 5 }],
    ["a goal longer than what is kept of it", { goal: "g".repeat(40_000) }],
    ["a run id with a line break", { goal: "g", run_id: "a\nb" }],
    ["a run id that no map can hold", { goal: "g", run_id: "__proto__" }],
  ])("with %s is an error for good, and nothing is stored (scenario 27)", async (_what, payload) => {
    const world = agentWorld();
    const response = await world.event("agentic.start", payload as never);
    expect(response).toMatchObject({ status: "error", retry: false });
    expect(mostSevere(response)).toBe("error");
    expect(world.state).toEqual({});
    expect(world.asked).toEqual([]);
  });

  it("takes `text` for a goal, and a context that is no map for an empty one", async () => {
    const world = agentWorld();
    await world.start({ text: " Write. ", context: ["x"], run_id: "R1" });
    expect(world.run().goal).toBe("Write.");
  });

  it("may come as a direct call of the agent (scenario 29)", async () => {
    const world = agentWorld();
    expect(eventOf(await world.event("api.trigger", { goal: "g" })).type).toBe("agentic.tool_request.fetch");
  });

  it("without a run id names the run after its job, in state and workspace, on every attempt", async () => {
    const world = agentWorld();
    const request = {
      job_id: "J7",
      event: { type: "agentic.start", payload: { goal: "g" }, source: "api", timestamp: "", event_id: "e" },
    };
    await world.lose(request);
    await world.take(request);
    expect(Object.keys(world.state.runs as object)).toEqual(["run-J7"]);
    expect(world.run("run-J7").workspace_ref).toBe("job:J7");
    expect([...world.workspaces.files.keys()]).toEqual(["job:J7"]);
  });

  it.each([{ run_id: 5 }, { run_id: " " }, { run_id: null }])("takes %j for no run id", async (payload) => {
    const world = agentWorld();
    await world.start({ goal: "g", ...payload });
    expect(Object.keys(world.state.runs as object)).toEqual(["run-J1"]);
  });

  it("for a run that exists changes nothing", async () => {
    const world = agentWorld();
    await world.start();
    const before = world.state;
    expect(await world.start()).toEqual(ignored("info"));
    expect(world.state).toEqual(before);
    expect(world.asked).toHaveLength(2);
  });

  it("whose first plan needs no tool completes the run with no steps taken", async () => {
    const world = agentWorld({ script: [{ ...finish, artifacts: ["artifacts/a.md"] }] });
    const { outcome } = finish;
    expect(eventOf(await world.start())).toEqual({
      type: "agent.completed",
      payload: { run_id: "R1", goal: "Write a critique.", outcome, steps_taken: 0, artifacts: ["artifacts/a.md"] },
      dedupe_key: "agentic:run:R1:completed",
    });
    expect(world.run()).toMatchObject({ status: "done", pending_step: null, completed_steps: [] });
  });

  it("whose first plan is empty is an error for good", async () => {
    const world = agentWorld({ script: [{ decision: "none" }] });
    expect(await world.start()).toMatchObject({ status: "error", retry: false });
    expect(world.state).toEqual({});
  });

  it("maps a tool to another pipeline where the configuration says so, if both names are allowed", async () => {
    const config = { tool_routes: { fetch: "jina-reader" }, allowed_plugins: ["fetch", "jina-reader"] };
    const world = agentWorld({ config, tools: ["jina-reader"] });
    expect(eventOf(await world.start())).toMatchObject({
      type: "agentic.tool_request.jina-reader",
      payload: { tool: "fetch" },
    });
    expect(world.run().pending_tool).toBe("fetch");
    for (const allowed_plugins of [["fetch"], ["jina-reader"]]) {
      const narrow = agentWorld({ config: { ...config, allowed_plugins }, tools: ["jina-reader", "fetch"] });
      expect(await narrow.start()).toMatchObject({ status: "error", retry: false });
    }
  });

  it("takes the configured command where the planner names none", async () => {
    const world = agentWorld({ config: { default_tool_command: "run" } });
    await world.start();
    expect(world.run().last_tool_command).toBe("run");
  });
});

describe("a result", () => {
  it("that matches is judged and leads to the next step (scenario 2)", async () => {
    const world = agentWorld();
    await world.start();
    expect(eventOf(await world.result(1, "fetch"))).toMatchObject({
      type: "agentic.tool_request.fabric",
      dedupe_key: "agentic:run:R1:step:2:request",
    });
    expect(world.run()).toMatchObject({ step: 2, pending_step: 2, pending_tool: "fabric", completed_steps: [1] });
  });

  it("that comes again changes nothing (scenario 3)", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch");
    const before = world.state;
    expect(await world.result(1, "fetch")).toEqual(ignored("info"));
    expect(world.state).toEqual(before);
  });

  it("of an older step is stale although the tool is the pending one (scenario 4)", async () => {
    const world = agentWorld({ script: [fetchPage, askFabric, askFabric, finish] });
    await world.start();
    await world.result(1, "fetch");
    await world.result(2, "fabric");
    expect(await world.result(1, "fabric")).toEqual(ignored("info"));
    expect(world.run().pending_step).toBe(3);
  });

  it("of another tool escalates the run (scenario 5)", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch");
    expect(eventOf(await world.result(2, "fetch")).payload).toEqual({
      run_id: "R1",
      reason: "pending_tool_mismatch",
      expected_tool: "fabric",
      actual_tool: "fetch",
    });
    expect(world.run()).toMatchObject({
      status: "escalated",
      pending_step: null,
      pending_tool: null,
      pending_since: null,
    });
  });

  it("at the step budget escalates before the planner is asked (scenario 6)", async () => {
    const world = agentWorld({ config: { max_steps: 2 } });
    await world.start();
    await world.result(1, "fetch");
    const before = world.asked.length;
    expect(eventOf(await world.result(2, "fabric")).payload).toEqual({
      run_id: "R1",
      reason: "max_steps_exceeded",
      step: 2,
      max_steps: 2,
    });
    expect(world.asked).toHaveLength(before);
  });

  it("at the step budget may complete the run where the final step is judged (scenario 7)", async () => {
    const world = agentWorld({ config: { max_steps: 2, max_steps_mode: "allow_final" } });
    await world.start();
    await world.result(1, "fetch");
    expect(eventOf(await world.result(2, "fabric"))).toMatchObject({
      type: "agent.completed",
      payload: { steps_taken: 2 },
    });
  });

  it.each(["continue", "reframe"] as const)(
    "at the step budget cannot %s even where the final step is judged",
    async (decision) => {
      const script = [fetchPage, { ...askFabric, decision }];
      const world = agentWorld({ script, config: { max_steps: 1, max_steps_mode: "allow_final" } });
      await world.start();
      expect(eventOf(await world.result(1, "fetch")).payload).toMatchObject({ reason: "max_steps_exceeded" });
      expect(world.run().reframes).toBe(0);
    },
  );

  it("that completes the run does so once, however often it is delivered (scenario 8)", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch");
    expect(eventOf(await world.result(2, "fabric")).type).toBe("agent.completed");
    expect(await world.result(2, "fabric")).toEqual(ignored("info"));
    expect(await world.result(2, "fabric")).toEqual(ignored("info"));
  });

  it("of an unknown run is ignored with a warning (scenario 9)", async () => {
    const world = agentWorld();
    expect(await world.result(1, "fetch", { run_id: "R9" })).toEqual(ignored("warn"));
    expect(await world.result(1, "fetch", { run_id: "constructor" })).toEqual(ignored("warn"));
    expect(world.state).toEqual({});
  });

  it("of a finished run is ignored, and the log names its status (scenario 10)", async () => {
    const world = agentWorld({ script: [finish] });
    await world.start();
    const response = await world.result(1, "fetch");
    expect(response).toEqual(ignored("info"));
    expect(response.logs[0]?.message).toContain("done");
  });

  it("of a step ahead escalates the run (scenario 11)", async () => {
    const world = agentWorld();
    await world.start();
    expect(eventOf(await world.result(2, "fetch")).payload).toMatchObject({
      reason: "step_mismatch",
      expected_step: 1,
      actual_step: 2,
    });
    expect(world.run()).toMatchObject({ status: "escalated", reason: "step_mismatch", completed_steps: [] });
  });

  it("may be any event inside the pipeline of its request (scenario 13)", async () => {
    const config = { tool_routes: { fetch: "jina-reader" }, allowed_plugins: ["fetch", "jina-reader", "fabric"] };
    const world = agentWorld({ config, tools: ["jina-reader", "fabric"] });
    await world.start();
    const context = pipelineContext(1, "fetch");
    expect(eventOf(await world.event("content_ready", { content: "a page" }, context)).type).toBe(
      "agentic.tool_request.fabric",
    );
    expect(world.run().completed_steps).toEqual([1]);
  });

  it("is correlated by the context, not by what the tool calls step (scenario 14)", async () => {
    const world = agentWorld();
    await world.start();
    await world.event("stress.state", { step: 0, total: 1, tool: "hammer" }, pipelineContext(1, "fetch"));
    const reflected = world.asked.find(({ phase }) => phase === "reflect")?.input;
    expect(reflected).toMatchObject({ result: { step: 0, total: 1, tool: "hammer" } });
    expect(reflected).not.toHaveProperty("result.run_id");
    expect(reflected).not.toHaveProperty("result.agent");
    expect(reflected).not.toHaveProperty("result.ductile_pipeline");
    expect(world.run().pending_step).toBe(2);
  });

  it("may be the text of a tool without events (scenario 15)", async () => {
    const world = agentWorld({ script: [fetchPage, { decision: "done", outcome: "", summary: "fine" }] });
    await world.start();
    const response = await world.event("ductile.step.succeeded", { result: "hi" }, pipelineContext(1, "fetch"));
    expect(eventOf(response).payload.outcome).toBe("hi");
  });

  it("that comes in three events is taken once (scenario 16)", async () => {
    const world = agentWorld();
    await world.start();
    const context = pipelineContext(1, "fetch");
    const responses = [];
    for (const part of [1, 2, 3]) responses.push(await world.event("stress.state", { part }, context));
    expect(responses.map((response) => answered(response).events.length)).toEqual([1, 0, 0]);
    expect(responses.slice(1)).toEqual([ignored("info"), ignored("info")]);
  });

  it("that is an error repeats the step under a key of its own (scenario 17)", async () => {
    const world = agentWorld();
    await world.start();
    world.now = new Date("2026-02-16T12:01:00Z");
    const response = await world.result(1, "fetch", { status: "error", error: "HTTP 503", result: null });
    expect(eventOf(response)).toMatchObject({
      type: "agentic.tool_request.fetch",
      payload: { step: 1, attempt: 2, url: "http://example.test" },
      dedupe_key: "agentic:run:R1:step:1:request:attempt:2",
    });
    expect(mostSevere(response)).toBe("warn");
    expect(world.run()).toMatchObject({
      ...{ attempt: 2, step: 1, pending_step: 1, completed_steps: [], last_error: "HTTP 503" },
      pending_since: "2026-02-16T12:01:00Z",
    });
  });

  it("that is an error at the last attempt escalates the run (scenario 18)", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch", { status: "error", error: "HTTP 503" });
    expect(eventOf(await world.result(1, "fetch", { status: "error", error: "HTTP 500", attempt: 2 })).payload).toEqual(
      {
        ...{ run_id: "R1", reason: "tool_error", step: 1, tool: "fetch" },
        ...{ error: "HTTP 500", attempts: 2 },
      },
    );
  });

  it("that is an error for good escalates at once (scenario 19)", async () => {
    const world = agentWorld();
    await world.start();
    const response = await world.result(1, "fetch", { status: "error", error: "no such host", permanent: true });
    expect(eventOf(response).payload).toMatchObject({ reason: "tool_error", attempts: 1 });
  });

  it("of a tool that timed out is an error without words (scenario 20)", async () => {
    const world = agentWorld({ config: { max_attempts_per_step: 1 } });
    await world.start();
    const response = await world.result(1, "fetch", { status: "timed_out", error: null });
    expect(eventOf(response).payload).toMatchObject({ reason: "tool_error", error: "unknown tool error" });
  });

  it("of an attempt that was abandoned is ignored, also when only the context says which it was", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch", { status: "error", error: "slow" });
    expect(await world.result(1, "fetch", { attempt: 1 })).toEqual(ignored("info"));
    expect(await world.event("content_ready", {}, pipelineContext(1, "fetch", 1))).toEqual(ignored("info"));
    const typed = { run_id: "R1", step: 1, tool: "fetch", status: "ok" };
    expect(await world.event("agentic.tool_result", typed, pipelineContext(1, "fetch", 1))).toEqual(ignored("info"));
    expect(eventOf(await world.event("content_ready", {}, pipelineContext(1, "fetch", 2))).type).toContain("fabric");
  });

  it("with a correlation of its own is not judged by the context it came in", async () => {
    const world = agentWorld();
    await world.start();
    const typed = { run_id: "R1", step: 1, tool: "fetch", status: "ok" };
    const response = await world.event("agentic.tool_result", typed, pipelineContext(4, "other"));
    expect(eventOf(response).type).toBe("agentic.tool_request.fabric");
  });

  it.each([
    ["a step", { run_id: "R1", tool: "fetch", status: "ok" }],
    ["a whole step", { run_id: "R1", step: 1.5, tool: "fetch", status: "ok" }],
    ["a step from 1", { run_id: "R1", step: 0, tool: "fetch", status: "ok" }],
    ["a step that is a number", { run_id: "R1", step: "1", tool: "fetch", status: "ok" }],
    ["a run", { step: 1, tool: "fetch", status: "ok" }],
    ["a tool", { run_id: "R1", step: 1, status: "ok" }],
    ["a status", { run_id: "R1", step: 1, tool: "fetch" }],
  ])("without %s is an error for good", async (_what, payload) => {
    const world = agentWorld();
    await world.start();
    const before = world.state;
    expect(await world.event("agentic.tool_result", payload)).toMatchObject({ status: "error", retry: false });
    expect(world.state).toEqual(before);
  });

  it.each([
    ["no context", {}],
    ["a context without a tool", { run_id: "R1", step: 1 }],
    ["a context at step 0", { run_id: "R1", step: 0, tool: "fetch" }],
  ])("of another type with %s is an error that names the type", async (_what, context) => {
    const world = agentWorld();
    await world.start();
    const response = await world.event("content_ready", { content: "x" }, context);
    expect(response).toMatchObject({ status: "error", retry: false, error: expect.stringContaining("content_ready") });
  });

  it("followed by a tool that is not allowed escalates the run (scenario 22)", async () => {
    const world = agentWorld({ config: { allowed_plugins: ["fetch"] } });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload).toEqual({
      run_id: "R1",
      reason: "followup_tool_not_allowed",
      tool: "fabric",
    });
  });

  it("followed by an agent as a tool escalates the run (scenario 23)", async () => {
    const tools = ["fetch", "agentic-loop"];
    const world = agentWorld({
      script: [fetchPage, { tool: "agentic-loop" }],
      config: { allowed_plugins: tools },
      tools,
    });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload.reason).toBe("followup_tool_not_allowed");
  });

  it("followed by a tool that no pipeline listens to escalates the run (scenario 24)", async () => {
    const world = agentWorld({ tools: ["fetch"] });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload).toEqual({
      run_id: "R1",
      reason: "tool_unroutable",
      tool: "fabric",
    });
  });

  it("may reframe the goal as often as is allowed; a refused reframe is not counted (scenario 25)", async () => {
    const again = { ...fetchPage, decision: "reframe" } as const;
    const world = agentWorld({ script: [fetchPage, again, again], config: { max_reframes: 1 } });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).type).toBe("agentic.tool_request.fetch");
    expect(world.run().reframes).toBe(1);
    expect(eventOf(await world.result(2, "fetch")).payload).toEqual({
      run_id: "R1",
      reason: "max_reframes_exceeded",
      reframes: 1,
      max_reframes: 1,
    });
    expect(world.run().reframes).toBe(1);
    expect(world.asked.map(({ phase }) => phase)).toEqual(["frame", "plan", "reflect", "frame", "plan", "reflect"]);
  });

  it("may be followed by the same action again, as a new step", async () => {
    const world = agentWorld({ script: [fetchPage, { decision: "retry" }, finish] });
    await world.start();
    expect(eventOf(await world.result(1, "fetch"))).toMatchObject({
      type: "agentic.tool_request.fetch",
      payload: { step: 2, attempt: 1, tool_payload: { url: "http://example.test" } },
    });
    expect(world.asked.map(({ phase }) => phase)).toEqual(["frame", "plan", "reflect"]);
  });

  it("after which the planner gives up escalates the run in its words", async () => {
    const world = agentWorld({ script: [fetchPage, { decision: "escalate", detail: "The page is empty." }] });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload).toEqual({
      ...{ run_id: "R1", reason: "planner_escalated", step: 1, detail: "The page is empty." },
    });
  });

  it("after which there is nothing to do escalates the run", async () => {
    const world = agentWorld({ script: [fetchPage, { decision: "none" }] });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload).toEqual({
      run_id: "R1",
      reason: "no_next_action",
      step: 1,
    });
  });

  it("is not the end while the planner has nothing to say for it", async () => {
    const nothing = { frame: () => ({}), reflect: () => ({ decision: "done", outcome: " " }) as const };
    const world = agentWorld({ planner: { ...nothing, plan: () => fetchPage } });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).type).toBe("agentic.tool_request.fetch");
  });

  it("names artifacts that exist, and those of the tool where the planner names none", async () => {
    const artifacts = ["artifacts/a.md", "artifacts/gone.md", "../etc/passwd", "/etc/passwd", "artifacts/a.md"];
    const exists = (path: string) => path !== "artifacts/gone.md";
    const named = agentWorld({ script: [fetchPage, { ...finish, artifacts }], exists });
    await named.start();
    expect(eventOf(await named.result(1, "fetch")).payload.artifacts).toEqual(["artifacts/a.md"]);
    const unnamed = agentWorld({ script: [fetchPage, finish], exists });
    await unnamed.start();
    const result = { artifact_path: "artifacts/page.html", output_path: "artifacts/gone.md" };
    expect(eventOf(await unnamed.result(1, "fetch", { result })).payload.artifacts).toEqual(["artifacts/page.html"]);
  });

  it("inside the pipeline of a request starts no run, whatever its type", async () => {
    const world = agentWorld();
    await world.start();
    const response = await world.event("agentic.start", { goal: "another" }, pipelineContext(1, "fetch"));
    expect(eventOf(response).type).toBe("agentic.tool_request.fabric");
    expect(Object.keys(world.state.runs as object)).toEqual(["R1"]);
  });
});

describe("a job tree that is full", () => {
  it("escalates the run, which would never get an answer", async () => {
    const world = agentWorld();
    world.hints = { treeJobsLeft: 2 };
    await world.start();
    world.hints = { treeJobsLeft: 1 };
    expect(eventOf(await world.result(1, "fetch")).payload).toEqual({
      ...{ run_id: "R1", reason: "max_tree_jobs_exceeded", step: 1, tool: "fabric" },
    });
    expect(world.run()).toMatchObject({ status: "escalated", completed_steps: [1] });
  });

  it("keeps a failed step from being repeated", async () => {
    const world = agentWorld();
    await world.start();
    world.hints = { treeJobsLeft: 0 };
    const response = await world.result(1, "fetch", { status: "error", error: "HTTP 503" });
    expect(eventOf(response).payload.reason).toBe("max_tree_jobs_exceeded");
    expect(world.run().last_error).toBe("HTTP 503");
  });

  it("keeps a run from being started", async () => {
    const world = agentWorld();
    world.hints = { treeJobsLeft: 0 };
    expect(await world.start()).toMatchObject({ status: "error", retry: false });
    expect(world.state).toEqual({});
  });
});

describe("the reaper", () => {
  const late = new Date("2026-02-16T12:20:00Z");

  it("escalates a run whose tool never answered, and a late result is ignored (scenario 33)", async () => {
    const world = agentWorld();
    await world.start();
    world.now = late;
    expect(eventOf(await world.take({ command: "poll" }))).toEqual({
      type: "agent.escalated",
      payload: {
        ...{ run_id: "R1", reason: "pending_timeout", step: 1, tool: "fetch" },
        pending_since: "2026-02-16T12:00:00Z",
      },
      dedupe_key: "agentic:run:R1:escalated",
    });
    expect(world.state.last_poll).toBe("2026-02-16T12:20:00Z");
    expect(await world.result(1, "fetch")).toEqual(ignored("info"));
  });

  it("may escalate several runs in one poll", async () => {
    const world = agentWorld();
    await world.start();
    await world.start({ goal: "another", run_id: "R2" });
    world.now = new Date("2026-02-16T12:10:00Z");
    await world.start({ goal: "a later one", run_id: "R3" });
    world.now = late;
    const { events } = answered(await world.take({ command: "poll" }));
    expect(events.map(({ payload }) => payload.run_id)).toEqual(["R1", "R2"]);
    expect(world.run("R3").status).toBe("running");
  });

  it("does not count the time while the gateway was paused", async () => {
    const world = agentWorld();
    await world.start();
    world.now = late;
    world.hints = { pausedMs: new Map([["R1", 6 * 60_000]]) };
    expect(answered(await world.take({ command: "poll" })).events).toEqual([]);
    world.hints = { pausedMs: new Map([["R1", 4 * 60_000]]) };
    expect(answered(await world.take({ command: "poll" })).events).toHaveLength(1);
  });

  it("waits as long as is configured, and not a moment less", async () => {
    const world = agentWorld({ config: { pending_timeout: "20m" } });
    await world.start();
    world.now = late;
    const response = await world.take({ command: "poll" });
    expect(answered(response).state_updates).toEqual({ last_poll: "2026-02-16T12:20:00Z" });
    expect(mostSevere(response)).toBe("info");
    world.now = new Date(late.getTime() + 1);
    expect(answered(await world.take({ command: "poll" })).events).toHaveLength(1);
  });

  it("escalates a run whose workspace cannot be written", async () => {
    const world = agentWorld();
    await world.start();
    world.now = late;
    const of = () => {
      throw new Error("No space left on the device.");
    };
    world.ports = { workspaces: { of, remove: async () => "removed" } };
    const response = await world.take({ command: "poll" });
    expect(eventOf(response).payload.reason).toBe("pending_timeout");
    expect(response.logs.map(({ level }) => level)).toContain("warn");
  });
});

describe("a finished run", () => {
  const finished = async (config: object = {}) => {
    const world = agentWorld({ script: [finish], config: config as never });
    for (const [index, run_id] of ["R1", "R2", "R3"].entries()) {
      world.now = new Date(Date.UTC(2026, 1, 16 + index));
      await world.start({ goal: "g", run_id });
    }
    return world;
  };
  const idsOf = (world: { readonly state: { readonly runs?: unknown } }) => Object.keys(world.state.runs as object);

  it("is removed with its workspace once its retention is over, by the next turn of any run", async () => {
    const world = await finished();
    world.now = new Date(Date.UTC(2026, 1, 24, 1));
    await world.start({ goal: "g", run_id: "R4" });
    expect(idsOf(world)).toEqual(["R3", "R4"]);
    expect([...world.workspaces.files.keys()]).toHaveLength(2);
  });

  it("is removed by a poll", async () => {
    const world = await finished();
    world.now = new Date(Date.UTC(2026, 2, 24));
    await world.take({ command: "poll" });
    expect(idsOf(world)).toEqual([]);
    expect(world.workspaces.files.size).toBe(0);
  });

  it("makes room when there are too many, the oldest first", async () => {
    const world = await finished({ max_terminal_runs: 2 });
    expect(idsOf(world)).toEqual(["R2", "R3"]);
  });

  it("is kept for ever where both settings are null", async () => {
    const world = await finished({ run_retention: null, max_terminal_runs: null });
    world.now = new Date(Date.UTC(2036, 1, 16));
    await world.take({ command: "poll" });
    expect(idsOf(world)).toEqual(["R1", "R2", "R3"]);
  });

  it("is kept however old it is where only the number counts", async () => {
    const world = await finished({ run_retention: null });
    world.now = new Date(Date.UTC(2036, 1, 16));
    await world.take({ command: "poll" });
    expect(idsOf(world)).toEqual(["R1", "R2", "R3"]);
  });

  it("stays while its workspace cannot be removed", async () => {
    const world = await finished();
    world.now = new Date(Date.UTC(2036, 1, 16));
    const { of } = world.workspaces;
    const remove = async () => {
      throw new Error("Permission denied.");
    };
    world.ports = { workspaces: { of, remove } };
    const response = await world.take({ command: "poll" });
    expect(mostSevere(response)).toBe("warn");
    expect(idsOf(world)).toEqual(["R1", "R2", "R3"]);
  });

  it("stays, without a word, while it is unknown where its workspace is", async () => {
    const world = await finished();
    world.now = new Date(Date.UTC(2036, 1, 16));
    world.ports = { workspaces: { of: world.workspaces.of, remove: async () => "unknown" } };
    expect(mostSevere(await world.take({ command: "poll" }))).toBe("info");
    expect(idsOf(world)).toEqual(["R1", "R2", "R3"]);
  });

  it("makes room before the state of the agent is full", async () => {
    const goal = "g".repeat(30_000);
    const world = agentWorld({ script: [finish] });
    for (let index = 0; index < 40; index++) await world.start({ goal, run_id: `R${index}` });
    expect(JSON.stringify(world.state).length).toBeLessThan(600_000);
    expect(world.run("R39").status).toBe("done");
  });

  it("is not removed by the turn that ends it, with its files, however much room running ones take", async () => {
    const world = agentWorld({ script: [fetchPage, finish] });
    for (let index = 0; index < 20; index++) await world.start({ goal: "g".repeat(30_000), run_id: `L${index}` });
    await world.start();
    await world.result(1, "fetch");
    expect(world.run()).toMatchObject({ status: "done" });
    expect([...world.workspaces.files.keys()]).toContain(world.run().workspace_ref);
    await world.take({ command: "poll" });
    expect(idsOf(world)).not.toContain("R1");
  });

  it("counts as one of those that are kept in the turn that ends it", async () => {
    const world = await finished({ max_terminal_runs: 1 });
    expect(idsOf(world)).toEqual(["R3"]);
  });

  it("is not removed by a turn that is ignored", async () => {
    const world = await finished();
    world.now = new Date(Date.UTC(2036, 1, 16));
    expect(await world.result(1, "fetch")).toEqual(ignored("info"));
    expect(idsOf(world)).toHaveLength(3);
  });

  it("is never one that still runs", async () => {
    const world = agentWorld({ config: { max_terminal_runs: 1, run_retention: "1ms", pending_timeout: "10w" } });
    await world.start();
    world.now = new Date(Date.UTC(2026, 2, 16));
    await world.take({ command: "poll" });
    expect(world.run().status).toBe("running");
  });
});

describe("a run that another agent has stored", () => {
  const stored = { status: "running", goal: "g", step: 1, pending_step: 1, pending_tool: "fetch" };

  it("goes on within the configured budget where it has none of its own", async () => {
    const world = agentWorld({ state: { runs: { R1: stored } } });
    expect(eventOf(await world.result(1, "fetch")).type).toBe("agentic.tool_request.fabric");
    expect(world.run()).toMatchObject({ step: 2, max_steps: 20, max_reframes: 2 });
    const strict = agentWorld({ config: { max_steps: 1 }, state: { runs: { R1: stored } } });
    expect(eventOf(await strict.result(1, "fetch")).payload).toMatchObject({ reason: "max_steps_exceeded" });
  });

  it("is left as it is where its status is unknown, and a line of the log names that", async () => {
    const state = { runs: { R1: { ...stored, status: "failed" } } };
    const world = agentWorld({ state });
    const responses = [
      await world.result(1, "fetch"),
      await world.take({ command: "cancel", payload: { run_id: "R1" } }),
    ];
    for (const response of responses) {
      expect(response).toEqual(ignored("info"));
      expect(response.logs[0]?.message).toContain("the run is failed");
    }
    expect(world.state).toEqual(state);
  });

  it("is escalated with an error of any shape as text", async () => {
    const world = agentWorld({ config: { max_attempts_per_step: 1 }, state: { runs: { R1: stored } } });
    const response = await world.result(1, "fetch", { status: "error", error: { code: 5, message: "boom" } });
    expect(eventOf(response).payload).toMatchObject({ reason: "tool_error", error: '{"code":5,"message":"boom"}' });
  });
});

describe("cancelling", () => {
  it("escalates also a run whose workspace cannot be written", async () => {
    const world = agentWorld();
    await world.start();
    const of = () => {
      throw new Error("No space left on the device.");
    };
    world.ports = { workspaces: { of, remove: async () => "removed" } };
    const response = await world.take({ command: "cancel", payload: { run_id: "R1" } });
    expect(eventOf(response).payload.reason).toBe("cancelled");
    expect(response.logs.map(({ level }) => level)).toContain("warn");
  });

  it("escalates the run, and the tool's answer is ignored", async () => {
    const world = agentWorld();
    await world.start();
    const response = await world.take({ command: "cancel", payload: { run_id: "R1", by: "ada" } });
    expect(eventOf(response).payload).toEqual({ run_id: "R1", reason: "cancelled", by: "ada" });
    expect(world.run()).toMatchObject({ status: "escalated", reason: "cancelled", pending_tool: null });
    expect(await world.result(1, "fetch", { status: "error", error: "killed" })).toEqual(ignored("info"));
  });

  it("of a run that has ended changes nothing, and of one that is not there is an error for good", async () => {
    const world = agentWorld({ script: [finish] });
    await world.start();
    expect(await world.take({ command: "cancel", payload: { run_id: "R1" } })).toEqual(ignored("info"));
    for (const payload of [{ run_id: "R9" }, {}]) {
      expect(await world.take({ command: "cancel", payload })).toMatchObject({ status: "error", retry: false });
    }
  });
});

describe("a turn", () => {
  it("reports its health without a change", async () => {
    const world = agentWorld({ config: { max_steps: 6 } });
    await world.start();
    const before = world.state;
    const response = answered(await world.take({ command: "health" }));
    expect(response).toEqual(ignored("info"));
    expect(response.result).toContain("max_steps 6");
    expect(response.result).toContain("1 running");
    expect(world.state).toEqual(before);
  });

  it("with an unknown command, or without an event, is an error for good", async () => {
    const world = agentWorld();
    expect(await world.take({ command: "dance" })).toMatchObject({ status: "error", retry: false });
    expect(await world.take({ command: "handle" })).toMatchObject({ status: "error", retry: false });
  });

  it("of which the planner fails has no effect, and is worth another attempt", async () => {
    const script = [fetchPage, () => Promise.reject(new Error("Busy, key sk-abcdefghijkl."))];
    const world = agentWorld({ script });
    await world.start();
    const before = { state: world.state, trace: world.workspaces.traces.get("job:J1") };
    const response = await world.result(1, "fetch");
    expect(response).toMatchObject({ status: "error", retry: true, error: expect.stringContaining("Busy") });
    expect(JSON.stringify(response)).not.toContain("sk-abc");
    expect({ state: world.state, trace: world.workspaces.traces.get("job:J1") }).toEqual(before);
  });

  it("of which the planner answers in another shape is worth another attempt", async () => {
    const planner = { frame: () => ({}), plan: () => fetchPage, reflect: () => ({ decision: "dance" }) as never };
    const world = agentWorld({ planner });
    await world.start();
    expect(await world.result(1, "fetch")).toMatchObject({ status: "error", retry: true });
  });

  it("of which the script has ended is not worth another attempt", async () => {
    const world = agentWorld({ script: [] });
    expect(await world.start()).toMatchObject({ status: "error", retry: false });
  });

  it("names the run in every line of its log, and step and tool where there is a step", async () => {
    const world = agentWorld();
    const responses = [await world.start(), await world.result(1, "fetch"), await world.result(1, "fetch")];
    responses.push(
      await world.result(2, "fabric", { status: "error" }),
      await world.result(9, "x y", { run_id: "R 9" }),
    );
    const lines = responses.flatMap(({ logs }) => logs.map(({ message }) => message));
    for (const line of lines) expect(line).toMatch(/run_id=(R1|"R 9") step=\d tool=(fetch|fabric|"x y") /);
  });

  it("that is taken again repeats nothing in the trace, and forgets no line of the turn before", async () => {
    const world = agentWorld();
    const start = { job_id: "A" };
    await world.lose({ ...start, ...startEvent });
    await world.take({ ...start, ...startEvent });
    await world.event("agentic.tool_result", { run_id: "R1", step: 1, tool: "fetch", status: "ok" }, {}, "B");
    const lines = world.workspaces.traces.get("job:A") ?? [];
    expect(lines.map(({ job_id, phase, kind, step }) => `${job_id} ${phase} ${kind} ${step}`)).toEqual([
      ...["A frame framed 1", "A plan action 1", "A act request 1"],
      ...["B reflect continue 1", "B plan action 2", "B act request 2"],
    ]);
  });

  it("that is aborted writes nothing and is no answer", async () => {
    const abort = new AbortController();
    const world = agentWorld({
      script: [
        () => {
          abort.abort(new Error("The lease was lost."));
          return fetchPage;
        },
      ],
    });
    world.ports = { signal: abort.signal };
    await expect(world.start()).rejects.toThrow("The lease was lost.");
    expect(world.workspaces.files.size).toBe(0);
  });

  it("keeps runs that it cannot read as they are", async () => {
    const odd = { status: "sleeping", by: "another agent" };
    const world = agentWorld({ state: { runs: { odd } } });
    await world.start();
    expect(world.run("odd")).toEqual(odd);
    expect(await world.start({ goal: "g", run_id: "odd" })).toEqual(ignored("info"));
  });

  it("reads a state that the original agent has left", async () => {
    const run = {
      ...{ status: "running", goal: "g", step: 1, max_steps: 6, reframes: 0, max_reframes: 2 },
      ...{ pending_step: 1, pending_tool: "fetch", workspace_ref: "job:J0", completed_steps: [] },
    };
    const world = agentWorld({ state: { runs: { R1: run } } });
    expect(eventOf(await world.result(1, "fetch")).type).toBe("agentic.tool_request.fabric");
  });
});

const startEvent = {
  event: {
    type: "agentic.start",
    payload: { goal: "g", run_id: "R1" },
    source: "api",
    timestamp: "2026-02-16T12:00:00Z",
    event_id: "e",
  },
};
