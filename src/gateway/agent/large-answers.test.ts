// What a planner answers is of any size: an agent keeps its state, its events and its files small.
import { describe, expect, it } from "vitest";
import { agentWorld, eventOf, fetchPage } from "../../../test/agent-world.ts";
import type { Planner } from "./planner/planner.ts";

const MIB = 1024 * 1024;
const size = (value: unknown) => JSON.stringify(value).length;
const reflection = { decision: "continue", summary: "It is there." };

/** A planner of which each answer is the next of these, whatever it is asked. */
function answering(...answers: readonly unknown[]): Planner {
  const left = [...answers];
  const next = () => left.shift() as never;
  return { frame: next, plan: next, reflect: next };
}

describe("what a planner answers without end", () => {
  it("as a command is asked for anew by a turn, and stored by none", async () => {
    const world = agentWorld({ planner: answering({}, { ...fetchPage, tool_command: "x".repeat(MIB) }) });
    expect(await world.start()).toMatchObject({ status: "error", retry: true });
    expect(size(world.state)).toBeLessThan(2_000);
  });

  it("as the name of a tool, or as a reason, is clipped in the end of the run", async () => {
    for (const answers of [
      [reflection, { tool: "x".repeat(10 * MIB) }],
      [{ decision: "escalate", detail: "x".repeat(10 * MIB) }],
    ]) {
      const world = agentWorld({ planner: answering({}, fetchPage, ...answers) });
      await world.start();
      const response = await world.result(1, "fetch");
      expect(eventOf(response).type).toBe("agent.escalated");
      expect(size(response)).toBeLessThan(100_000);
    }
  });

  it("as paths is looked at up to a number", async () => {
    const artifacts = Array.from({ length: 50_000 }, (_, index) => `artifacts/${index}.txt`);
    let looks = 0;
    const exists = () => ++looks > 0;
    const planner = answering({}, fetchPage, { decision: "done", outcome: "It is written.", artifacts });
    const world = agentWorld({ planner, exists });
    await world.start();
    expect(eventOf(await world.result(1, "fetch")).payload.artifacts).toHaveLength(1_000);
    expect(looks).toBe(1_000);
  });

  it("as notes is clipped in the workspace", async () => {
    const items = Array(100_000).fill("An item of ten words that says nothing at all, again.");
    const frame = { todo: items, evidence: items, notes: "x".repeat(MIB) };
    const plan = { ...fetchPage, steps: items };
    const reflect = { ...reflection, memory_update: items, updated_state: "x".repeat(MIB) };
    const world = agentWorld({ planner: answering(frame, plan, reflect, plan) });
    await world.start();
    await world.result(1, "fetch");
    for (const file of ["memory.md", "plan.md"]) {
      expect(world.workspaces.files.get("job:J1")?.get(file)?.length).toBeLessThan(200_000);
    }
  });

  it.each([
    ["updated_state", { ...reflection, updated_state: nested(100_000) }],
    ["summary", { ...reflection, summary: nested(100_000) }],
    ["a field that there is not", { ...reflection, more: nested(100_000) }],
  ])("as nesting in %s goes on with the run, or fails its turn in words", async (where, answer) => {
    const world = agentWorld({ planner: answering({}, fetchPage, answer, fetchPage) });
    await world.start();
    const response = await world.result(1, "fetch");
    if (where !== "summary") expect(eventOf(response).type).toBe("agentic.tool_request.fetch");
    else expect(response).toMatchObject({ error: expect.stringContaining("invalid_model_answer: "), retry: true });
  });
});

describe("names that every object inherits", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "are no decisions and no tools: %s",
    async (name) => {
      for (const answer of [{ ...reflection, decision: name }, reflection]) {
        const world = agentWorld({ planner: answering({}, fetchPage, answer, { tool: name, tool_command: name }) });
        await world.start();
        const response = await world.result(1, "fetch");
        if (answer.decision === name) expect(response).toMatchObject({ status: "error", retry: true });
        else expect(eventOf(response).payload).toMatchObject({ reason: "followup_tool_not_allowed", tool: name });
      }
    },
  );

  it("are keys of a payload like others, but for __proto__, which is dropped", async () => {
    const tool_payload = '{"__proto__":{"polluted":1},"constructor":"c","toString":"t","step":9}';
    const world = agentWorld({ planner: answering({}, { tool: "fetch", tool_payload }) });
    const { payload } = eventOf(await world.start());
    expect(payload).toMatchObject({ step: 1, constructor: "c", toString: "t" });
    expect(JSON.stringify(payload)).not.toContain("polluted");
    expect(Object.hasOwn({}, "polluted")).toBe(false);
  });
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
