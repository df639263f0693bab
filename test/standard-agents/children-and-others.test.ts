// Children beside everything else: handoffs, deletion, requests, other processes, and messages while they are at work.
import { expect, it } from "vitest";
import type { Model } from "../../src/models/model.ts";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { prompt } from "../../src/threads/definitions/define-prompt.ts";
import type { ToolEntryInput } from "../../src/threads/definitions/tool-entry.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, onPostgres } from "../databases.ts";
import { heldModel } from "../held.ts";
import { actor, creates, finishes, lead, onlyChild, reports, results, staying, worker, writesTo } from "./team.ts";

/** Takes over from whoever lists it. */
function successor(model: Model, tools: readonly ToolEntryInput[]) {
  const succeeds = prompt({ name: "succeeds", prompt: "You go on.", model, includeChat: true, tools });
  return agent({ name: "successor", sideA: { prompt: succeeds }, exposeAsTool: true, toolDescription: "Takes over." });
}

eachDatabase((newWorld) => {
  it("[SUB-22, AT-3] a handoff brings the children that the new agent has without asking", async () => {
    const world = await newWorld();
    const second = actor("Here I am.");
    const holdfast = await world.open([
      lead(actor(callsTool("successor")).model, ["successor"]),
      successor(second.model, [staying("worker", { immediate: true })]),
      worker(actor("Never asked.").model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    expect(await thread.children()).toEqual([]);
    expect(await thread.send("Go.")).toMatchObject({ final_content: "Here I am." });
    expect(await thread.children()).toMatchObject([{ name: "worker", status: "idle" }]);
    expect(second.shown[0]?.tools).toContain("subagent_message");
  });

  it("[AT-1] an agent without children that takes over from one with children has its own tools", async () => {
    const world = await newWorld();
    const look = tool({ name: "look", description: "Looks.", execute: () => "seen" });
    const second = actor(callsTool("look"), "Here I am.");
    const holdfast = await world.open([
      lead(actor(callsTool("successor")).model, ["successor", staying("worker")]),
      successor(second.model, [look]),
      worker(actor("Never asked.").model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    expect(await thread.send("Go.")).toMatchObject({ final_content: "Here I am." });
    expect(second.shown[0]?.tools).toEqual(["look"]);
    expect((await results(thread)).at(-1)).toMatchObject({ name: "look", tool_status: "success" });
  });

  it("[Q-3, SUB-18] a message to a child at work is taken in before its next step, in the same session", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = heldModel();
    const holdfast = await world.open([
      lead(boss.model, [staying("worker", { blocking: false })]),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    const working = await child.next();
    const { reference } = await onlyChild(holdfast, thread);
    (await boss.next()).answer(writesTo(reference, { message: "And that." }));
    const waiting = await boss.next();
    working.answer(reports("half done"));
    const again = await child.next();
    expect(again.shown.at(-1)).toBe("user: And that.");
    again.answer(finishes("Both."));
    waiting.answer("Waiting.");
    await sent;
    (await boss.next()).answer("Thanks.");
    await thread.wait();
    expect(await (await onlyChild(holdfast, thread)).thread.runs()).toHaveLength(1);
  });

  it("[TERM-9] deleting a child that is waited for is an error to its parent, which goes on", async () => {
    const world = await newWorld();
    const child = heldModel();
    const holdfast = await world.open([
      lead(actor(creates(), "Too bad.").model, [staying("worker")]),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const sent = thread.send("Go.");
    await child.next();
    await holdfast.threads.delete((await onlyChild(holdfast, thread)).reference);
    expect(await sent).toMatchObject({ status: "completed", final_content: "Too bad." });
    expect((await results(thread))[0]).toMatchObject({ tool_status: "error" });
    expect(await thread.children()).toEqual([]);
  });

  it("what a parent waits for is for its child to answer, and for nobody else", async () => {
    const world = await newWorld();
    const child = heldModel();
    const holdfast = await world.open([
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const sent = thread.send("Go.");
    const working = await child.next();
    const [request] = await holdfast.requests.list({ thread: thread.id });
    expect(request).toMatchObject({ kind: "child", status: "pending" });
    for (const answer of [{ result: "Mine." }, { error: "Mine." }, { decision: "accepted" }] as const) {
      await expect(holdfast.requests.submit(request?.id ?? "", answer)).rejects.toMatchObject({
        ...{ code: "invalid_answer" },
      });
    }
    await expect(holdfast.requests.open(request?.id ?? "")).rejects.toMatchObject({ code: "invalid_answer" });
    working.answer(finishes("All good."));
    await sent;
    expect((await results(thread))[0]?.content).toContain("All good.");
  });
});

onPostgres((newWorld) => {
  it("[CONC-1, CONC-2] parents and children in several processes that have time for one thread each come to an end", async () => {
    const world = await newWorld();
    const team = () => [
      lead(actor(({ lines }) => (lines.length === 1 ? creates() : "Done.")).model, [staying("worker")]),
      worker(actor(({ lines }) => (lines.length === 1 ? reports("at it") : finishes("Done."))).model),
    ];
    const one = await world.open(team(), { concurrency: 1 });
    await world.open(team(), { concurrency: 1 });
    const threads = await Promise.all(
      Array.from({ length: 8 }, (_, index) => one.threads.open(`t${index}`, { agent: "lead" })),
    );
    const outcomes = await Promise.all(threads.map((thread) => thread.send("Go.")));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "completed", final_content: "Done." });
    for (const thread of threads) expect(await thread.children()).toMatchObject([{ status: "idle" }]);
  });
});
