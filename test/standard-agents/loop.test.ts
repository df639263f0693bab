// A step of an agent with sides: what is stored, in which order, and what becomes of the calls of an answer.
import { expect, it } from "vitest";
import { calls, callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel, heldTool } from "../held.ts";
import { listed, stored } from "./listed.ts";
import { openHelper } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });

eachDatabase((newWorld) => {
  it("1 [RUN-3, RUN-4] stores user, call, result and answer in order, and the result before the model is asked again", async () => {
    const { model, next } = heldModel();
    const thread = await openHelper(await newWorld(), { model, tools: [peek] });

    const sent = thread.send("Look");
    (await next()).answer(callsTool("peek"));
    const second = await next();
    expect(await listed(thread)).toEqual(["user: Look", "assistant:  [peek]", "success peek: seen", "assistant: "]);
    second.answer("Done.");
    await sent;

    expect(await listed(thread)).toEqual([
      "user: Look",
      "assistant:  [peek]",
      "success peek: seen",
      "assistant: Done.",
    ]);
  });

  it("2 [RUN-5] lists an answer in the making as pending, and under the same id once it is given", async () => {
    const { model, next } = heldModel();
    const thread = await openHelper(await newWorld(), { model });

    const sent = thread.send("Hello");
    const asked = await next();
    const [, pending] = await stored(thread);
    asked.answer("Hi.");
    await sent;
    const [, completed] = await stored(thread);

    expect(pending).toMatchObject({ role: "assistant", status: "pending" });
    expect(completed).toMatchObject({ id: pending?.id, content: "Hi.", status: "completed" });
  });

  it("2 [RUN-5] lists an answer that calls a tool under the id that it was pending under", async () => {
    const { model, next } = heldModel();
    const thread = await openHelper(await newWorld(), { model, tools: [peek] });

    const sent = thread.send("Look");
    const asked = await next();
    const [, pending] = await stored(thread);
    asked.answer(calls(says("Let me see."), callsTool("peek")));
    const second = await next();
    const [, , , again] = await stored(thread);
    second.answer("Seen.");
    await sent;

    expect((await stored(thread)).map(({ id }) => id)).toEqual([
      expect.any(String),
      pending?.id,
      expect.any(String),
      again?.id,
    ]);
  });

  it("3 [TOOL-1] runs the calls of an answer one after another, in their order, whatever the prompt lets the model do", async () => {
    const { tool: slow, next } = heldTool({ name: "slow" });
    const times: string[] = [];
    const quick = (name: string) =>
      tool({
        name,
        description: "Is quick.",
        execute: () => {
          times.push(name);
          return `${name} done`;
        },
      });
    const { model, asked } = talker(calls(callsTool("slow"), callsTool("second"), callsTool("third")), "Done.");
    const thread = await openHelper(await newWorld(), {
      model,
      parallelToolCalls: true,
      tools: [slow, quick("second"), quick("third")],
    });

    const sent = thread.send("Go");
    const call = await next();
    await thread.status();
    expect(times).toEqual([]);
    call.answer("slow done");
    await sent;

    expect(asked[0]?.options.parallelToolCalls).toBe(true);
    expect(times).toEqual(["second", "third"]);
    expect((await listed(thread)).slice(2, 5)).toEqual([
      ...["success slow: slow done", "success second: second done", "success third: third done"],
    ]);
  });

  it("4 [TOOL-2] goes on after a call that fails: the next one runs, and the model hears of both", async () => {
    const broken = tool({
      name: "broken",
      description: "Fails.",
      execute: () => {
        throw new Error("Out of order");
      },
    });
    const { model, asked } = talker(calls(callsTool("broken"), callsTool("peek")), "Done.");
    const thread = await openHelper(await newWorld(), { model, tools: [broken, peek] });

    await thread.send("Go");

    const [, , first, second] = await stored(thread);
    expect(first).toMatchObject({
      role: "tool",
      tool_status: "error",
      content: expect.stringContaining("Out of order"),
    });
    expect(second).toMatchObject({ role: "tool", tool_status: "success", content: "seen" });
    const results = asked[1]?.messages.filter(({ type }) => type === "tool_result");
    expect(results?.map(({ payload }) => payload.success)).toEqual([false, true]);
  });

  it("5 [TOOL-4] does not run a tool with arguments that break its schema, and names every place", async () => {
    const ran: unknown[] = [];
    const order = tool({
      name: "order",
      description: "Orders.",
      inputSchema: {
        type: "object",
        properties: { item: { type: "string" }, count: { type: "integer" } },
        required: ["item", "count"],
      },
      execute: (input) => ran.push(input),
    });
    const { model } = talker(callsTool("order", { item: 5, count: "many" }), "Sorry.");
    const thread = await openHelper(await newWorld(), { model, tools: [order] });

    await thread.send("Go");

    const [, , result] = await stored(thread);
    expect(ran).toEqual([]);
    expect(result).toMatchObject({ tool_status: "error" });
    expect(result?.content).toMatch(/item/);
    expect(result?.content).toMatch(/count/);
  });

  it("6 [TOOL-3] answers a call to a tool that there is not with an error, and goes on", async () => {
    const { model } = talker(callsTool("nothing"), "I see.");
    const thread = await openHelper(await newWorld(), { model, tools: [peek] });

    expect(await thread.send("Go")).toMatchObject({ completed: true, final_content: "I see." });
    expect(await stored(thread)).toMatchObject([
      ...[
        { role: "user" },
        { tool_calls: [{ function: { name: "nothing" } }] },
        { role: "tool", tool_status: "error" },
      ],
      { content: "I see." },
    ]);
  });

  it("6 [TOOL-3] offers nothing that only another prompt lists", async () => {
    const { model } = talker(callsTool("hidden"), "I see.");
    const hidden = tool({ name: "hidden", description: "Is there.", execute: () => "ran" });
    const thread = await openHelper(await newWorld(), { model }, { options: { tools: [hidden] } });

    await thread.send("Go");

    expect((await stored(thread))[2]).toMatchObject({ tool_status: "error" });
  });

  it("7 [TOOL-9] runs a tool that another one queues behind the calls of the same answer, in the same step", async () => {
    const first = tool({
      name: "first",
      description: "Queues.",
      execute: async (_input, { state }) => {
        await state.queueTool("third", { of: "first" });
        return "queued";
      },
    });
    const second = tool({ name: "second", description: "Is next.", execute: () => "second" });
    const third = tool({ name: "third", description: "Is queued.", execute: ({ of }) => `queued by ${of}` });
    const { model, asked } = talker(calls(callsTool("first"), callsTool("second")), "Done.");
    const thread = await openHelper(await newWorld(), { model, tools: [first, second, third] });

    await thread.send("Go");

    const results = (await listed(thread)).filter((line) => line.startsWith("success"));
    expect(results).toEqual(["success first: queued", "success second: second", "success third: queued by first"]);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.lines.at(-1)).toBe('result third: "queued by first"');
  });

  it("8 [TOOL-10] invokes a tool at once, and stores nothing of it", async () => {
    let invoked = 0;
    const inner = tool({ name: "inner", description: "Counts.", execute: () => ({ times: ++invoked }) });
    const outer = tool({
      name: "outer",
      description: "Invokes.",
      execute: async (_input, { state }) => JSON.stringify(await state.invokeTool("inner")),
    });
    const { model } = talker(callsTool("outer"), "Done.");
    const thread = await openHelper(await newWorld(), { model, tools: [outer, inner] });

    await thread.send("Go");

    expect(invoked).toBe(1);
    expect(await listed(thread, { includeSilent: true, maxDepth: 9 })).toEqual([
      ...["user: Go", "assistant:  [outer]"],
      'success outer: {"status":"success","result":{"times":1}}',
      "assistant: Done.",
    ]);
  });

  it("9 [RUN-9] answers an empty answer with an error, and sends the model no blank message of its own", async () => {
    const { model, asked } = talker({ content: " ", tool_calls: [] }, "Here I am.");
    const thread = await openHelper(await newWorld(), { model });

    expect(await thread.send("Hello")).toMatchObject({ completed: true, final_content: "Here I am." });
    expect(asked[1]?.lines).toEqual([
      ...["user: Hello", "call invalid_assistant_response"],
      expect.stringMatching(/^result invalid_assistant_response: (?!")/),
    ]);
  });

  it("9 [RUN-9] goes on in a conversation whose model said nothing twice", async () => {
    const { model, asked } = talker({ content: "", tool_calls: [] }, { content: "", tool_calls: [] }, "At last.");
    const thread = await openHelper(await newWorld(), { model });

    expect(await thread.send("Hello")).toMatchObject({ final_content: "At last." });
    const ids = asked[2]?.messages.flatMap(({ type, metadata }) =>
      type === "tool_call" ? [metadata.tool_call_id] : [],
    );
    expect(new Set(ids).size).toBe(2);
  });

  it("10 [STOP-15] ends a run in which a tool fails the same way eight times, and says so", async () => {
    let times = 0;
    const broken = tool({
      name: "broken",
      description: "Fails.",
      execute: () => {
        throw new Error(`Cannot read '/tmp/${times++}.txt'`);
      },
    });
    const { model, asked } = talker(callsTool("broken"));
    const thread = await openHelper(await newWorld(), { model, tools: [broken] });

    expect(await thread.send("Go")).toMatchObject({ stop_code: "repeated_tool_error", completed: false });
    expect(times).toBe(8);
    expect(asked).toHaveLength(8);
    expect((await stored(thread)).at(-1)).toMatchObject({
      role: "assistant",
      content: expect.stringContaining("same tool error"),
    });
  });

  it("10 [STOP-15] does not count errors that something else came between", async () => {
    let times = 0;
    const moody = tool({
      name: "moody",
      description: "Fails mostly.",
      execute: () => {
        if (++times % 5 === 0) return "fine";
        throw new Error("No");
      },
    });
    const { model } = talker(({ lines }: { lines: readonly string[] }) =>
      lines.length < 40 ? callsTool("moody") : "Enough.",
    );
    const thread = await openHelper(await newWorld(), { model, tools: [moody] });

    expect(await thread.send("Go")).toMatchObject({ final_content: "Enough." });
    // The next run begins counting anew.
    expect(await thread.send("More")).toMatchObject({ final_content: "Enough." });
  });

  it("[TOOL-5] answers arguments that are no JSON with an error, and does not run the tool", async () => {
    const ran: unknown[] = [];
    const order = tool({ name: "order", description: "Orders.", execute: (input) => ran.push(input) });
    const { model } = talker({ content: "", tool_calls: [{ name: "order", arguments: '{"item": ' }] }, "Sorry.");
    const thread = await openHelper(await newWorld(), { model, tools: [order] });

    expect(await thread.send("Go")).toMatchObject({ final_content: "Sorry." });
    expect(ran).toEqual([]);
    expect((await stored(thread))[2]).toMatchObject({ role: "tool", tool_status: "error" });
  });
});
