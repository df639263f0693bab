import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentWorld, agentWorld, pipelineContext } from "../../../test/agent-world.ts";
import type { AgentRun } from "../../contracts/gateway/agent/agentic-run.ts";
import { readRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import type { PluginResponse } from "../../contracts/gateway/protocol/response.ts";
import type { ScriptedDecision } from "./planner/scripted-planner.ts";

const tools = ["fetch", "fabric"] as const;
const tool = fc.constantFrom(...tools, "stranger");

type Delivery =
  | { readonly kind: "start"; readonly run: string }
  | {
      readonly kind: "result";
      readonly run: string;
      readonly step: number;
      readonly tool: string;
      readonly status: string;
    }
  | { readonly kind: "attempted"; readonly step: number; readonly tool: string; readonly attempt: number }
  | { readonly kind: "right"; readonly status: string }
  | { readonly kind: "poll"; readonly minutes: number }
  | { readonly kind: "cancel" };

const status = fc.constantFrom("ok", "ok", "ok", "error", "odd");
const run = fc.constantFrom("R1", "R2", "R3");

const anyDelivery: fc.Arbitrary<Delivery> = fc.oneof(
  fc.record({ kind: fc.constant("start" as const), run }),
  fc.record({ kind: fc.constant("result" as const), run, step: fc.integer({ min: 1, max: 6 }), tool, status }),
  fc.record({
    kind: fc.constant("attempted" as const),
    step: fc.integer({ min: 1, max: 6 }),
    tool,
    attempt: fc.integer({ min: 1, max: 3 }),
  }),
  { arbitrary: fc.record({ kind: fc.constant("right" as const), status }), weight: 4 },
  fc.record({ kind: fc.constant("poll" as const), minutes: fc.integer({ min: 0, max: 20 }) }),
  { arbitrary: fc.record({ kind: fc.constant("cancel" as const) }), weight: 1 },
);

const anyDecision: fc.Arbitrary<ScriptedDecision> = fc.oneof(
  { arbitrary: fc.record({ tool: fc.constantFrom(...tools) }), weight: 6 },
  fc.record({ tool: fc.constantFrom(...tools), decision: fc.constant("reframe" as const) }),
  fc.constant({ decision: "retry" as const }),
  fc.constant({ decision: "done" as const, outcome: "It is done." }),
  fc.constant({ decision: "escalate" as const, detail: "It cannot be done." }),
  fc.constant({ decision: "none" as const }),
  fc.constant({ tool: "stranger" }),
);

function deliver(world: AgentWorld, delivery: Delivery): Promise<PluginResponse> {
  switch (delivery.kind) {
    case "start":
      return world.start({ goal: "g", run_id: delivery.run });
    case "result":
      return world.result(delivery.step, delivery.tool, { run_id: delivery.run, status: delivery.status });
    case "attempted":
      return world.event(
        "content_ready",
        { text: "x" },
        pipelineContext(delivery.step, delivery.tool, delivery.attempt),
      );
    case "right": {
      const pending = runsOf(world).find(({ run }) => run.status === "running");
      const { pending_step: step, pending_tool: name } = pending?.run ?? {};
      return world.result(step ?? 1, name ?? "fetch", { run_id: pending?.id ?? "R1", status: delivery.status });
    }
    case "poll":
      world.now = new Date(world.now.getTime() + delivery.minutes * 60_000);
      return world.take({ command: "poll" });
    case "cancel":
      return world.take({ command: "cancel", payload: { run_id: "R1", by: "ada" } });
  }
}

const runsOf = (world: AgentWorld) => readRuns(world.state);

function expectInvariants(run: AgentRun, before: AgentRun | undefined): void {
  const { step, completed_steps, reframes, max_reframes } = run;
  if (run.status === "running") {
    expect(run.pending_step).toBe(step);
    expect(run.pending_tool).not.toBe("");
    expect(completed_steps).not.toContain(step);
  } else {
    const { pending_step, pending_tool, pending_since, pending_payload } = run;
    expect([pending_step, pending_tool, pending_since, pending_payload]).toEqual([null, null, null, null]);
  }
  expect(completed_steps).toEqual([...new Set(completed_steps)].sort((left, right) => left - right));
  expect(completed_steps.every((each) => each >= 1 && each <= step)).toBe(true);
  expect(step).toBeLessThanOrEqual(run.max_steps);
  expect(reframes).toBeLessThanOrEqual(max_reframes);
  if (!before) return;
  expect(step).toBeGreaterThanOrEqual(before.step);
  expect(step).toBeLessThanOrEqual(before.step + 1);
  if (before.status !== "running") expect(run).toEqual(before);
}

describe("results in any order, any number of times, right and wrong", () => {
  it("keep every invariant of the run state, and end each run with at most one event", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDecision, { minLength: 6, maxLength: 6 }),
        fc.array(anyDelivery, { maxLength: 25 }),
        fc.record({
          max_steps: fc.integer({ min: 1, max: 5 }),
          max_steps_mode: fc.constantFrom("strict", "allow_final"),
        }),
        async (script, deliveries, config) => {
          const world = agentWorld({ script, config });
          const ends: unknown[] = [];
          const keys: unknown[] = [];
          for (const next of deliveries) {
            const before = new Map(runsOf(world).map(({ id, run }) => [id, run]));
            const response = await deliver(world, next);
            for (const { id, run } of runsOf(world)) expectInvariants(run, before.get(id));
            if (response.status === "error") continue;
            const { events, state_updates } = response;
            if (next.kind !== "poll") expect(events.length).toBeLessThanOrEqual(1);
            // An event and the state that it belongs to come together or not at all.
            if (next.kind !== "poll") expect(events.length > 0).toBe(state_updates !== undefined);
            keys.push(...events.map(({ dedupe_key }) => dedupe_key));
            ends.push(...events.filter(({ type }) => type.startsWith("agent.")).map(({ payload }) => payload.run_id));
          }
          expect(ends).toEqual([...new Set(ends)]);
          expect(keys).toEqual([...new Set(keys)]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
