// Promise: where it is unknown what a step did, because it ran out of time or its process is gone, an operator learns of it, and the
// step is not carried out a second time in silence.
import { expect, it } from "vitest";
import { createEntry } from "../../src/threads/new-entry.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";

eachDatabase((newWorld) => {
  it("leaves the outcome of the step unknown", async () => {
    const world = await newWorld();
    const pays = tool({ name: "shop/pay", description: "Pays.", timeoutMs: 1, execute: () => new Promise(() => {}) });
    const holdfast = await world.open([], { tools: [pays] });
    const steps = [{ id: "pay", type: "ability", ability: "shop/pay" }];
    const run = await holdfast.workflows.start({ id: "shop", steps });
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_step_timed_out" } });
    expect(await run.summary()).toMatchObject({ has_problem: true });
    expect(await world.sql("select phase from calls")).toEqual([{ phase: "unknown" }]);
    await expect(run.retry()).rejects.toMatchObject({ code: "workflow_outcome_unknown" });
  });

  it("is unknown too where a run is ended for good whose process is gone", async () => {
    const world = await newWorld();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const hangs = () => {
      resolve();
      return new Promise<never>(() => {});
    };
    const steps = [{ id: "hangs", type: "function", function: "hangs" }];
    const first = await world.open([], { stepFunctions: { hangs }, drainMs: 1 });
    const { id } = await first.workflows.start({ id: "w", steps });
    await begun;
    await first.close();
    const second = await world.open([], { runs: false });
    const { threads } = await world.stores();
    await threads.terminate(id, createEntry.stop("The end."));
    await second.close();
    const third = await world.open([], { stepFunctions: { hangs } });
    const run = await third.workflows.run(id);
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_run_terminated" } });
    expect(await run.summary()).toMatchObject({ has_problem: true });
  });
});
