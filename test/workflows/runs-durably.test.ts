// What durable runs of workflows promise when nothing goes wrong: the same record as in memory, waits that take no process, and
// effects in the order in which they were declared.
import { expect, it } from "vitest";
import { z } from "zod";
import { says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { tool } from "../../src/threads/tool.ts";
import { run } from "../../src/workflows/builder/call-steps.ts";
import { foreach } from "../../src/workflows/builder/foreach.ts";
import { workflow } from "../../src/workflows/builder/workflow.ts";
import { eachDatabase } from "../databases.ts";

eachDatabase((newWorld) => {
  it("carries steps out one after another, and what they return flows on", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const doubled = workflow("doubled", { inputs: z.object({ rows: z.array(z.number()) }) })
      .step("each", ({ inputs }) =>
        foreach(inputs.rows, (each) =>
          each.step("double", ({ item }) => run((row: number) => ({ row: row * 2 }), item)),
        ),
      )
      .step("count", ({ steps }) => run((count: number) => ({ count }), steps.each.count));
    const started = await holdfast.workflows.start(doubled, { rows: [1, 2, 3] });
    const record = await started.result();
    expect(record).toMatchObject({ status: "succeeded", output: { steps: { count: { count: 3 } } } });
    expect(record.output).toMatchObject({ steps: { each: { iterations: [{}, {}, { last: { row: 6 } }] } } });
  });

  it("asks an agent in a thread below the run", async () => {
    const world = await newWorld();
    const helper = agent({ slug: "helper", instructions: "Help.", model: scriptedModel([says("Done, I helped.")]) });
    const holdfast = await world.open(helper);
    const run = await holdfast.workflows.start({
      id: "asks",
      steps: [{ id: "ask", type: "agent", agent: "helper", message: "Please help." }],
    });
    expect(await run.result()).toMatchObject({
      status: "succeeded",
      output: { steps: { ask: { reply: "Done, I helped." } } },
    });
  });

  it("waits for an event, also for one that came before", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const spec = {
      id: "waits",
      steps: [
        { id: "first", type: "wait", event: "paid", match: { "order.id": 7 } },
        { id: "second", type: "wait", event: "shipped" },
      ],
    };
    const run = await holdfast.workflows.start(spec);
    await run.send("shipped", { by: "post" });
    await run.send("paid", { order: { id: 8 } });
    await run.send("paid", { order: { id: 7 }, cents: 12 });
    expect(await run.result()).toMatchObject({
      status: "succeeded",
      output: { steps: { first: { cents: 12 }, second: { by: "post" } } },
    });
  });

  it("runs a tool only once a person has agreed", async () => {
    const world = await newWorld();
    const refunds: unknown[] = [];
    const refund = tool({
      name: "shop/refund",
      description: "Refund.",
      inputSchema: z.object({ order: z.number() }),
      actionPolicy: "preview",
      execute: (input) => {
        refunds.push(input);
        return { refunded: true };
      },
    });
    const holdfast = await world.open([], { tools: [refund] });
    const run = await holdfast.workflows.start({
      id: "refunds",
      steps: [{ id: "refund", type: "ability", ability: "shop/refund", args: { order: 7 } }],
    });
    await world.untilLeft(run.id, 1);
    const [request] = await until(async () => {
      const found = await holdfast.requests.list({ thread: run.id, status: "pending" });
      return found.length > 0 ? found : undefined;
    });
    expect(refunds).toEqual([]);
    expect(await run.summary()).toMatchObject({ status: "suspended", reason: "waiting_for_approval" });
    await holdfast.requests.submit(request?.id ?? "", { decision: "accepted" });
    expect(await run.result()).toMatchObject({ status: "succeeded", output: { last: { refunded: true } } });
    expect(refunds).toEqual([{ order: 7 }]);
  });

  it("undoes what was done when a later step fails", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const steps = {
      book: (input: unknown) => void done.push(`book ${JSON.stringify(input)}`),
      cancel: () => void done.push("cancel"),
      fail: () => {
        throw new Error("no rooms");
      },
    };
    const holdfast = await world.open([], { stepFunctions: steps });
    const run = await holdfast.workflows.start({
      id: "trip",
      steps: [
        { id: "book", type: "function", function: "book", input: 1, undo: { type: "function", function: "cancel" } },
        { id: "hotel", type: "function", function: "fail" },
      ],
    });
    expect(await run.result()).toMatchObject({
      status: "failed",
      error: { code: "handler_exception", message: "no rooms" },
      metadata: { _rollback: [{ id: "book", status: "succeeded" }] },
    });
    expect(done).toEqual(["book 1", "cancel"]);
  });

  it("runs another workflow below it, and ends it when it is cancelled", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], {
      workflows: [
        { id: "inner", steps: [{ id: "pause", type: "wait", event: "go" }] },
        { id: "outer", steps: [{ id: "nest", type: "workflow", workflow: "inner" }] },
      ],
    });
    const run = await holdfast.workflows.start("outer");
    const [inner] = await until(async () => {
      const found = await holdfast.workflows.runs({ parent: run.id, status: "suspended" });
      return found.length > 0 ? found : undefined;
    });
    const record = await run.cancel();
    expect(record.status).toBe("cancelled");
    expect(await (await holdfast.workflows.run(inner?.run_id ?? "")).summary()).toMatchObject({ status: "cancelled" });
  });
});

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise(setImmediate);
  }
}
