// Promise: a run that is ended for good from outside stops where it stands: nothing of it is undone, what was open is closed, and an
// operator learns what is left to look at.
import { expect, it } from "vitest";
import { createEntry } from "../../src/threads/new-entry.ts";
import { eachDatabase } from "../databases.ts";
import { accept, refunding, runs, suspended } from "./runs-in-test.ts";

eachDatabase((newWorld) => {
  it("is not undone, has no output, and what was at work is of unknown outcome", async () => {
    const world = await newWorld();
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const done: string[] = [];
    const stepFunctions = {
      book: () => void done.push("book"),
      cancel: () => void done.push("cancel"),
      pay: () => {
        begun.resolve();
        return held.promise;
      },
    };
    const holdfast = await world.open([], { stepFunctions });
    const steps = [runs("book", { undo: runs("cancel") }), runs("pay")];
    const run = await holdfast.workflows.start({ id: "trip", steps, on_failure: [runs("cancel")] });
    await begun.promise;
    const { threads } = await world.stores();
    await threads.terminate(run.id, createEntry.stop("The end."));
    const record = await run.result();
    held.resolve();
    expect(record).toMatchObject({
      status: "failed",
      error: { code: "workflow_run_terminated" },
      output: {},
      steps: [
        { id: "book", status: "succeeded" },
        { id: "pay", status: "cancelled" },
      ],
    });
    expect(record.metadata).toEqual({});
    expect(done).toEqual(["book"]);
    expect(await run.summary()).toMatchObject({ has_problem: true });
    const rows = await world.sql("select status from workflow_steps order by parent, position");
    expect(rows.map(({ status }) => status)).toEqual(["cut_off", "succeeded", "cut_off"]);
    expect(await world.sql("select phase from calls where number = 2")).toEqual([{ phase: "unknown" }]);
  });

  it("ends also when it was paused before a decision that had been made", async () => {
    const world = await newWorld();
    const { refund, refunds, spec } = refunding();
    const holdfast = await world.open([], { tools: [refund] });
    const run = await holdfast.workflows.start(spec);
    await suspended(run);
    await run.pause();
    await suspended(run, "paused");
    await accept(holdfast, run);
    const { threads } = await world.stores();
    await threads.terminate(run.id, createEntry.stop("The end."));
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_run_terminated" } });
    expect(refunds).toEqual([]);
    expect(await holdfast.requests.list({ thread: run.id, status: "answered" })).toEqual([]);
  });

  it("closes what it waits for", async () => {
    const world = await newWorld();
    const waits = { id: "waits", steps: [{ id: "w", type: "wait", event: "never" }] };
    const holdfast = await world.open([], { workflows: [waits] });
    const run = await holdfast.workflows.start({
      id: "both",
      steps: [
        {
          id: "all",
          type: "parallel",
          branches: [
            { role: "asks", steps: [{ id: "ask", type: "wait", approval: { summary: "Really?" } }] },
            { role: "nests", steps: [{ id: "nest", type: "workflow", workflow: "waits" }] },
          ],
        },
      ],
    });
    await suspended(run);
    const { threads } = await world.stores();
    await threads.terminate(run.id, createEntry.stop("The end."));
    expect(await run.result()).toMatchObject({ status: "failed" });
    expect(await holdfast.requests.list({ thread: run.id, status: "pending" })).toEqual([]);
    const [nested] = await holdfast.workflows.runs({ parent: run.id });
    expect(await (await holdfast.workflows.run(nested?.run_id ?? "")).result()).toMatchObject({ status: "failed" });
  });
});
