// Promise: a decision counts when it was made in time, however late the run looks at it; and what was not decided has expired.
import { expect, it } from "vitest";
import { agentToken } from "../../src/contracts/trust/principal.ts";
import { accept, clockedWorld, DAY, HOUR, refunding, requestOf, runs, SECOND, suspended } from "./runs-in-test.ts";

it("runs a tool that was approved in time when a paused run is resumed after that time", async () => {
  const { refund, refunds, spec } = refunding();
  const { clock, open } = await clockedWorld();
  const holdfast = await open({ tools: [refund] });
  const run = await holdfast.workflows.start(spec);
  await suspended(run);
  await run.pause();
  await suspended(run, "paused");
  await accept(holdfast, run);
  await clock.advance(40 * DAY);
  await run.resume();
  expect(await run.result()).toMatchObject({ status: "succeeded" });
  expect(refunds).toEqual([{}]);
});

it("runs a tool that was approved in time though no process was there to carry the run on", async () => {
  const { refund, refunds, spec } = refunding();
  const { clock, open } = await clockedWorld();
  const before = await open({ tools: [refund] });
  const run = await before.workflows.start(spec);
  await suspended(run);
  await before.close();
  const desk = await open({ tools: [refund], runConcurrency: 0 });
  await accept(desk, run);
  await clock.advance(40 * DAY);
  await desk.close();
  const after = await open({ tools: [refund] });
  expect(await (await after.workflows.run(run.id)).result()).toMatchObject({ status: "succeeded" });
  expect(refunds).toEqual([{}]);
});

it("takes a decision that a step waits for in the same way", async () => {
  const { clock, open } = await clockedWorld();
  const spec = { id: "asks", steps: [{ id: "ok", type: "wait", approval: { summary: "Really?" }, timeout: "1h" }] };
  const before = await open();
  const run = await before.workflows.start(spec);
  await suspended(run);
  await before.close();
  const desk = await open({ runConcurrency: 0 });
  await accept(desk, run);
  await clock.advance(HOUR);
  await desk.close();
  const after = await open();
  expect(await (await after.workflows.run(run.id)).result()).toMatchObject({
    status: "succeeded",
    output: { last: { decision: "accepted" } },
  });
});

it("lets an approval that was not decided expire while the run is paused", async () => {
  const { refund, refunds, spec } = refunding();
  const { clock, open } = await clockedWorld();
  const holdfast = await open({ tools: [refund] });
  const run = await holdfast.workflows.start(spec);
  await suspended(run);
  const request = await requestOf(holdfast, run);
  await run.pause();
  await suspended(run, "paused");
  await clock.advance(40 * DAY);
  await expect(holdfast.requests.submit(request, { decision: "accepted" })).rejects.toMatchObject({
    code: "request_expired",
  });
  await run.resume();
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "approval_expired" } });
  expect(refunds).toEqual([]);
});

it("asks once for all attempts at a step, and stops between two of them", async () => {
  let calls = 0;
  const { refund, step } = refunding({
    execute: () => {
      calls++;
      throw new Error("the bank is closed");
    },
  });
  const { clock, open } = await clockedWorld();
  const holdfast = await open({ tools: [refund] });
  const run = await holdfast.workflows.start({
    id: "refunds",
    steps: [{ ...step, retry: { max_attempts: 5, backoff: "1h" } }],
  });
  await accept(holdfast, run);
  await suspended(run, "retrying");
  await clock.advance(HOUR);
  await suspended(run, "retrying");
  expect(calls).toBe(2);
  expect(await run.cancel()).toMatchObject({ status: "cancelled" });
  expect((await run.summary()).has_problem).toBe(false);
  expect(await holdfast.requests.list({ thread: run.id })).toHaveLength(1);
});

it("runs no approved tool for a token that was revoked meanwhile", async () => {
  const { refund, refunds, spec } = refunding();
  const { open } = await clockedWorld();
  const holdfast = await open({ tools: [refund] });
  const { metadata } = await holdfast.tokens.create({ agent: "clerk", owner_user_id: 7, label: "nightly" });
  const principal = agentToken(7, "clerk", metadata.token_id);
  const run = await holdfast.workflows.start(spec, {}, { principal });
  await suspended(run);
  await holdfast.tokens.revoke(metadata.token_id, "clerk");
  await accept(holdfast, run);
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "token_revoked" } });
  expect(refunds).toEqual([]);
});

it("tries no step again for a token that was revoked meanwhile", async () => {
  let calls = 0;
  const { clock, open } = await clockedWorld();
  const unsteady = () => {
    calls++;
    throw new Error("not yet");
  };
  const holdfast = await open({ stepFunctions: { unsteady } });
  const { metadata } = await holdfast.tokens.create({ agent: "clerk", owner_user_id: 7, label: "nightly" });
  const principal = agentToken(7, "clerk", metadata.token_id);
  const spec = { id: "tries", steps: [runs("unsteady", { retry: { max_attempts: 3, backoff: "1s" } })] };
  const run = await holdfast.workflows.start(spec, {}, { principal });
  await suspended(run, "retrying");
  await holdfast.tokens.revoke(metadata.token_id, "clerk");
  await clock.advance(SECOND);
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "token_revoked" } });
  expect(calls).toBe(1);
});
