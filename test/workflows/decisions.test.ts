// Promise: of an answer and the end of its time, the one that came first counts, and what was not agreed to is not done.
import { expect, it } from "vitest";
import { z } from "zod";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { type HeldClock, heldClock } from "../../src/testing/held-clock.ts";
import { tool } from "../../src/threads/tool.ts";
import type { RunHandle } from "../../src/workflows/durable/run-handle.ts";
import { eachDatabase, type World } from "../databases.ts";

const APPROVAL = { id: "yes", type: "wait", approval: { summary: "May it?" }, timeout: "1h" };
const undo = { type: "function", function: "undo" };
const STEPS = [
  { id: "a", type: "function", function: "a", undo },
  APPROVAL,
  { id: "b", type: "function", function: "b" },
];

function functions(done: string[]) {
  return Object.fromEntries(["a", "b", "undo"].map((name) => [name, () => void done.push(name)]));
}

async function pending(holdfast: Awaited<ReturnType<World["open"]>>, run: Pick<RunHandle, "id">): Promise<string> {
  for (;;) {
    const [request] = await holdfast.requests.list({ thread: run.id, status: "pending" });
    if (request) return request.id;
    await new Promise(setImmediate);
  }
}

eachDatabase((newWorld, database) => {
  it("undoes what was done when a person says no", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const holdfast = await world.open([], { stepFunctions: functions(done) });
    const run = await holdfast.workflows.start({ id: "w", steps: STEPS });
    await holdfast.requests.submit(await pending(holdfast, run), { decision: "rejected", reason: "Too dear." });
    expect(await run.result()).toMatchObject({
      status: "failed",
      error: { code: "approval_rejected", message: expect.stringContaining("Too dear."), retryable: false },
    });
    expect(done).toEqual(["a", "undo"]);
  });

  it("does not run a tool that a person said no to, nor one whose rules have changed since the yes", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const refund = (schema: z.ZodType) =>
      tool({
        ...{ name: "shop/refund", description: "Refunds.", actionPolicy: "preview" },
        inputSchema: schema,
        execute: () => void done.push("refund"),
      });
    const steps = [{ id: "refund", type: "ability", ability: "shop/refund", args: { cents: 7 } }];
    const first = await world.open([], { tools: [refund(z.object({ cents: z.number() }))] });
    const one = await first.workflows.start({ id: "w", steps });
    await first.requests.submit(await pending(first, one), { decision: "rejected" });
    expect(await one.result()).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    const other = await first.workflows.start({ id: "w", steps });
    const request = await pending(first, other);
    await first.close();
    const second = await world.open([], {
      tools: [refund(z.object({ cents: z.number(), why: z.string().optional() }))],
    });
    await second.requests.submit(request, { decision: "accepted" }).catch(() => undefined);
    const again = await second.workflows.run(other.id);
    const [left] = await second.requests.list({ thread: other.id, status: "pending" });
    if (left) await again.requestCancel();
    const record = await again.result();
    expect(record.status).not.toBe("succeeded");
    expect(done).toEqual([]);
  });

  it("takes no event and no result that does not fit its schema", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const schema = { type: "object", properties: { cents: { type: "integer" } }, required: ["cents"] };
    const events = { id: "paid", type: "wait", event: "paid", payload: schema };
    const run = await holdfast.workflows.start({ id: "w", steps: [events, { ...events, id: "again" }] });
    for (const cents of ["all of it", 7, null, 8]) await run.send("paid", { cents });
    expect(await run.result()).toMatchObject({ output: { steps: { paid: { cents: 7 }, again: { cents: 8 } } } });
    const asks = { id: "ask", type: "wait", request: { name: "count", schema } };
    const asking = await holdfast.workflows.start({ id: "v", steps: [asks] });
    const request = await pending(holdfast, asking);
    await expect(holdfast.requests.submit(request, { result: { cents: "many" } })).rejects.toMatchObject({
      code: "invalid_answer",
    });
    await holdfast.requests.submit(request, { result: { cents: 9 } });
    expect(await asking.result()).toMatchObject({ output: { last: { cents: 9 } } });
  });

  // A clock that a test holds there is on SQLite alone.
  if (database !== "sqlite") return;

  it("takes an answer that came in time, however late it is read", async () => {
    const { world, clock, done, opened } = await site(newWorld);
    const first = await opened();
    const run = await first.workflows.start({ id: "w", steps: STEPS });
    const request = await pending(first, run);
    await first.close();
    const desk = await opened({ runs: false });
    await desk.requests.submit(request, { decision: "accepted" });
    await desk.close();
    await clock.advance(2 * 60 * 60_000);
    const second = await opened();
    expect(await (await second.workflows.run(run.id)).result()).toMatchObject({ status: "succeeded" });
    expect(done).toEqual(["a", "b"]);
    expect(world.takeErrors()).toEqual([]);
  });

  it("takes no answer that comes too late, also before the run was looked at", async () => {
    const { clock, done, opened } = await site(newWorld);
    const first = await opened();
    const run = await first.workflows.start({ id: "w", steps: STEPS });
    const request = await pending(first, run);
    await first.close();
    await clock.advance(2 * 60 * 60_000);
    const desk = await opened({ runs: false });
    const late = desk.requests.submit(request, { decision: "accepted" });
    await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/expired|ended|closed/) });
    await desk.close();
    const second = await opened();
    expect(await (await second.workflows.run(run.id)).result()).toMatchObject({
      status: "failed",
      error: { code: "approval_expired" },
    });
    expect(done).toEqual(["a", "undo"]);
  });
});

async function site(newWorld: () => Promise<World>) {
  const world = await newWorld();
  const clock: HeldClock = heldClock();
  const done: string[] = [];
  const { address } = world;
  if (!("path" in address)) throw new Error("This is for a file.");
  const backend = sqlite(address.path, { clock });
  const opened = (more: { readonly runs?: boolean } = {}) =>
    world.open([], { backend, stepFunctions: functions(done), ...more });
  return { world, clock, done, opened };
}
