// Promise: a process that has not the code of a run leaves it to one that has, and an operator can see what it lacks.
import { expect, it } from "vitest";
import { heldPoint } from "./held-point.ts";
import { clockedWorld, runs, SECOND, suspended } from "./runs-in-test.ts";

const GO = { id: "go", type: "wait", event: "go" };

it.each([
  { what: "a function", step: runs("work"), missing: 'function "work"' },
  { what: "a function that undoes", step: { ...GO, id: "last", undo: runs("work") }, missing: 'function "work"' },
  { what: "a type of steps", step: { id: "own", type: "stamp" }, missing: 'type of step "stamp"' },
])("leaves a run alone that needs $what which the process has not", async ({ step, missing }) => {
  const { clock, open, engineView } = await clockedWorld();
  const code = { stepFunctions: { work: () => ({ done: true }) }, stepHandlers: { stamp: () => ({ done: true }) } };
  const ours = await open({ ...code, workflows: [{ id: "shipping", steps: [GO, step] }] });
  const run = await ours.workflows.start("shipping");
  await suspended(run);
  await ours.close();

  const gaveBack = heldPoint("after give back");
  const without = await open({ onPoint: gaveBack.onPoint });
  const there = await without.workflows.run(run.id);
  await there.send("go");
  await gaveBack.reached();
  // Again and again: that is no failure after which a run is stuck.
  for (let times = 0; times < 5; times++) {
    await clock.advance(10 * SECOND);
    await gaveBack.reached();
  }
  expect(await there.record()).toMatchObject({ status: "suspended", error: {} });
  expect(await engineView(run.id)).toMatchObject({
    stuck_at: null,
    last_error: `This process has no ${missing}, which the workflow "shipping" needs.`,
  });
  await without.close();

  const after = await open(code);
  await clock.advance(10 * SECOND);
  const again = await after.workflows.run(run.id);
  if (step.type === "wait") await again.send("go");
  expect(await again.result()).toMatchObject({ status: "succeeded" });
});

it("fails the step where the process knows the workflow and a function of it is gone", async () => {
  const { open } = await clockedWorld();
  const ours = { id: "ours", steps: [GO, runs("work")] };
  const before = await open({ workflows: [ours], stepFunctions: { work: () => ({}) } });
  const run = await before.workflows.start("ours");
  await suspended(run);
  await before.close();
  const after = await open({ workflows: [ours] });
  const there = await after.workflows.run(run.id);
  await there.send("go");
  expect(await there.result()).toMatchObject({ status: "failed", error: { code: "workflow_function_missing" } });
});
