// Promise: whatever keeps a thread from going on can be told in one sentence, with the command that does something about it.
import { describe, expect, it } from "vitest";
import type { Holdfast } from "../src/holdfast.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { actor, creates, finishes, lead, staying, worker } from "./standard-agents/team.ts";

const talker = agent({ slug: "talker", model: () => says("Hello.") });

const clerk = (parts: Partial<AgentDefinition> = {}) => agent({ slug: "clerk", model: () => says("Hello."), ...parts });

const refunding = (parts: object = {}) =>
  clerk({
    model: scriptedModel([callsTool("shop/refund", {}), says("Done.")]),
    tools: [tool({ name: "shop/refund", description: "Refunds.", execute: () => "refunded", ...parts })],
  });

/** A thread with a message that nobody has looked at. */
async function queued(world: World, { agents = talker, slug = "talker" } = {}) {
  const holdfast = await world.open(agents, { runs: false });
  const thread = await holdfast.threads.open("t", { agent: slug });
  await thread.queueMessage("Hi.");
  return { holdfast, thread };
}

/** One sentence, on one line, that says which thread it is about. */
async function diagnosed({ threads }: Holdfast, id: string) {
  const diagnosis = await threads.diagnose(id);
  expect(diagnosis.thread_id).toBe(id);
  expect(diagnosis.sentence).toMatch(new RegExp(`^Thread ${id} [^\n]*[.?!…]$`));
  return diagnosis;
}

eachDatabase((newWorld) => {
  it("nobody has sent it anything yet", async () => {
    const holdfast = await (await newWorld()).open(talker);
    const { id } = await holdfast.threads.open("t", { agent: "talker" });
    expect(await diagnosed(holdfast, id)).toMatchObject({
      ...{ cause: "never_run", status: "idle", command: `holdfast threads send ${id} "…"` },
    });
  });

  it("its last run is complete", async () => {
    const holdfast = await (await newWorld()).open(talker);
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await thread.send("Hi.");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "at_rest" });
  });

  it("it was stopped, and keeps its queue", async () => {
    const holdfast = await (await newWorld()).open(talker);
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await thread.send("Hi.");
    await thread.stop();
    await thread.queueTool("shop/refund", {});
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      sentence: expect.stringContaining("keeps 1 queued"),
      ...{ cause: "stopped", status: "stopped", command: `holdfast threads continue ${thread.id}` },
    });
  });

  it("it was ended for good", async () => {
    const holdfast = await (await newWorld()).open(talker);
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await thread.terminate();
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "terminated", command: null });
  });

  it("it waits for an approval", async () => {
    const holdfast = await (await newWorld()).open(refunding({ actionPolicy: "preview" }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const { waiting_for } = await thread.send("Refund.");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "approval", status: "waiting", command: `holdfast approvals accept ${waiting_for?.request_id}` },
      sentence: expect.stringMatching(/since 20.* to approve "shop\/refund"/),
    });
  });

  it("it waits for a client tool", async () => {
    const ask = tool({ name: "client/ask", description: "Asks." });
    const model = scriptedModel([callsTool("client/ask", {}), says("Done.")]);
    const holdfast = await (await newWorld()).open(clerk({ model, tools: [ask] }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const { waiting_for } = await thread.send("Ask.");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "client_tool", command: `holdfast requests submit ${waiting_for?.request_id} --result '{}'` },
    });
  });

  it("it waits for its subagent", async () => {
    const world = await newWorld();
    const hold = tool({ name: "client/hold", description: "Holds." });
    const child = actor(callsTool("client/hold", {}), finishes("Done."));
    const holdfast = await world.open([
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(child.model, { tools: [hold] }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.queueMessage("Go.");
    const pending = "select thread_id from requests where kind = 'client_tool' and status = 'pending'";
    while ((await world.sql(pending)).length === 0) await new Promise(setImmediate);
    const [own] = await world.sql(pending);
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "subagent", command: `holdfast doctor ${own?.thread_id}` },
    });
    expect(await diagnosed(holdfast, String(own?.thread_id))).toMatchObject({ cause: "client_tool" });
  });

  it("a subagent of it needs variables", async () => {
    const world = await newWorld();
    const variables = [{ name: "TOKEN", type: "secret", required: true, scoped: true, description: "Of the bank." }];
    const holdfast = await world.open([
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(actor(finishes("Done.")).model, { prompt: { variables } as never }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "variables_missing", sentence: expect.stringContaining("TOKEN") },
      command: expect.stringContaining("holdfast/submit-variables"),
    });
  });

  it("its model failed and is asked again later", async () => {
    const world = await newWorld();
    const model = () => {
      throw new ModelFailure("model_unavailable", "Busy.", { status: 503 });
    };
    const holdfast = await world.open(clerk({ model, retry: { backoffMs: 3_600_000, mostMs: 3_600_000 } }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.queueMessage("Hi.");
    const laidDown = "select id from threads where status = 'waiting'";
    while ((await world.sql(laidDown)).length === 0) await new Promise(setImmediate);
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "model_retry", sentence: expect.stringMatching(/until 20/), command: null },
    });
  });

  it("it waits for a timer", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await queued(world);
    await world.sql("update threads set due_at = due_at + 3600000000");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "timer", command: null });
  });

  it("its budget is exhausted", async () => {
    const model = scriptedModel([callsTool("shop/refund", {}), callsTool("shop/refund", {}), says("Done.")]);
    const tools = [tool({ name: "shop/refund", description: "Refunds.", execute: () => "done" })];
    const holdfast = await (await newWorld()).open(clerk({ model, tools, limits: { steps: 1 } }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Refund.");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "budget_exhausted", command: `holdfast threads continue ${thread.id}` },
    });
  });

  it("its last run failed", async () => {
    const world = await newWorld();
    const model = () => {
      throw new ModelFailure("model_refused", "No such model.", { status: 404 });
    };
    const holdfast = await world.open(clerk({ model }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Hi.").catch(() => undefined);
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "run_ended_early", sentence: expect.stringContaining("No such model.") },
    });
  });

  it("it is being run, or is held by somebody who is gone", async () => {
    const world = await newWorld();
    const begun = Promise.withResolvers<void>();
    const going = Promise.withResolvers<string>();
    const execute = () => {
      begun.resolve();
      return going.promise;
    };
    const holdfast = await world.open(refunding({ execute }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const sent = thread.send("Refund.");
    await begun.promise;
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "running", status: "running", command: `holdfast threads tail ${thread.id}` },
      sentence: expect.stringMatching(/by worker-.* until 20/),
    });
    await world.sql("delete from workers");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "holder_gone", command: null });
    going.resolve("done");
    await sent;
  });

  it("no process runs threads, or none has room", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await queued(world);
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "no_worker", command: "holdfast serve" });
    await world.sql("insert into workers (id, started_at, seen_at) values ('busy', 1, 1)");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "due", command: null });
  });

  it("nobody knows its agent", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await queued(world);
    await holdfast.close();
    const other = await world.open(clerk());
    expect(await diagnosed(other, thread.id)).toMatchObject({
      ...{ cause: "agent_unknown", sentence: expect.stringContaining('"talker"') },
    });
  });

  it("its agent is switched off", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await queued(world);
    await holdfast.switches.set("agent", "talker", { off: true, reason: "Talks too much", by: "user:1" });
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      ...{ cause: "agent_switched_off", sentence: expect.stringContaining("by user:1: Talks too much.") },
      command: "holdfast switches on agent talker",
    });
  });

  it("a newer version has written it", async () => {
    const world = await newWorld();
    const { holdfast, thread } = await queued(world);
    await world.sql("update threads set state_version = 99");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "state_too_new", command: null });
  });

  it("it is stuck, and what went wrong last", async () => {
    const world = await newWorld();
    const { holdfast: first, thread } = await queued(world);
    await first.close();
    await world.sql(`update threads set state = '{"broken', claims = 2`);
    const holdfast = await world.open(talker);
    while ((await (await holdfast.threads.get(thread.id)).status()).status !== "stuck") {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const words = expect.stringMatching(/stuck since 20.*: it was begun three times .* last error was: .*JSON/);
    const command = `holdfast threads retry ${thread.id}`;
    await world.sql("update threads set state = null");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({ cause: "stuck", sentence: words, command });
    expect(await world.everything()).not.toContain("JSON at position");
    expect(await holdfast.diagnose()).toMatchObject({
      ...{ healthy: false, findings: [{ thread_id: thread.id, cause: "stuck", sentence: words, command }] },
    });
    await world.sql("update threads set last_error = null");
    expect(await diagnosed(holdfast, thread.id)).toMatchObject({
      sentence: expect.stringContaining("died each time."),
    });
    await holdfast.threads.retry(thread.id);
    await (await holdfast.threads.get(thread.id)).send("Hello?");
    expect(world.takeErrors().length).toBeGreaterThan(0);
  });

  describe("the doctor", () => {
    it("finds nothing where all is well, and says of a thread that there is none", async () => {
      const holdfast = await (await newWorld()).open(talker);
      await (await holdfast.threads.open("t", { agent: "talker" })).send("Hi.");
      expect(await holdfast.diagnose()).toEqual({ healthy: true, findings: [] });
      await expect(holdfast.threads.diagnose("nobody's")).rejects.toMatchObject({ code: "thread_not_found" });
    });

    it("finds what waits for somebody, the longest first, and nothing wrong with that", async () => {
      const holdfast = await (await newWorld()).open(refunding({ actionPolicy: "preview" }));
      const [first, second] = [
        await holdfast.threads.open("first", { agent: "clerk" }),
        await holdfast.threads.open("second", { agent: "clerk" }),
      ];
      for (const thread of [second, first]) await thread.send("Refund it.");
      const [later, earlier] = await holdfast.requests.list({ status: "pending" }).then((all) => [...all].reverse());
      expect(await holdfast.diagnose()).toMatchObject({
        healthy: true,
        findings: [
          { thread_id: second.id, cause: "approval", command: `holdfast approvals accept ${earlier?.id}` },
          { thread_id: first.id, cause: "approval", command: `holdfast approvals accept ${later?.id}` },
        ],
      });
    });

    it("finds what is overdue, of unknown outcome, and switched off", async () => {
      const world = await newWorld();
      const { holdfast, thread } = await queued(world);
      expect(await holdfast.diagnose()).toEqual({ healthy: true, findings: [] });
      await world.sql("update threads set due_at = due_at - 60000000");
      await world.sql(`insert into calls (thread_id, run, number, tool_call_id, tool_name, phase, idempotency_key,
          arguments_hmac, epoch, begun_at, certain_at) values ('t', 1, 1, 'c', 'shop/refund', 'unknown', 'k', 'h', 1, 1, 1)`);
      await holdfast.switches.set("tool", "shop/refund", { off: true });
      await holdfast.switches.set("tool", "shop/look", { off: false });
      expect(await holdfast.diagnose()).toMatchObject({
        findings: [
          { thread_id: thread.id, cause: "no_worker" },
          { thread_id: null, cause: "unknown_calls", sentence: expect.stringMatching(/^One call has/) },
          { thread_id: null, cause: "switched_off", sentence: expect.stringMatching(/^The tool "shop\/refund" was/) },
        ],
      });
    });
  });
});
