// Promise: a thread that waits for a person or a client costs nothing while it waits, takes the first answer and no
// other, and runs nothing but what was approved.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Holdfast } from "../src/holdfast.ts";
import { callsTool, type ScriptedAnswer, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type Agent, type AgentDefinition, agent } from "../src/threads/agent.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import type { SendOutcome, ThreadHandle } from "../src/threads/thread.ts";
import { type Tool, tool } from "../src/threads/tool.ts";
import { eachDatabase, secretKey, type World } from "./databases.ts";

const refunds = callsTool("shop/refund", { order: 7 });
const asks = callsTool("client/ask", { question: "Which one?" });
const accepted = { decision: "accepted" } as const;
const rejected = { decision: "rejected" } as const;

type Desk = {
  readonly agent: Agent;
  /** The orders that were refunded. */
  readonly refunded: unknown[];
};

/** An agent that refunds once somebody has agreed, and asks a client. */
function desk(script: readonly ScriptedAnswer[], more: Partial<AgentDefinition> = {}): Desk {
  const refunded: unknown[] = [];
  const refund = tool({
    name: "shop/refund",
    description: "Refunds.",
    actionPolicy: "preview",
    execute: ({ order }) => {
      refunded.push(order);
      return { refunded: order };
    },
  });
  const ask = tool({
    name: "client/ask",
    description: "Asks.",
    outputSchema: z.object({ choice: z.string() }),
  });
  const model = scriptedModel(script);
  return { agent: agent({ slug: "desk", model, tools: [refund, ask], ...more }), refunded };
}

function requestOf(outcome: SendOutcome | undefined): string {
  if (!outcome?.waiting_for) throw new Error(`Nothing is waited for: ${outcome?.status}.`);
  return outcome.waiting_for.request_id;
}

/** A thread that waits, and what it waits for. */
async function waitingThread(holdfast: Holdfast, key = "t"): Promise<{ thread: ThreadHandle; id: string }> {
  const thread = await holdfast.threads.open(key, { agent: "desk" });
  return { thread, id: requestOf(await thread.send("Please.")) };
}

/** The only thread, and what it waits for or has waited for: it may have gone on before anybody looked. */
async function askedThread(world: World, holdfast: Holdfast): Promise<{ thread: ThreadHandle; id: string }> {
  const thread = await holdfast.threads.open("t", { agent: "desk" });
  await thread.queueMessage("Please.");
  for (;;) {
    const [request] = await world.sql("select id from requests");
    if (request) return { thread, id: String(request.id) };
    await sleep(5);
  }
}

/** The last result that the thread has, with what the model said to it. */
async function lastResult(thread: ThreadHandle) {
  const all = (await thread.messages()).flatMap(({ message }) => (message.type === "tool_result" ? [message] : []));
  return all.at(-1)?.payload;
}

eachDatabase((newWorld, database) => {
  describe("an approval", () => {
    it("is what a send comes to, and is listed with everything but its secrets", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([refunds]).agent);
      const thread = await holdfast.threads.open("t", { agent: "desk" });

      const outcome = await thread.send("Please.");

      const id = requestOf(outcome);
      expect(outcome).toMatchObject({
        status: "approval_required",
        completed: false,
        waiting_for: { kind: "approval", shown: { tool_name: "shop/refund", parameters: { order: 7 } } },
      });
      const request = { id, thread_id: thread.id, kind: "approval", status: "pending", answer: null };
      expect(await holdfast.requests.list()).toMatchObject([request]);
      expect(await holdfast.requests.list({ thread: thread.id, status: "pending" })).toMatchObject([request]);
      expect(await holdfast.requests.list({ status: "answered" })).toEqual([]);
      expect(await holdfast.requests.list({ thread: "another" })).toEqual([]);
      expect(await holdfast.requests.list({ after: id })).toEqual([]);
      expect(await holdfast.requests.get(id)).toMatchObject(request);
      expect(await holdfast.requests.open(id)).toMatchObject({ apply_input: { parameters: { order: 7 } } });
      expect((await thread.status()).status).toBe("waiting");
      expect(await thread.wait()).toEqual(outcome);
    });

    it("lets the call run once it is accepted", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Refunded.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);
      expect(refunded).toEqual([]);

      expect(await holdfast.requests.submit(id, accepted)).toMatchObject({ outcome: "submitted" });

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Refunded." });
      expect(refunded).toEqual([7]);
      expect(await holdfast.requests.get(id)).toMatchObject({ status: "settled", answer: accepted });
      await expect(holdfast.requests.open(id)).rejects.toMatchObject({ code: "request_answered" });
    });

    it("keeps the call from running once it is rejected, and the model is told why", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("As you wish.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);

      await holdfast.requests.submit(id, { ...rejected, reason: "Too much." });

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "As you wish." });
      expect(await lastResult(thread)).toMatchObject({
        success: false,
        error: "Too much.",
        metadata: { error_type: "approval_rejected" },
      });
      expect(refunded).toEqual([]);
    });

    it("counts as rejected when nobody decides in time, without anybody coming by", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Nobody was there.")], { approvalWaitMs: 20 });
      const holdfast = await world.open(one);
      const { thread, id } = await askedThread(world, holdfast);

      await untilSettled(holdfast, id);

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Nobody was there." });
      expect(await holdfast.requests.get(id)).toMatchObject({ status: "expired" });
      expect(await lastResult(thread)).toMatchObject({ metadata: { error_type: "approval_rejected" } });
      await expect(holdfast.requests.submit(id, accepted)).rejects.toMatchObject({ code: "request_expired" });
      expect(refunded).toEqual([]);
    });
  });

  describe("a tool of the client", () => {
    it("has the run wait for its result", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([asks, says("The blue one.")]).agent);
      const thread = await holdfast.threads.open("t", { agent: "desk" });

      const outcome = await thread.send("Please.");

      expect(outcome).toMatchObject({ status: "runtime_tool_pending", waiting_for: { kind: "client_tool" } });
      const id = requestOf(outcome);
      expect(await holdfast.requests.open(id)).toMatchObject({ parameters: { question: "Which one?" } });
      await holdfast.requests.submit(id, { result: { choice: "blue" } });
      expect(await thread.wait()).toMatchObject({ final_content: "The blue one." });
      expect(await lastResult(thread)).toMatchObject({ success: true, result: { choice: "blue" } });
    });

    it("may fail, and the model is told why", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([asks, says("A pity.")]).agent);
      const { thread, id } = await waitingThread(holdfast);

      await holdfast.requests.submit(id, { error: "The window was closed." });

      expect(await thread.wait()).toMatchObject({ final_content: "A pity." });
      expect(await lastResult(thread)).toMatchObject({ success: false, error: "The window was closed." });
    });

    it("is given up after its own time", async () => {
      const world = await newWorld();
      const ask = tool({ name: "client/ask", description: "Asks.", waitMs: 20 });
      const holdfast = await world.open(desk([asks, says("Nobody answered.")], { tools: [ask] }).agent);
      const { thread, id } = await askedThread(world, holdfast);

      await untilSettled(holdfast, id);

      expect(await thread.wait()).toMatchObject({ final_content: "Nobody answered." });
      expect(await lastResult(thread)).toMatchObject({ metadata: { error_type: "runtime_tool_timeout" } });
      const late = holdfast.requests.submit(id, { result: 5 });
      await expect(late).rejects.toMatchObject({ code: "request_expired" });
    });
  });

  describe("an answer", () => {
    it("counts once: the same one again is a repeat, and another one is refused", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Refunded.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);
      const answer = { ...accepted, reason: "Fine." };
      await holdfast.requests.submit(id, answer);
      const again = { outcome: "repeated", request: { id, answer } };

      expect(await holdfast.requests.submit(id, { reason: "Fine.", decision: "accepted" })).toMatchObject(again);
      await thread.wait();
      expect(await holdfast.requests.submit(id, answer)).toMatchObject(again);
      for (const other of [accepted, rejected]) {
        await expect(holdfast.requests.submit(id, other)).rejects.toMatchObject({ code: "request_answered" });
      }
      expect(refunded).toEqual([7]);
    });

    it("stands though somebody stops the thread before it was looked at", async () => {
      const world = await newWorld();
      const { agent: one } = desk([asks, says("Never said.")]);
      const first = await world.open(one);
      const { thread, id } = await waitingThread(first);
      await first.close();
      const isStored = Promise.withResolvers<void>();
      const onlyWrites = await world.open(one, {
        runs: false,
        onPoint: (point) => (point === "after put stop" ? isStored.resolve() : undefined),
      });
      await onlyWrites.requests.submit(id, { result: { choice: "blue" } });
      const patience = new AbortController();
      const stopping = (await onlyWrites.threads.get(thread.id)).stop({ signal: patience.signal });
      await isStored.promise;
      patience.abort();
      await expect(stopping).rejects.toMatchObject({ code: "aborted" });
      await onlyWrites.close();

      const second = await world.open(one);
      const same = await second.threads.get(thread.id);
      expect(await same.wait()).toMatchObject({ status: "interrupted" });

      expect((await same.status()).status).toBe("stopped");
      expect(await lastResult(same)).toMatchObject({ success: true, result: { choice: "blue" } });
      expect(await same.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
      expect(await second.requests.get(id)).toMatchObject({
        status: "settled",
        answer: { result: { choice: "blue" } },
      });
    });

    it("does not let run what was only approved when the thread was stopped with it", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Never said.")]);
      const first = await world.open(one);
      const { thread, id } = await waitingThread(first);
      await first.close();
      const onlyWrites = await world.open(one, { runs: false });
      await onlyWrites.requests.submit(id, accepted);
      const patience = new AbortController();
      const stopping = (await onlyWrites.threads.get(thread.id)).stop({ signal: patience.signal });
      await world.untilLeft(thread.id, 3);
      patience.abort();
      await expect(stopping).rejects.toMatchObject({ code: "aborted" });
      await onlyWrites.close();

      const second = await world.open(one);
      const same = await second.threads.get(thread.id);
      expect(await same.wait()).toMatchObject({ status: "interrupted" });

      expect(refunded).toEqual([]);
      expect((await same.status()).status).toBe("stopped");
    });

    it("says who gave it, and that is who has resolved the action", async () => {
      const world = await newWorld();
      const { agent: one } = desk([refunds, says("Refunded.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);
      expect(await holdfast.requests.pendingAction(id)).toMatchObject({ action_id: id, status: "pending" });

      await holdfast.requests.submit(id, { ...accepted, by: "ada@example.com", reason: "A good customer." });
      await thread.wait();

      expect(await holdfast.requests.pendingAction(id)).toMatchObject({
        status: "accepted",
        resolver: "ada@example.com",
        resolution_metadata: { reason: "A good customer." },
      });
      const nobody = await waitingThread(holdfast, "nobody");
      const wrong = { ...accepted, by: 7 } as unknown as typeof accepted;
      await expect(holdfast.requests.submit(nobody.id, wrong)).rejects.toMatchObject({ code: "invalid_answer" });
      await holdfast.requests.submit(nobody.id, accepted);
      expect(await holdfast.requests.pendingAction(nobody.id)).toMatchObject({ resolver: "holdfast" });
    });

    it("is taken from one of many who submit at the same time", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Done.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);

      const answers = Array.from({ length: 20 }, (_, index) =>
        holdfast.requests.submit(id, { ...(index % 2 ? accepted : rejected), reason: `answer ${index}` }),
      );
      const submitted = await Promise.allSettled(answers);

      const taken = submitted.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      expect(taken).toMatchObject([{ outcome: "submitted" }]);
      const refused = submitted.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
      expect(refused).toEqual(Array.from({ length: 19 }, () => "request_answered"));
      await thread.wait();
      const { answer } = await holdfast.requests.get(id);
      expect(refunded).toHaveLength((answer as { decision: string }).decision === "accepted" ? 1 : 0);
    });

    it("is refused when it is for nobody, for another thread or for a run that was stopped", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Done.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);
      const { submit, get, open } = holdfast.requests;

      for (const unknown of ["", "nobody's", "' or 1=1 --", id.toUpperCase()]) {
        await expect(submit(unknown, accepted)).rejects.toMatchObject({ code: "request_not_found" });
        await expect(get(unknown)).rejects.toMatchObject({ code: "request_not_found" });
        await expect(open(unknown)).rejects.toMatchObject({ code: "request_not_found" });
      }
      await expect(submit(id, accepted, { thread: "another" })).rejects.toMatchObject({ code: "request_foreign" });
      expect(await get(id)).toMatchObject({ status: "pending" });
      await thread.stop();

      expect(await get(id)).toMatchObject({ status: "cancelled" });
      await expect(submit(id, accepted)).rejects.toMatchObject({ code: "request_cancelled" });
      await expect(open(id)).rejects.toMatchObject({ code: "request_cancelled" });
      expect(await lastResult(thread)).toMatchObject({ metadata: { error_type: "cancelled" } });
      expect(refunded).toEqual([]);
    });

    it("must be one, and the request stays pending until it is", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([refunds, asks, says("Done.")]).agent);
      const { thread, id } = await waitingThread(holdfast);
      const cycle: Record<string, unknown> = {};
      cycle.decision = cycle;
      const submit = (to: string, answer: unknown) => holdfast.requests.submit(to, answer as typeof accepted);

      const noDecisions = [{}, null, undefined, "accepted", 1, [accepted], { decision: true }, { decision: "yes" }];
      const wrong = [...noDecisions, { ...accepted, reason: 5 }, { ...accepted, order: 8 }, { result: 5 }];
      for (const answer of wrong) {
        await expect(submit(id, answer), JSON.stringify(answer)).rejects.toMatchObject({ code: "invalid_answer" });
      }
      await expect(submit(id, cycle)).rejects.toMatchObject({ code: "not_json" });
      expect(await holdfast.requests.get(id)).toMatchObject({ status: "pending" });
      await submit(id, accepted);
      const asked = requestOf(await thread.wait());

      const noResults = [{}, null, 5, accepted, { error: 5 }, { error: "No.", result: 5 }, { result: 5, more: 1 }];
      for (const answer of [...noResults, { result: 5 }, { result: { choice: 5 } }, { result: undefined }]) {
        await expect(submit(asked, answer), JSON.stringify(answer)).rejects.toMatchObject({ code: "invalid_answer" });
      }
      await submit(asked, { result: { choice: "blue" } });
      expect(await thread.wait()).toMatchObject({ status: "completed" });
    });

    it("may come from a process that runs no threads", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Refunded.")]);
      const first = await world.open(one);
      const { thread, id } = await waitingThread(first);
      if (database === "sqlite") await first.close();

      const onlyAnswers = await world.open(one, { runs: false });
      expect(await onlyAnswers.requests.submit(id, accepted)).toMatchObject({ outcome: "submitted" });
      if (database === "sqlite") {
        expect(refunded).toEqual([]);
        await onlyAnswers.close();
        const second = await world.open(one);
        expect(await (await second.threads.get(thread.id)).wait()).toMatchObject({ final_content: "Refunded." });
      } else {
        expect(await thread.wait()).toMatchObject({ final_content: "Refunded." });
      }
      expect(refunded).toEqual([7]);
    });
  });

  describe("a thread that waits", () => {
    it("is nowhere in memory: another runtime goes on with it", async () => {
      const world = await newWorld();
      const { agent: one } = desk([refunds, asks, says("Done.")]);
      const first = await world.open(one);
      const { thread, id } = await waitingThread(first);
      await first.close();

      const other = desk([refunds, asks, says("Done.")]);
      const second = await world.open(other.agent);
      await second.requests.submit(id, accepted);
      const asked = requestOf(await (await second.threads.get(thread.id)).wait());
      await second.close();

      const third = await world.open(one);
      await third.requests.submit(asked, { result: { choice: "blue" } });
      expect(await (await third.threads.get(thread.id)).wait()).toMatchObject({ final_content: "Done." });
      expect(other.refunded).toEqual([7]);
    });

    it("is held by nobody and is not due", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([asks]).agent);
      await waitingThread(holdfast);

      expect(await world.sql("select status, lease_by, due_at from threads")).toEqual([
        { status: "waiting", lease_by: null, due_at: null },
      ]);
    });

    it("for a person to agree is due in a month, unless it says otherwise", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([refunds]).agent);
      const { id } = await waitingThread(holdfast);

      const { created_at, expires_at } = await holdfast.requests.get(id);
      expect(Math.round(((expires_at ?? 0) - created_at) / 3_600_000_000)).toBe(30 * 24);
      const [row] = await world.sql("select status, lease_by, due_at from threads");
      expect(row).toMatchObject({ status: "waiting", lease_by: null });
      expect(Number(row?.due_at)).toBeGreaterThan(created_at + 29 * 24 * 3_600_000_000);
    });

    it("takes any number of messages meanwhile, and goes on with them afterwards", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("All read.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);
      for (let number = 1; number <= 10; number++) {
        await thread.queueMessage(`message ${number}`);
        // Until the worker has looked at it and laid the thread down again.
        const isDue = `select 1 as x from threads where due_at < ${(Date.now() + 3_600_000) * 1_000}`;
        while ((await world.sql(isDue)).length > 0) await sleep(5);
      }
      expect((await thread.status()).status).toBe("waiting");

      await holdfast.requests.submit(id, accepted);

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "All read." });
      expect(refunded).toEqual([7]);
      const read = (await thread.messages()).filter(({ message }) => String(message.content).startsWith("message "));
      expect(read).toHaveLength(10);
    });

    it("is asked under a name of its own for each call, though the model uses its ids again", async () => {
      const world = await newWorld();
      const asksAgain = callsTool("client/ask", {}, { id: "call_0" });
      const { agent: one } = desk([asksAgain, asksAgain, says("Done.")]);
      const holdfast = await world.open(one);
      const thread = await holdfast.threads.open("t", { agent: "desk" });
      const other = await holdfast.threads.open("other", { agent: "desk" });

      const first = requestOf(await thread.send("Please."));
      const elsewhere = requestOf(await other.send("Please."));
      await holdfast.requests.submit(first, { result: { choice: "blue" } });
      const second = requestOf(await thread.wait());
      await holdfast.requests.submit(second, { result: { choice: "red" } });

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Done." });
      expect(new Set([first, second, elsewhere]).size).toBe(3);
      expect(await holdfast.requests.get(elsewhere)).toMatchObject({ status: "pending", thread_id: other.id });
    });

    it("is asked under a name of its own for each call, though a tool asks for approval itself and names nothing", async () => {
      const world = await newWorld();
      const asksItself = tool({
        name: "shop/own",
        description: "Asks itself.",
        execute: () => ({ type: "approval_required", role: "assistant", content: "Shall I?", payload: {} }),
      });
      const own = callsTool("shop/own", {}, { id: "call_0" });
      const { agent: one } = desk([own, own, says("Done.")], { tools: [asksItself] });
      const holdfast = await world.open(one);
      const thread = await holdfast.threads.open("t", { agent: "desk" });
      const other = await holdfast.threads.open("other", { agent: "desk" });

      const first = requestOf(await thread.send("Please."));
      const elsewhere = requestOf(await other.send("Please."));
      await holdfast.requests.submit(first, rejected);
      const second = requestOf(await thread.wait());
      await holdfast.requests.submit(second, rejected);

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Done." });
      expect(new Set([first, second, elsewhere]).size).toBe(3);
    });

    it("does not run a tool that is gone when the approval comes", async () => {
      const world = await newWorld();
      const first = await world.open(desk([refunds]).agent);
      const { thread, id } = await waitingThread(first);
      await first.close();

      const later = await world.open(desk([refunds, says("It is gone.")], { tools: [] }).agent);
      await expect(later.requests.submit(id, accepted)).rejects.toMatchObject({ code: "approval_outdated" });
      await later.requests.submit(id, rejected);

      const same = await later.threads.get(thread.id);
      expect(await same.wait()).toMatchObject({ status: "completed", final_content: "It is gone." });
      expect(await lastResult(same)).toMatchObject({ success: false, metadata: { error_type: "approval_rejected" } });
    });

    it("does not run a tool that is forbidden when the approval comes", async () => {
      const world = await newWorld();
      const first = await world.open(desk([refunds]).agent);
      const { thread, id } = await waitingThread(first);
      await first.close();
      let runs = 0;
      const forbidden: Tool = tool({
        name: "shop/refund",
        description: "Refunds.",
        actionPolicy: "forbidden",
        execute: () => ++runs,
      });

      const later = await world.open(desk([refunds, says("It may not.")], { tools: [forbidden] }).agent);
      await expect(later.requests.submit(id, accepted)).rejects.toMatchObject({ code: "approval_outdated" });
      await later.requests.submit(id, rejected);

      const same = await later.threads.get(thread.id);
      expect(await same.wait()).toMatchObject({ status: "completed", final_content: "It may not." });
      expect(await lastResult(same)).toMatchObject({ success: false });
      expect(runs).toBe(0);
    });

    it("takes the result of a client tool that is gone meanwhile", async () => {
      const world = await newWorld();
      const first = await world.open(desk([asks]).agent);
      const { thread, id } = await waitingThread(first);
      await first.close();

      const later = await world.open(desk([asks, says("Thank you.")], { tools: [] }).agent);
      await later.requests.submit(id, { result: "anything" });

      const same = await later.threads.get(thread.id);
      expect(await same.wait()).toMatchObject({ status: "completed", final_content: "Thank you." });
    });
  });

  describe("a forged approval", () => {
    /** Waits for a refund of order 7, has somebody write to the database, and accepts. */
    async function forge(world: World, write: (thread: ThreadHandle, id: string, holdfast: Holdfast) => Promise<void>) {
      const { agent: one, refunded } = desk([refunds, says("Hm."), refunds, says("Hm.")]);
      const holdfast = await world.open(one);
      const { thread, id } = await waitingThread(holdfast);
      await write(thread, id, holdfast);
      await holdfast.requests.submit(id, accepted);
      await thread.wait();
      return { refunded, thread };
    }
    const mismatch = { success: false, metadata: { error_type: "approval_rejected" } };

    it("whose binding was changed runs nothing", async () => {
      const world = await newWorld();
      const { refunded, thread } = await forge(world, async () => {
        await world.sql("update requests set binding = 'hmac:00' returning 1");
      });
      expect(refunded).toEqual([]);
      expect(await lastResult(thread)).toMatchObject(mismatch);
    });

    it("that was taken from another call runs nothing", async () => {
      const world = await newWorld();
      const { refunded, thread } = await forge(world, async (_thread, id, holdfast) => {
        const other = await waitingThread(holdfast, "other");
        await world.sql(
          `update requests set binding = (select binding from requests where id = '${other.id}') where id = '${id}' returning 1`,
        );
      });
      expect(refunded).toEqual([]);
      expect(await lastResult(thread)).toMatchObject(mismatch);
    });

    it("of a call that somebody without the key has written runs nothing", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Hm.")]);
      const told = Promise.withResolvers<unknown>();
      const holdfast = await world.open(one, { onError: told.resolve });
      const { thread, id } = await waitingThread(holdfast);
      const [row] = await world.sql("select working from threads");
      const sealing = createSealing(Buffer.from(secretKey, "hex"));
      const kept = sealing.open(String(row?.working), thread.id);
      expect(kept).toContain('"order":7');
      await world.sql(`update threads set working = '${kept.replaceAll('"order":7', '"order":8')}' returning 1`);

      await holdfast.requests.submit(id, accepted);

      expect(await told.promise).toMatchObject({ code: "secret_key_mismatch" });
      await holdfast.close();
      expect(refunded).toEqual([]);
    });

    it("of a call whose arguments were exchanged runs nothing", async () => {
      const world = await newWorld();
      const { agent: one, refunded } = desk([refunds, says("Hm.")]);
      const told = Promise.withResolvers<unknown>();
      const holdfast = await world.open(one, { onError: told.resolve });
      const { thread, id } = await waitingThread(holdfast);
      const other = await waitingThread(holdfast, "other");
      await world.sql(
        `update threads set working = (select working from threads where id = '${other.thread.id}')
          where id = '${thread.id}' returning 1`,
      );

      await holdfast.requests.submit(id, accepted);

      // What was sealed for another thread does not open here: somebody is told, and nothing else happens.
      expect(await told.promise).toMatchObject({ code: "secret_key_mismatch" });
      await holdfast.close();
      expect(refunded).toEqual([]);
    });
  });
});

/** Until the request is settled or expired, one way or the other. */
async function untilSettled(holdfast: Holdfast, id: string): Promise<void> {
  while ((await holdfast.requests.get(id)).status === "pending") await sleep(5);
}
