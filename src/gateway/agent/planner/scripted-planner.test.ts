import { describe, expect, it } from "vitest";
import { agentWorld, askFabric, eventOf, fetchPage, finish } from "../../../../test/agent-world.ts";
import { scriptedPlanner } from "./scripted-planner.ts";

describe("a scripted planner", () => {
  it("decides by the step of the run, so one that takes over after a crash goes on at the right place", async () => {
    const script = [fetchPage, askFabric, finish];
    const first = agentWorld({ script });
    await first.start();
    await first.lose({ event: undefined as never });
    const second = agentWorld({ planner: scriptedPlanner(script), state: first.state });
    expect(eventOf(await second.result(1, "fetch")).type).toBe("agentic.tool_request.fabric");
  });

  it("serves several runs at once", async () => {
    const world = agentWorld();
    await world.start({ goal: "one", run_id: "R1" });
    await world.start({ goal: "two", run_id: "R2" });
    await world.result(1, "fetch");
    expect(eventOf(await world.result(1, "fetch", { run_id: "R2" })).type).toBe("agentic.tool_request.fabric");
  });

  it("may decide by what it is shown", async () => {
    const script = [
      fetchPage,
      (input: object) => ({ ...finish, outcome: `Seen: ${JSON.stringify("result" in input && input.result)}` }),
    ];
    const world = agentWorld({ script });
    await world.start();
    expect(eventOf(await world.result(1, "fetch", { result: "hi" })).payload.outcome).toBe('Seen: "hi"');
  });

  it("says when its script has ended", async () => {
    const world = agentWorld({ script: [fetchPage] });
    await world.start();
    expect(await world.result(1, "fetch")).toMatchObject({
      status: "error",
      error: expect.stringContaining("script_ended"),
    });
  });
});
