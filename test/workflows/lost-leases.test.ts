// Promise: a process that loses its lease in the middle of a step commits nothing of it any more, and its successor does not repeat
// what must not be done twice.
import { expect, it } from "vitest";
import type { StepFunctionContext } from "../../src/workflows/steps/step-work.ts";
import { onPostgres } from "../databases.ts";
import { held } from "../held.ts";

onPostgres((newWorld) => {
  async function overtaken(idempotent: boolean) {
    const world = await newWorld();
    const calls = held<{ readonly key: string }, unknown>();
    const done: string[] = [];
    const options = {
      stepFunctions: {
        a: { run: (_: unknown, { idempotencyKey: key }: StepFunctionContext) => calls.call({ key }), idempotent },
        b: (input: unknown) => void done.push(`b ${JSON.stringify(input)}`),
      },
      leaseMs: 1_000,
    };
    const first = await world.open([], { ...options, drainMs: 60_000 });
    const step = { id: "a", type: "function", function: "a" };
    const next = { id: "b", type: "function", function: "b", input: "$" + "{steps.a.output}" };
    const run = await first.workflows.start({ id: "w", steps: [step, next] });
    const early = await calls.next();
    // It claims nothing more, and waits for its step, while the lease is lost.
    const closed = first.close();
    await world.sql(`update threads set lease_until = 0, lease_by = null where id = '${run.id}'`);
    const second = await world.open([], options);
    return { calls, done, early, closed, again: await second.workflows.run(run.id) };
  }

  it("does not repeat a step that must not be repeated, and drops what came of it too late", async () => {
    const { calls, done, early, again, closed } = await overtaken(false);
    const record = await again.result();
    early.answer({ late: true });
    await closed;
    expect(record).toMatchObject({ status: "failed", error: { code: "workflow_step_outcome_unknown" } });
    expect(await again.record()).toEqual(record);
    expect(calls.count()).toBe(0);
    expect(done).toEqual([]);
  });

  it("repeats a step that may be, under the same key, and commits one outcome", async () => {
    const { calls, done, early, again, closed } = await overtaken(true);
    const late = await calls.next();
    expect(late.key).toBe(early.key);
    early.answer({ from: "the first" });
    late.answer({ from: "the second" });
    expect(await again.result()).toMatchObject({ status: "succeeded" });
    await closed;
    expect(done).toEqual(['b {"from":"the second"}']);
    const events = await again.events();
    expect(events.map(({ type, step }) => `${type} ${step ?? ""}`.trim())).toEqual([
      ...["run.started", "step.begun a", "step.ended a", "step.begun b", "step.ended b"],
      ...["steps.ended", "run.ended"],
    ]);
  });
});
