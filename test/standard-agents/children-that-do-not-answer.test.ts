// Children that will not answer, or answer something else: whoever waits for one is told what became of it, and never waits
// for ever.
import { expect, it } from "vitest";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { effect } from "../../src/threads/definitions/effect.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { heldModel } from "../held.ts";
import { helperOf } from "./open-agents.ts";
import { actor, creates, finishes, lead, onlyChild, results, staying, worker, writesTo } from "./team.ts";

/** The one child that the parent always goes on with, and waits for. */
const theOnlyOne = { subagents: [{ agent: "worker", blocking: true, maxInstances: 1 }] };

const statuses = async (...given: Parameters<typeof results>) =>
  (await results(...given)).map(({ tool_status }) => tool_status);

/** Says thanks to whatever it is asked from now on. */
async function answerAll({ next }: ReturnType<typeof heldModel>): Promise<never> {
  for (;;) (await next()).answer("Thanks.");
}

eachDatabase((newWorld) => {
  it("[SUB-13, TERM-2] one that is stopped before it has begun has failed for its parent", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const busy = heldModel();
    const agents = [lead(boss.model, [staying("worker")]), worker(actor("Never asked.").model)];
    // There is room for one thread at a time, and another one comes before the child.
    const holdfast = await world.open([...agents, helperOf({ model: busy.model })], { concurrency: 1 });
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const other = await holdfast.threads.open("other", { agent: "helper" });

    const sent = thread.send("Go.");
    const first = await boss.next();
    const elsewhere = other.send("Hello");
    await world.untilLeft(other.id, 1);
    first.answer(creates());
    const keeping = await busy.next();
    const only = await onlyChild(holdfast, thread);
    const stopping = only.thread.stop();
    await world.untilLeft(only.reference, 2);
    keeping.answer("Hi.");
    (await boss.next()).answer("Too bad.");

    expect(await sent).toMatchObject({ status: "completed", final_content: "Too bad." });
    expect(await stopping).toMatchObject({ status: "stopped" });
    expect(await results(thread)).toMatchObject([
      { tool_status: "error", content: expect.stringContaining("stopped") },
    ]);
    expect((await onlyChild(holdfast, thread)).status).toBe("failed");
    await elsewhere;
  });

  it("[D8, SUB-18] one that was stopped goes on when its parent comes back to it, and answers", async () => {
    const world = await newWorld();
    const child = heldModel();
    const boss = actor(creates(), creates({ message: "And now this." }), "Done.");
    const holdfast = await world.open([lead(boss.model, [], theOnlyOne), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    await child.next();
    await (await onlyChild(holdfast, thread)).thread.stop();
    const again = await child.next();
    expect(again.shown.at(-1)).toBe("user: And now this.");
    again.answer(finishes("Here it is."));

    expect(await sent).toMatchObject({ status: "completed", final_content: "Done." });
    expect(await statuses(thread)).toEqual(["error", "success"]);
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("[SUB-18] one that was stopped goes on with a message of a parent that does not wait for it", async () => {
    const world = await newWorld();
    const child = heldModel();
    const boss = heldModel();
    const agents = [lead(boss.model, [staying("worker", { blocking: false })]), worker(child.model)];
    const holdfast = await world.open(agents);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    void thread.send("Go.");
    (await boss.next()).answer(creates());
    await child.next();
    const only = await onlyChild(holdfast, thread);
    const deciding = await boss.next();
    await only.thread.stop();
    expect((await only.thread.status()).status).toBe("stopped");
    deciding.answer(writesTo(only.reference));
    const again = await child.next();
    expect(again.shown.at(-1)).toBe("user: Once more.");
    again.answer(finishes("Here it is."));
    (await boss.next()).answer("Done.");
    expect(await only.thread.wait()).toMatchObject({ status: "completed" });
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
    // How often it is asked again depends on whether the child's word came before its run had ended.
    void answerAll(boss);
    await eventually(async () => expect((await thread.status()).status).toBe("idle"));
  });

  it("[D8, TERM-5] one that is terminated just as its parent goes on with it is an error to the parent", async () => {
    const world = await newWorld();
    const boss = actor(creates(), creates({ message: "And now this." }), "Too bad.");
    const agents = [lead(boss.model, [], theOnlyOne), worker(actor(finishes("One.")).model)];
    let hasEnded = false;
    const holdfast = await world.open(agents, {
      async onPoint(point) {
        // The call has found the child alive; that it waits is not committed yet.
        if (point !== "after effect run_tool" || boss.shown.length !== 2 || hasEnded) return;
        hasEnded = true;
        await (await onlyChild(holdfast, thread)).thread.terminate();
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Too bad." });

    expect(hasEnded).toBe(true);
    expect(await statuses(thread)).toEqual(["success", "error"]);
    expect((await results(thread))[1]?.content).toContain("terminated");
    expect(await thread.children()).toMatchObject([{ status: "terminated" }]);
    expect(await holdfast.requests.list({ thread: thread.id, status: "pending" })).toEqual([]);
  });

  it("[SUB-13] one that gets stuck has failed for its parent", async () => {
    const world = await newWorld();
    const boss = actor(creates(), "Too bad.");
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(actor("Never asked.").model)], {
      async onPoint(point) {
        if (point !== "before effect call_model") return;
        // The parent asks its model only before there is a child, and once that counts as failed.
        const [child] = await thread.children();
        if (child?.status === "running") throw new Error("This always goes wrong.");
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Too bad." });

    expect(await results(thread)).toMatchObject([{ tool_status: "error", content: expect.stringContaining("stuck") }]);
    const only = await onlyChild(holdfast, thread);
    expect([only.status, (await only.thread.status()).status]).toEqual(["failed", "stuck"]);
    expect(world.takeErrors().length).toBeGreaterThan(0);
  });

  it("[SUB-13, SUB-14] one that is at work for somebody else answers its parent with what that has asked for", async () => {
    const world = await newWorld();
    const child = heldModel();
    const boss = actor(creates(), "One.", creates({ message: "The parent's question." }), "Two.");
    const holdfast = await world.open([lead(boss.model, [], theOnlyOne), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const first = thread.send("Go.");
    (await child.next()).answer(finishes("The first answer."));
    await first;
    const only = await onlyChild(holdfast, thread);

    const byUser = only.thread.send("The user's question.");
    const forUser = await child.next();
    const second = thread.send("Ask it.");
    // One message of the parent, one of the user, and the second one of the parent.
    await world.untilLeft(only.reference, 3);
    forUser.answer(finishes("For the user."));
    await byUser;
    const forParent = await child.next();
    expect(forParent.shown.at(-1)).toBe("user: The parent's question.");
    expect((await thread.status()).status).toBe("waiting");
    forParent.answer(finishes("For the parent."));
    await second;

    const told = (await results(thread)).map(({ content }) => content);
    expect(told).toEqual([expect.stringContaining("The first answer."), expect.stringContaining("For the parent.")]);
  });

  it("[TERM-8, EFF-2] a tool keeps its result when the child for which it scheduled something is terminated", async () => {
    const world = await newWorld();
    let ran = 0;
    const plan = tool({
      name: "plan",
      description: "Schedules something for the child.",
      async execute(_input, { state }) {
        ran++;
        const [child] = await state.children();
        await (await state.getChildThread(child?.reference ?? ""))?.scheduleEffect("ring", {}, 3_600_000);
        return "A charge was made.";
      },
    });
    const ring = effect({ name: "ring", description: "Rings.", handler: () => undefined });
    const boss = actor(creates(), callsTool("plan"), "Done.");
    const agents = [lead(boss.model, [staying("worker"), plan]), worker(actor(finishes("One.")).model)];
    const holdfast = await world.open(agents, {
      effects: [ring],
      async onPoint(point) {
        if (point === "after effect run_tool" && ran === 1 && boss.shown.length === 2)
          await (await onlyChild(holdfast, thread)).thread.terminate();
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Done." });

    expect(ran).toBe(1);
    expect((await results(thread)).at(-1)).toMatchObject({ tool_status: "success", content: "A charge was made." });
    const only = await onlyChild(holdfast, thread);
    expect([only.status, await only.thread.effects.list()]).toEqual(["terminated", []]);
  });
});
