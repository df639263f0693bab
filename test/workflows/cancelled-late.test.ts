// Promise: a run can be stopped at any time, also while it undoes what it did or handles a failure, and what waits for an answer then
// waits no longer.
import { expect, it } from "vitest";
import { accept, clockedWorld, fails, refunding, requestOf, runs, suspended, until } from "./runs-in-test.ts";

it.each([
  { what: "an event", step: { id: "ask", type: "wait", event: "never" } },
  { what: "an approval", step: { id: "ask", type: "wait", approval: { summary: "Really?" } } },
  { what: "a tool that a person has to agree to", step: refunding().step },
  { what: "another run", step: { id: "ask", type: "workflow", workflow: "waits" } },
])("stops a run that waits for $what after a failure", async ({ step }) => {
  const { refund, refunds } = refunding();
  const { open } = await clockedWorld();
  const holdfast = await open({
    stepFunctions: { fails },
    tools: [refund],
    workflows: [{ id: "waits", steps: [{ id: "w", type: "wait", event: "never" }] }],
  });
  const run = await holdfast.workflows.start({ id: "late", steps: [runs("fails")], on_failure: [step] });
  await suspended(run);
  const record = await run.cancel();
  expect(record).toMatchObject({ status: "failed", error: { message: "no rooms" } });
  expect(record.metadata).toMatchObject({
    _on_failure: [{ status: "failed", error: { code: "cancel_requested" } }],
  });
  expect(refunds).toEqual([]);
  expect(await holdfast.requests.list({ thread: run.id, status: "pending" })).toEqual([]);
  const below = await holdfast.workflows.runs({ parent: run.id });
  for (const { run_id } of below) {
    expect(await (await holdfast.workflows.run(run_id)).result()).toMatchObject({ status: "cancelled" });
  }
});

it("stops to wait for a person while it undoes, undoes the rest, and is for an operator to look at", async () => {
  const done: string[] = [];
  const { refund, refunds, step } = refunding();
  const { open } = await clockedWorld();
  const stepFunctions = { first: () => ({}), second: () => ({}), fails, cancel: () => void done.push("cancel") };
  const holdfast = await open({ stepFunctions, tools: [refund] });
  const run = await holdfast.workflows.start({
    id: "trip",
    steps: [runs("first", { undo: runs("cancel") }), runs("second", { undo: step }), runs("fails")],
  });
  await suspended(run, "waiting_for_approval");
  const record = await run.cancel();
  expect(record.metadata).toMatchObject({
    _rollback: [{ status: "failed", error: { code: "cancel_requested" } }, { status: "succeeded" }],
  });
  expect(done).toEqual(["cancel"]);
  expect(refunds).toEqual([]);
  expect(await run.summary()).toMatchObject({ has_problem: true });
});

it("does not begin a tool whose approval is seen together with the wish to stop", async () => {
  const { refund, refunds, spec } = refunding();
  const { open } = await clockedWorld();
  const before = await open({ tools: [refund] });
  const run = await before.workflows.start(spec);
  await suspended(run);
  await before.close();
  const desk = await open({ tools: [refund], runConcurrency: 0 });
  await accept(desk, run);
  expect(await (await desk.workflows.run(run.id)).requestCancel()).toBe(true);
  await desk.close();
  const after = await open({ tools: [refund] });
  expect(await (await after.workflows.run(run.id)).result()).toMatchObject({ status: "cancelled" });
  expect(refunds).toEqual([]);
});

it("takes no decision any more once it has stopped", async () => {
  const { refund, refunds, spec } = refunding();
  const { open } = await clockedWorld();
  const holdfast = await open({ tools: [refund] });
  const run = await holdfast.workflows.start(spec);
  const request = await requestOf(holdfast, run);
  await run.cancel();
  await expect(holdfast.requests.submit(request, { decision: "accepted" })).rejects.toMatchObject({
    code: "request_cancelled",
  });
  await until(async () => (await holdfast.requests.list({ thread: run.id, status: "cancelled" })).length === 1);
  expect(refunds).toEqual([]);
});
