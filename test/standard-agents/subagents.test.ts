// Subagents: how they are created, addressed and counted, and what their parent is told.
import { expect, it } from "vitest";
import { calls } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel } from "../held.ts";
import {
  actor,
  creates,
  finishes,
  givesUp,
  history,
  lead,
  onlyChild,
  reports,
  results,
  staying,
  worker,
  writesTo,
} from "./team.ts";

eachDatabase((newWorld) => {
  it("37 [SUB-13, COM-5] a blocking child's words and its reference are the result of the call", async () => {
    const world = await newWorld();
    const boss = actor(creates(), "Done.");
    const child = actor(finishes("All good."));
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Done.", run: 1 });

    const { reference, status } = await onlyChild(holdfast, thread);
    expect(status).toBe("idle");
    const [result] = await results(thread);
    expect(result).toMatchObject({ tool_status: "success", subagent_id: reference });
    expect(result?.content).toContain("All good.");
    expect(result?.content).toContain(reference);
    expect(boss.shown).toHaveLength(2);
    expect(boss.shown[1]?.lines.at(-1)).toContain("All good.");
  });

  it("38 [SUB-14, COM-7] a child that nobody waits for is there at once, and later a silent message starts a turn", async () => {
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
    (await boss.next()).answer("It is at work.");
    expect(await sent).toMatchObject({ status: "completed", final_content: "It is at work." });
    const { reference, status } = await onlyChild(holdfast, thread);
    expect(status).toBe("running");
    expect((await results(thread))[0]).toMatchObject({ tool_status: "success", subagent_id: reference });
    expect((await results(thread))[0]?.content).toContain(reference);

    working.answer(finishes("All good."));
    const told = await boss.next();
    expect(told.shown.at(-1)).toMatch(/^user: /);
    expect(told.shown.at(-1)).toContain("All good.");
    expect(told.shown.at(-1)).toContain(reference);
    told.answer("Thanks.");
    expect(await thread.wait()).toMatchObject({ run: 2, final_content: "Thanks." });

    const message = (await history(thread)).find(({ role, subagent_id }) => role === "user" && subagent_id !== null);
    expect(message).toMatchObject({ silent: true, subagent_id: reference, metadata: { subagent_id: reference } });
    const listed = (await (await thread.state()).getMessages()).messages.map(({ content }) => content);
    expect(listed).not.toContain(message?.content);
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("39, 40 [SUB-9, TERM-5] refuses one too many and names those that live, until one is terminated", async () => {
    const world = await newWorld();
    const child = actor(finishes("Done."));
    const boss = actor(creates(), creates({ name: "Second" }), "Stuck.", creates({ name: "Third" }), "Ready.");
    const entry = staying("worker", { resumable: { maxInstances: 1 } });
    const holdfast = await world.open([lead(boss.model, [entry]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    const only = await onlyChild(holdfast, thread);
    const refused = (await results(thread))[1];
    expect(refused).toMatchObject({ tool_status: "error" });
    expect(refused?.content).toContain("subagent_message");
    expect(refused?.content).toContain(only.reference);
    expect(await holdfast.threads.list()).toHaveLength(2);

    await only.thread.terminate();
    expect((await onlyChild(holdfast, thread)).status).toBe("terminated");
    await thread.send("Again.");
    expect((await results(thread))[2]).toMatchObject({ tool_status: "success" });
    expect((await thread.children()).map(({ threadName, status }) => [threadName, status])).toEqual([
      ["First", "terminated"],
      ["Third", "idle"],
    ]);
  });

  it("counts the children that the same answer has created before [SUB-9, TOOL-1]", async () => {
    const world = await newWorld();
    const entry = staying("worker", { blocking: false, resumable: { maxInstances: 2 } });
    const boss = actor(calls(creates(), creates({ name: "Second" }), creates({ name: "Third" })), "Done.");
    const holdfast = await world.open([lead(boss.model, [entry]), worker(actor(finishes("Done.")).model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    expect((await results(thread)).map(({ tool_status }) => tool_status)).toEqual(["success", "success", "error"]);
    expect(await thread.children()).toHaveLength(2);
  });

  it.each<[string, object, readonly string[]]>([
    ["41 [SUB-6] no name", { name: undefined }, ["name"]],
    ["41 [SUB-6] no attachments", { attachments: undefined }, ["attachments"]],
    [
      "a blank message, and attachments of the wrong type",
      { message: " ", attachments: "x" },
      ["message", "attachments"],
    ],
    ["arguments of the wrong type", { arguments: [1] }, ["arguments"]],
    ["[SUB-7] an agent that is not among its own", { agent: "lead" }, ["lead", "worker"]],
  ])("%s: an error says so and nothing is created", async (_, parts, named) => {
    const world = await newWorld();
    const given = JSON.parse(JSON.stringify({ ...creates().tool_calls[0]?.parameters, ...parts }));
    const boss = actor({ content: "", tool_calls: [{ name: "subagent_create", parameters: given }] }, "Too bad.");
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(actor(finishes("x")).model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    const [result] = await results(thread);
    expect(result).toMatchObject({ tool_status: "error" });
    for (const each of named) expect(result?.content).toContain(each);
    expect(await holdfast.threads.list()).toHaveLength(1);
  });

  it("[SUB-8] arguments that do not fit the prompt of side A are refused with what it needs", async () => {
    const world = await newWorld();
    const requiredSchema = { type: "object", required: ["topic"], properties: { topic: { type: "string" } } };
    const boss = actor(creates(), creates({ arguments: { topic: "cats" } }), "Done.");
    const child = actor(finishes("Done."));
    const holdfast = await world.open([
      lead(boss.model, [staying("worker")]),
      worker(child.model, { prompt: { requiredSchema } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    const [refused, created] = (await thread.messages()).flatMap(({ message }) =>
      message.type === "tool_result" ? [message.payload] : [],
    );
    expect(refused).toMatchObject({
      success: false,
      metadata: { error_code: "subagent_arguments_required", error_data: { agent: "worker", required: ["topic"] } },
    });
    expect(created).toMatchObject({ success: true });
    const { initialArguments, thread: of } = await onlyChild(holdfast, thread);
    expect(initialArguments).toEqual({ topic: "cats" });
    expect((await history(of))[0]).toMatchObject({ role: "system", silent: true });
    expect((await of.state()).arguments).toEqual({ topic: "cats" });
  });

  it("42 [SUB-16] what belongs to another parent is not active, nor what was never there or is terminated", async () => {
    const world = await newWorld();
    const child = actor(finishes("Done."));
    let references: readonly string[] = [];
    const boss = actor(({ lines }) => {
      if (lines.at(-1) === "user: Create.") return creates();
      if (lines.at(-1) === "user: Write.") return calls(...references.map((each) => writesTo(each)));
      return "Done.";
    });
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const [one, two] = [
      await holdfast.threads.open("one", { agent: "lead" }),
      await holdfast.threads.open("two", { agent: "lead" }),
    ];
    await one.send("Create.");
    await one.send("Create.");
    await two.send("Create.");
    const [ended] = await one.children();
    await (await holdfast.threads.get(ended?.reference ?? "")).terminate();
    const foreign = await onlyChild(holdfast, two);
    references = [foreign.reference, ended?.reference ?? "", one.id, crypto.randomUUID()];

    await one.send("Write.");
    const told = (await results(one)).slice(-4);
    expect(told.map(({ tool_status }) => tool_status)).toEqual(["error", "error", "error", "error"]);
    for (const { content } of told) expect(content).toContain("not active");
    expect(await foreign.thread.runs()).toHaveLength(1);
    expect((await foreign.thread.status()).status).toBe("idle");
  });

  it("[SUB-17, SUB-18, SUB-19] a child that is written to goes on with all it knows, and answers again", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = heldModel();
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    const first = await boss.next();
    expect(Object.keys(first.options.tools)).toEqual(["standard/subagent_create", "standard/subagents"]);
    first.answer(creates());
    (await child.next()).answer(finishes("One."));
    const second = await boss.next();
    expect(Object.keys(second.options.tools)).toContain("standard/subagent_message");
    const { reference } = await onlyChild(holdfast, thread);
    second.answer(writesTo(reference, { message: "And two?" }));
    const again = await child.next();
    expect(again.shown).toEqual([...["user: Do it.", "call finish", 'result finish: "ended"', "user: And two?"]]);
    expect((await onlyChild(holdfast, thread)).status).toBe("running");
    (await boss.next()).answer("Waiting.");
    await sent;
    again.answer(finishes("Two."));
    const told = await boss.next();
    expect(told.shown.at(-1)).toContain("Two.");
    told.answer("Thanks.");
    await thread.wait();
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("[D7] a child whose side B gets the messages has side B speak first", async () => {
    const world = await newWorld();
    const checker = actor("Looks fine.");
    const child = actor(finishes("Done."));
    const entry = staying("worker", { resumable: { receives_messages: "side_b" } });
    const holdfast = await world.open([
      lead(actor(creates({ message: "Check this." }), "Done.").model, [entry]),
      worker(child.model, { checker: checker.model }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    expect(checker.shown[0]?.lines).toEqual(["user: Check this."]);
    expect(child.shown[0]?.lines).toEqual(["assistant: Check this.", "user: Looks fine."]);
  });

  it("46 [COM-8] a child that ends without its tool has failed, and its parent is told the reason", async () => {
    const world = await newWorld();
    const child = actor("Still at it.");
    const holdfast = await world.open([
      lead(actor(creates(), "Oh.").model, [staying("worker")]),
      worker(child.model, { maxSessionTurns: 2 }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    const [result] = await results(thread);
    expect(result).toMatchObject({ tool_status: "error" });
    expect(result?.content).toContain("max_session_turns");
    const only = await onlyChild(holdfast, thread);
    expect(only.status).toBe("failed");
    expect(child.shown).toHaveLength(2);
    expect((await only.thread.status()).status).toBe("idle");
  });

  it("[STOP-1, SUB-13] a child that gives up makes the call an error in its own words", async () => {
    const world = await newWorld();
    const holdfast = await world.open([
      lead(actor(creates(), "Oh.").model, [staying("worker")]),
      worker(actor(givesUp("No paper left.")).model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    expect((await results(thread))[0]).toMatchObject({
      tool_status: "error",
      content: expect.stringContaining("No paper left."),
    });
    expect((await onlyChild(holdfast, thread)).status).toBe("failed");
  });

  it("47 [COM-10] what a child tells of itself is its status, while it goes on and nothing is queued", async () => {
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
    (await boss.next()).answer("Waiting.");
    await sent;
    (await child.next()).answer(reports("half done"));
    const going = await child.next();
    expect((await onlyChild(holdfast, thread)).status).toBe("half done");
    expect(await (await world.stores()).inbox.waiting(thread.id)).toEqual([]);
    expect(boss.count()).toBe(0);
    going.answer(finishes("Done."));
    (await boss.next()).answer("Thanks.");
    await thread.wait();
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("51 [COM-11, COM-12] an explicit child's end queues nothing, and each word to its parent exactly one message", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const tell = tool({
      name: "tell",
      description: "Tells the parent.",
      execute: async (_input, { state }) => {
        await state.notifyParent("Look here.");
        return "told";
      },
    });
    const child = heldModel();
    const entry = staying("worker", { blocking: false, resumable: { parentCommunication: "explicit" } });
    const holdfast = await world.open([lead(boss.model, [entry]), worker(child.model, { tools: [tell] })]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    (await boss.next()).answer("Waiting.");
    await sent;
    (await child.next()).answer({ content: "", tool_calls: [{ name: "tell", parameters: {} }] });
    const told = await boss.next();
    const { reference, thread: of } = await onlyChild(holdfast, thread);
    expect(told.shown.at(-1)).toBe("user: Look here.");
    told.answer("I see.");
    (await child.next()).answer(finishes("Done."));
    await of.wait();
    expect(await thread.wait()).toMatchObject({ run: 2 });
    expect(await (await world.stores()).inbox.waiting(thread.id)).toEqual([]);
    const heard = (await history(thread)).filter(({ role, subagent_id }) => role === "user" && subagent_id !== null);
    expect(heard).toMatchObject([{ content: "Look here.", silent: true, subagent_id: reference }]);
    expect((await onlyChild(holdfast, thread)).status).toBe("idle");
  });

  it("52 [D6, TERM-7, SUB-1] a child under its own name is terminated once it has delivered, and can still be read", async () => {
    const world = await newWorld();
    const child = actor(finishes("All good."));
    const requiredSchema = { type: "object", properties: { task: { type: "string" } } };
    const boss = actor({ content: "", tool_calls: [{ name: "worker", parameters: { task: "Sum up." } }] }, "Done.");
    const holdfast = await world.open([
      lead(boss.model, [{ name: "worker", initUserMessageProperty: "task" }]),
      worker(child.model, { prompt: { requiredSchema } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    expect(boss.shown[0]?.tools).toEqual(["worker"]);
    expect((await results(thread))[0]).toMatchObject({
      tool_status: "success",
      content: expect.stringContaining("All good."),
    });
    const only = await onlyChild(holdfast, thread);
    expect(only.status).toBe("terminated");
    expect(await only.thread.status()).toMatchObject({ status: "terminated" });
    const kept = await history(only.thread);
    expect(kept.map(({ content }) => content)).toContain("Sum up.");
    expect(kept.at(-1)).toMatchObject({
      role: "system",
      silent: true,
      metadata: {
        status_kind: "subagent_event",
        subagent_event: "parent_handoff",
        handoff_kind: "result",
        parent_thread_id: thread.id,
      },
    });
    await expect(only.thread.send("More.")).rejects.toMatchObject({ code: "thread_terminated" });
  });
});
