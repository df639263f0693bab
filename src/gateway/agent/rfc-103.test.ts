import { describe, expect, it } from "vitest";
import { agentWorld, answered, askFabric, eventOf, fetchPage, finish, ignored } from "../../../test/agent-world.ts";

describe("the cases that RFC-103 says must pass", () => {
  it("Start event creates run and first tool request", async () => {
    const world = agentWorld();
    const { type, payload } = eventOf(await world.start());
    expect(type).toBe("agentic.tool_request.fetch");
    expect(payload).toMatchObject({ run_id: "R1", step: 1, tool: "fetch" });
    expect(world.run().status).toBe("running");
  });

  it("Matching tool result resumes and advances to next step", async () => {
    const world = agentWorld();
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload).toMatchObject({ step: 2, tool: "fabric" });
    expect(world.run()).toMatchObject({ step: 2, pending_step: 2, pending_tool: "fabric" });
  });

  it("Duplicate tool result does not double-advance step", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch");
    await world.result(1, "fetch");
    expect(world.run().step).toBe(2);
  });

  it("Stale step result is ignored", async () => {
    const world = agentWorld({ script: [fetchPage, fetchPage, askFabric] });
    await world.start();
    await world.result(1, "fetch");
    await world.result(2, "fetch");
    expect(await world.result(1, "fabric")).toEqual(ignored("info"));
    expect(world.run()).toMatchObject({ status: "running", step: 3 });
  });

  it("Wrong tool for pending step escalates", async () => {
    const world = agentWorld();
    await world.start();
    expect(eventOf(await world.result(1, "fabric"))).toMatchObject({
      type: "agent.escalated",
      payload: { reason: "pending_tool_mismatch" },
    });
  });

  it("max_steps cutoff escalates deterministically", async () => {
    for (const script of [[fetchPage, finish], [fetchPage, askFabric], [fetchPage]]) {
      const world = agentWorld({ script, config: { max_steps: 1 } });
      await world.start();
      expect(eventOf(await world.result(1, "fetch"))).toMatchObject({
        type: "agent.escalated",
        payload: { reason: "max_steps_exceeded", step: 1, max_steps: 1 },
      });
    }
  });

  it("Completion emits exactly one agent.completed", async () => {
    const world = agentWorld();
    const responses = [await world.start(), await world.result(1, "fetch")];
    for (let delivery = 0; delivery < 3; delivery++) responses.push(await world.result(2, "fabric"));
    const types = responses.flatMap((response) => answered(response).events.map(({ type }) => type));
    expect(types).toEqual(["agentic.tool_request.fetch", "agentic.tool_request.fabric", "agent.completed"]);
  });
});

describe("the invariants of RFC-103, as far as a turn can break them", () => {
  it("1. Every run has a unique run_id", async () => {
    const world = agentWorld();
    await world.event("agentic.start", { goal: "one" });
    await world.event("agentic.start", { goal: "two" });
    expect(Object.keys(world.state.runs as object)).toEqual(["run-J1", "run-J2"]);
  });

  it("2. Every tool action has a monotonically increasing step, starting at 1", async () => {
    const world = agentWorld({ script: [fetchPage, askFabric, { decision: "retry" }, finish] });
    const steps = [eventOf(await world.start()).payload.step];
    steps.push(eventOf(await world.result(1, "fetch")).payload.step);
    steps.push(eventOf(await world.result(2, "fabric")).payload.step);
    expect(steps).toEqual([1, 2, 3]);
  });

  it("3. pending_step and pending_tool are stored by the same response that dispatches the tool", async () => {
    const world = agentWorld();
    const { events, state_updates } = answered(await world.start());
    expect(events).toHaveLength(1);
    expect(state_updates).toMatchObject({ runs: { R1: { pending_step: 1, pending_tool: "fetch" } } });
  });

  it("4. Tool result events must include run_id, step and tool", async () => {
    const world = agentWorld();
    await world.start();
    const whole = { run_id: "R1", step: 1, tool: "fetch", status: "ok" };
    for (const key of ["run_id", "step", "tool"] as const) {
      const { [key]: _left, ...payload } = whole;
      expect(await world.event("agentic.tool_result", payload)).toMatchObject({ status: "error", retry: false });
    }
  });

  it("5. Agent resumes only when run_id, step and tool match the pending state", async () => {
    const wrong = [{ run_id: "R2" }, { step: 2 }, { tool: "fabric" }];
    for (const other of wrong) {
      const world = agentWorld();
      await world.start();
      await world.result(1, "fetch", other);
      expect(world.run().completed_steps).toEqual([]);
      expect(world.asked.map(({ phase }) => phase)).not.toContain("reflect");
    }
  });

  it("6. Duplicate and stale events are ignored safely", async () => {
    const world = agentWorld();
    await world.start();
    await world.result(1, "fetch");
    const before = world.state;
    for (const tool of ["fetch", "fabric", "other"]) expect(await world.result(1, tool)).toEqual(ignored("info"));
    expect(world.state).toEqual(before);
  });

  it("7. All turns end with normal protocol v2 success or error semantics", async () => {
    const world = agentWorld();
    const responses = [await world.start(), await world.result(1, "fetch"), await world.event("odd", {})];
    responses.push(await world.take({ command: "poll" }), await world.take({ command: "health" }));
    for (const response of responses) {
      if (response.status === "ok") expect(response.result).toMatch(/\S/);
      else expect(response.error).toMatch(/\S/);
    }
  });
});
