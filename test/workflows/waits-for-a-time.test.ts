// Promise: what waits for a time goes on when that time has come, by the clock of the runtime, and costs no process until then.
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type HoldfastOptions } from "../../src/holdfast.ts";
import { heldClock } from "../../src/testing/held-clock.ts";

async function world(options: Partial<HoldfastOptions> = {}) {
  const clock = heldClock();
  const holdfast = await createHoldfast({ backend: sqlite(":memory:", { clock }), agents: [], ...options });
  onTestFinished(() => holdfast.close());
  return { clock, holdfast };
}

const HOUR = 3_600_000;

it("sleeps until its time has come", async () => {
  const { clock, holdfast } = await world();
  const run = await holdfast.workflows.start({ id: "naps", steps: [{ id: "nap", type: "sleep", for: "2h" }] });
  await suspended(run);
  await clock.advance(HOUR);
  expect(await run.summary()).toMatchObject({ status: "suspended", reason: "sleeping" });
  await clock.advance(HOUR);
  expect(await run.result()).toMatchObject({ status: "succeeded" });
});

it("gives a wait up when nothing has come in time", async () => {
  const { clock, holdfast } = await world();
  const run = await holdfast.workflows.start({
    id: "waits",
    steps: [{ id: "paid", type: "wait", event: "paid", timeout: "1h" }],
  });
  await suspended(run);
  await clock.advance(HOUR);
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_wait_timed_out" } });
});

it("lets an approval expire, and takes no decision behind it", async () => {
  const { clock, holdfast } = await world();
  const run = await holdfast.workflows.start({
    id: "asks",
    steps: [{ id: "agreed", type: "wait", approval: { summary: "Really?" }, timeout: "1h" }],
  });
  await suspended(run);
  const [request] = await holdfast.requests.list({ thread: run.id });
  await clock.advance(HOUR);
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "approval_expired" } });
  await expect(holdfast.requests.submit(request?.id ?? "", { decision: "accepted" })).rejects.toMatchObject({
    code: "request_expired",
  });
});

it("tries a step again after its pause, with the same key", async () => {
  const attempts: [number, string][] = [];
  const { clock, holdfast } = await world({
    stepFunctions: {
      unsteady: (_, { attempt, idempotencyKey }) => {
        attempts.push([attempt, idempotencyKey]);
        if (attempt < 3) throw new Error("not yet");
        return { attempt };
      },
    },
  });
  const run = await holdfast.workflows.start({
    id: "retries",
    steps: [
      { id: "try", type: "function", function: "unsteady", retry: { max_attempts: 3, backoff: "1h", multiplier: 2 } },
    ],
  });
  await suspended(run);
  expect(await run.summary()).toMatchObject({ reason: "retrying" });
  await clock.advance(HOUR);
  await suspended(run);
  await clock.advance(2 * HOUR);
  expect(await run.result()).toMatchObject({ status: "succeeded", output: { last: { attempt: 3 } } });
  expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(attempts.map(([, key]) => key)).size).toBe(1);
});

it("sees a time come while another step is at work", async () => {
  const held = Promise.withResolvers<void>();
  const { clock, holdfast } = await world({ stepFunctions: { hold: () => held.promise } });
  const run = await holdfast.workflows.start({
    id: "beside",
    steps: [
      {
        id: "both",
        type: "parallel",
        branches: [
          { role: "hold", steps: [{ id: "hold", type: "function", function: "hold" }] },
          {
            role: "nap",
            steps: [
              { id: "nap", type: "sleep", for: "1h" },
              { id: "after", type: "wait", event: "go" },
            ],
          },
        ],
      },
    ],
  });
  const following = run.follow();
  const seen = async (type: string, step: string) => {
    for (;;) {
      const { value, done } = await following.next();
      if (done === true || (value.type === type && value.step === step)) return;
    }
  };
  await seen("step.waiting", "nap");
  await clock.advance(HOUR);
  await seen("step.waiting", "after");
  await run.send("go");
  held.resolve();
  expect(await run.result()).toMatchObject({ status: "succeeded" });
});

async function suspended(run: { summary(): Promise<{ status: string }> }): Promise<void> {
  while ((await run.summary()).status !== "suspended") await new Promise(setImmediate);
}
