// Promise: a run that failed can be carried on as often as it fails, shows how it stands then, and repeats nothing in silence that
// may have been done.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
import { expect, it } from "vitest";
import { agent } from "../../src/threads/agent.ts";
import { heldModel } from "../held.ts";
import { clockedWorld, fails, HOUR, happened, runs, SECOND, suspended, until } from "./runs-in-test.ts";

const NAP = [{ id: "nap", type: "sleep", for: "1h" }];

function nested(more: object = {}) {
  return { id: "outer", steps: [{ id: "nest", type: "workflow", workflow: "${inputs.which}", ...more }] };
}

it("shows a run as succeeded that is carried on and succeeds in one commit", async () => {
  const { open } = await clockedWorld();
  const holdfast = await open();
  holdfast.workflows.register({ id: "another", steps: NAP });
  const run = await holdfast.workflows.start(nested({ detached: true }), { which: "later" });
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_not_found" } });
  holdfast.workflows.register({ id: "later", steps: NAP });
  await run.retry();
  await happened(run, { type: "run.ended", attempt: 2 });
  expect(await run.result()).toMatchObject({ status: "succeeded" });
  expect(await run.summary()).toMatchObject({ status: "succeeded", reason: null });
});

it("waits for a run that is about to be carried on, before any process has taken it", async () => {
  const { open } = await clockedWorld();
  let isMended = false;
  const pay = () => {
    if (!isMended) throw new Error("no money");
    return { paid: true };
  };
  const holdfast = await open({ stepFunctions: { pay } });
  const run = await holdfast.workflows.start({ id: "pays", steps: [{ id: "pay", type: "function", function: "pay" }] });
  expect(await run.result()).toMatchObject({ status: "failed" });
  isMended = true;
  await run.retry();
  expect(await run.result()).toMatchObject({ status: "succeeded", output: { last: { paid: true } } });
});

it("carries a run on again that failed once more at once", async () => {
  const { open } = await clockedWorld();
  const holdfast = await open();
  const run = await holdfast.workflows.start(nested(), { which: "later" });
  await run.result();
  await run.retry();
  await happened(run, { type: "run.ended", attempt: 2 });
  holdfast.workflows.register({ id: "later", steps: [{ id: "wait", type: "wait", event: "go" }] });
  await run.retry();
  await suspended(run, "waiting_for_workflow");
  const inner = await until(async () => (await holdfast.workflows.runs({ parent: run.id }))[0]);
  await (await holdfast.workflows.run(inner.run_id)).send("go");
  expect(await run.result()).toMatchObject({ status: "succeeded" });
});

it("counts several wishes to carry on the same failure as one", async () => {
  let attempts = 0;
  const wished = Promise.withResolvers<void>();
  const { open } = await clockedWorld();
  const work = async () => {
    attempts++;
    if (attempts === 2) await wished.promise;
    if (attempts < 3) throw new Error("not yet");
  };
  const holdfast = await open({ stepFunctions: { work } });
  const run = await holdfast.workflows.start({ id: "works", steps: [runs("work")] });
  await run.result();
  await Promise.allSettled([run.retry(), run.retry(), run.retry()]);
  wished.resolve();
  await happened(run, { type: "run.ended", attempt: 2 });
  expect(await run.summary()).toMatchObject({ status: "failed" });
  await run.retry();
  await happened(run, { type: "run.ended", attempt: 3 });
  expect(await run.summary()).toMatchObject({ status: "succeeded" });
  expect(attempts).toBe(3);
});

it("refuses to repeat a step that ran out of its time and may still be at work, unless that is wanted", async () => {
  let calls = 0;
  const { open } = await clockedWorld();
  const slow = () => {
    calls++;
    return calls === 1 ? new Promise<never>(() => {}) : {};
  };
  const holdfast = await open({ stepFunctions: { slow } });
  const run = await holdfast.workflows.start({ id: "slow", steps: [runs("slow", { timeout: "1ms" })] });
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_step_timed_out" } });
  expect(await run.summary()).toMatchObject({ has_problem: true });
  await expect(run.retry()).rejects.toMatchObject({ code: "workflow_outcome_unknown" });
  expect(calls).toBe(1);
  await run.retry({ repeatUnknown: true });
  expect(await happened(run, { type: "run.ended", attempt: 2 })).toMatchObject({ attempt: 2 });
  expect(calls).toBe(2);
});

it("repeats a step that ran out of its time when a second run of it does no harm", async () => {
  let calls = 0;
  const { open } = await clockedWorld();
  const slow = () => {
    calls++;
    return new Promise<never>(() => {});
  };
  const holdfast = await open({ stepFunctions: { slow: { idempotent: true, run: slow } } });
  const run = await holdfast.workflows.start({ id: "slow", steps: [runs("slow", { timeout: "1ms" })] });
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_step_timed_out" } });
  expect(await run.summary()).toMatchObject({ has_problem: false });
  await run.retry();
  await happened(run, { type: "run.ended", attempt: 2 });
  expect(calls).toBe(2);
});

it("runs no steps again from one behind what was undone", async () => {
  const done: string[] = [];
  const { open } = await clockedWorld();
  const holdfast = await open({
    stepFunctions: { book: () => void done.push("book"), cancel: () => void done.push("cancel"), pay: fails },
  });
  const run = await holdfast.workflows.start({
    id: "trip",
    steps: [runs("book", { undo: runs("cancel") }), runs("pay")],
  });
  await run.result();
  await expect(run.rerun({ from: "pay" })).rejects.toMatchObject({ code: "workflow_run_rolled_back" });
  await expect(run.retry()).rejects.toMatchObject({ code: "workflow_run_rolled_back" });
  const again = await run.rerun({});
  await again.result();
  expect(done).toEqual(["book", "cancel", "book", "cancel"]);
});

it("tries a nested run again that ran out of its time only where that does no harm", async () => {
  const { clock, open } = await clockedWorld();
  const holdfast = await open({ workflows: [{ id: "later", steps: [{ id: "w", type: "wait", event: "never" }] }] });
  const more = { timeout: "1h", retry: { max_attempts: 2, backoff: "1s" } };
  const begun = async (isIdempotent: boolean) => {
    const run = await holdfast.workflows.start(nested({ ...more, idempotent: isIdempotent }), { which: "later" });
    await suspended(run, "waiting_for_workflow");
    await clock.advance(HOUR);
    if (isIdempotent) {
      await suspended(run, "retrying");
      await clock.advance(SECOND);
      await suspended(run, "waiting_for_workflow");
      await clock.advance(HOUR);
    }
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_step_timed_out" } });
    return (await holdfast.workflows.runs({ parent: run.id })).length;
  };
  expect(await begun(false)).toBe(1);
  expect(await begun(true)).toBe(2);
});

it("asks an agent again that took too long, in a thread of its own", async () => {
  const { model, next } = heldModel();
  const { clock, open } = await clockedWorld();
  const holdfast = await open({ agents: [agent({ slug: "slow", instructions: "Help.", model })] });
  const step = { id: "ask", type: "agent", agent: "slow", message: "Please.", timeout: "1h" };
  const run = await holdfast.workflows.start({
    id: "asks",
    steps: [{ ...step, retry: { max_attempts: 2, backoff: "1s" } }],
  });
  const first = await next();
  await suspended(run, "waiting_for_agent");
  await clock.advance(HOUR);
  await suspended(run, "retrying");
  await clock.advance(SECOND);
  const second = await next();
  first.answer("Too late.");
  second.answer("In time.");
  expect(await run.result()).toMatchObject({ status: "succeeded", output: { last: { reply: "In time." } } });
});
