// What a model is shown: the system prompt as it reads, as much of the history as its prompt wants, and files.
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/contracts/conversation/message.ts";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { prompt } from "../../src/threads/definitions/define-prompt.ts";
import { hook } from "../../src/threads/definitions/hook.ts";
import { model as defineModel } from "../../src/threads/definitions/model.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel } from "../held.ts";
import { listed, stored } from "./listed.ts";
import { openHelper, openPair } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });

/** The smallest picture there is. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const picture = (name: string) => ({ name, mimeType: "image/png", data: pixel });

/** The kinds of parts that a message is made of. */
function partsOf({ content }: Message): readonly unknown[] {
  return Array.isArray(content) ? content.map((part) => (part as { type?: unknown }).type) : ["text"];
}

eachDatabase((newWorld) => {
  describe("of the history", () => {
    it("20 [CTX-19, CTX-20, CTX-21] shows side B its own words as its own, and nothing of what side A called", async () => {
      const a = talker(callsTool("peek"), "a1", "a2");
      const b = talker("b1", "b2");
      const thread = await openPair(
        ...([await newWorld(), { model: a.model, tools: [peek] }, { model: b.model }] as const),
        { maxSessionTurns: 2 },
      );

      await thread.send("Begin");

      expect(b.asked[1]?.lines).toEqual(["assistant: Begin", "user: a1", "assistant: b1", "user: a2"]);
      expect(a.asked[2]?.lines).toEqual([
        ...["user: Begin", "call peek", 'result peek: "seen"', "assistant: a1", "user: b1"],
      ]);
    });

    it("22 [CTX-9] shows nothing from before the run to a prompt that wants no conversation", async () => {
      const { model, asked } = talker("One.", callsTool("peek"), "Two.");
      const thread = await openHelper(await newWorld(), { model, tools: [peek], includeChat: false });

      await thread.send("First");
      await thread.send("Second");

      expect(asked[1]?.lines).toEqual(["user: Second"]);
      expect(asked[2]?.lines).toEqual(["user: Second", "call peek", 'result peek: "seen"']);
    });

    it("23 [CTX-13] shows no calls from before the run to a prompt that wants none, and keeps them stored", async () => {
      const { model, asked } = talker(callsTool("peek"), "One.", callsTool("peek"), "Two.");
      const thread = await openHelper(await newWorld(), { model, tools: [peek], includePastTools: false });

      await thread.send("First");
      await thread.send("Second");

      expect(asked[2]?.lines).toEqual(["user: First", "assistant: One.", "user: Second"]);
      expect(asked[3]?.lines.slice(3)).toEqual(["call peek", 'result peek: "seen"']);
      expect((await listed(thread)).slice(0, 4)).toEqual([
        ...["user: First", "assistant:  [peek]", "success peek: seen", "assistant: One."],
      ]);
    });

    it("24 [CTX-12] shows a silent message to the model, and lists it only for those who ask", async () => {
      const { model, asked } = talker("Hello.");
      const thread = await openHelper(await newWorld(), { model });
      await (await thread.state()).injectMessage({ content: "It rains", silent: true });

      await thread.send("Hi");

      expect(asked[0]?.lines).toEqual(["user: It rains", "user: Hi"]);
      expect(await listed(thread)).toEqual(["user: Hi", "assistant: Hello."]);
      expect(await listed(thread, { includeSilent: true })).toEqual([
        "user: It rains",
        "user: Hi",
        "assistant: Hello.",
      ]);
    });

    it("25 [CTX-14, HOOK-7] sends no result of a call that a hook leaves out, and stores both as before", async () => {
      const drop = hook({
        ...{ id: "drop_calls", hook: "filter_messages" },
        execute: (_state, messages) => messages.filter(({ tool_calls }) => tool_calls === null),
      });
      const { model, asked } = talker(callsTool("peek"), "Done.");
      const thread = await openHelper(
        ...([
          await newWorld(),
          { model, tools: [peek], hooks: ["drop_calls"] },
          { options: { hooks: [drop] } },
        ] as const),
      );

      await thread.send("Look");

      expect(asked[1]?.lines).toEqual(["user: Look"]);
      expect(await listed(thread)).toEqual([
        ...["user: Look", "assistant:  [peek]", "success peek: seen", "assistant: Done."],
      ]);
    });

    it("25 [CTX-14] sends a call whose result a hook leaves out with one that says so", async () => {
      const drop = hook({
        ...{ id: "drop_results", hook: "filter_messages" },
        execute: (_state, messages) => messages.filter(({ role }) => role !== "tool"),
      });
      const { model, asked } = talker(callsTool("peek"), "Done.");
      const thread = await openHelper(
        ...([
          await newWorld(),
          { model, tools: [peek], hooks: ["drop_results"] },
          { options: { hooks: [drop] } },
        ] as const),
      );

      await thread.send("Look");

      expect(asked[1]?.messages.map(({ type, payload }) => [type, payload.success])).toEqual([
        ["text", undefined],
        ["tool_call", undefined],
        ["tool_result", false],
      ]);
    });

    it("[CTX-11] does not show an answer in the making to anybody", async () => {
      const { model, next } = heldModel();
      const thread = await openHelper(await newWorld(), { model });

      const sent = thread.send("Hello");
      const first = await next();
      first.say("Half of");
      await thread.queueMessage("Wait");
      first.answer("Whole.");
      const second = await next();
      second.answer("Yes.");
      await sent;

      expect(second.shown).toEqual(["user: Hello", "assistant: Whole.", "user: Wait"]);
    });

    it("[CTX-16] leaves an answer without anything out of the request", async () => {
      const { model, asked } = talker("Fine.");
      const thread = await openHelper(await newWorld(), { model });
      const state = await thread.state();
      await state.injectMessage({ content: "One" });
      await state.injectMessage({ role: "assistant", content: "  " });

      await thread.send("Two");

      expect(asked[0]?.lines).toEqual(["user: One", "user: Two"]);
    });
  });

  describe("of the system prompt", () => {
    it("21 [CTX-2, CTX-3, CTX-5] joins texts, other prompts and values, and leaves out what has no value", async () => {
      const { model, asked } = talker("Yes.");
      const manners = prompt({
        ...{ name: "manners", model },
        prompt: [
          { type: "text", content: "Be " },
          { type: "env", property: "TONE" },
          { type: "text", content: ". " },
        ],
      });
      const thread = await openHelper(
        await newWorld(),
        {
          model,
          env: { TONE: "kind" },
          prompt: [
            { type: "text", content: "You help. " },
            { type: "include", prompt: "manners" },
            { type: "env", property: "NOBODY_KNOWS" },
            { type: "text", content: "End" },
          ],
        },
        { options: { prompts: [manners] } },
      );

      await thread.send("Hi");

      expect(asked[0]?.options.instructions).toBe("You help. Be kind. End");
    });

    it("[CTX-1] uses a plain text as it is", async () => {
      const { model, asked } = talker("Yes.");
      const thread = await openHelper(await newWorld(), { model, prompt: "Say {{name}} and %s.\n" });

      await thread.send("Hi");

      expect(asked[0]?.options.instructions).toBe("Say {{name}} and %s.\n");
    });

    it("[CTX-4] cuts off prompts that include each other", async () => {
      const { model, asked } = talker("Yes.");
      const other = prompt({
        ...{ name: "other", model },
        prompt: [
          { type: "text", content: "two " },
          { type: "include", prompt: "speaker" },
        ],
      });
      const thread = await openHelper(
        await newWorld(),
        {
          model,
          prompt: [
            { type: "text", content: "one " },
            { type: "include", prompt: "other" },
          ],
        },
        { options: { prompts: [other] } },
      );

      await thread.send("Hi");

      expect(asked[0]?.options.instructions).toBe("one two ");
    });

    it("[CTX-6, CTX-7] fills in what a subagent was created with, for both of its sides and in every session", async () => {
      const variable = (name: string) => ({ type: "variable" as const, name });
      const a = talker("a1", callsTool("finish"), "a2", callsTool("finish"));
      const b = talker("b1");
      const finish = tool({ name: "finish", description: "Ends.", execute: () => "finished" });
      const writer = prompt({
        ...{ name: "writer", model: a.model, includeChat: true, tools: [finish] },
        requiredSchema: {
          type: "object",
          properties: { topic: { type: "string" }, limits: { type: "object" } },
          required: ["topic"],
        },
        prompt: ["Write about ", variable("topic"), " within ", variable("limits"), " for ", variable("reader")],
      });
      const critic = prompt({ name: "critic", model: b.model, prompt: ["Judge ", variable("topic")] });
      const pair = agent({
        ...{ name: "pair", type: "dual_ai", exposeAsTool: true, toolDescription: "Writes." },
        ...{ sideA: { prompt: writer, sessionStop: "finish" }, sideB: { prompt: critic } },
      });
      const create = { agent: "pair", message: "Go", attachments: [], name: "poet" };
      let reference = "";
      const lead = talker(
        callsTool("subagent_create", { ...create, arguments: { topic: "rain", limits: { words: 9 } } }),
        "Written.",
        () => callsTool("subagent_message", { referenceId: reference, message: "Once more", attachments: [] }),
        "Thanks.",
      );
      const world = await newWorld();
      const boss = prompt({
        ...{ name: "boss", prompt: "You lead.", model: lead.model, includeChat: true, includePastTools: true },
        tools: [{ name: "pair", blocking: true, resumable: { receives_messages: "side_a" } }],
      });
      const { threads } = await world.open([agent({ name: "lead", sideA: { prompt: boss } }), pair]);
      const thread = await threads.open("c", { agent: "lead" });

      await thread.send("Begin");
      reference = (await thread.children())[0]?.reference ?? "";
      await thread.send("Again");
      await (await threads.get(reference)).wait();

      const words = 'Write about rain within {"words":9} for {{reader}}';
      expect(a.asked.map(({ options }) => options.instructions)).toEqual([words, words, words, words]);
      expect(b.asked.map(({ options }) => options.instructions)).toEqual(["Judge rain", "Judge rain"]);
    });
  });

  describe("of files", () => {
    it("26 [CTX-24, CTX-25] shows the pictures of recent messages, and names older ones", async () => {
      const { model, asked } = talker("Fine.", "Nice.");
      const thread = await openHelper(await newWorld(), { model, recentImageThreshold: 2 });
      const state = await thread.state();
      await state.injectMessage({ content: "One", attachments: [{ ...picture("old.png"), description: "a lake" }] });
      await state.injectMessage({ content: "Two" });
      await state.injectMessage({ content: "Three" });
      await state.queueMessage({ content: "Four", attachments: [picture("new.png")] });
      await thread.wait();

      const shown = asked[0]?.messages ?? [];
      expect(shown.map(partsOf)).toEqual([["text"], ["text"], ["text"], ["text", "file"]]);
      expect(shown[0]?.content).toMatch(/^One\n\n.*old\.png.*a lake/);
      expect(JSON.stringify(shown[3]?.content)).toContain(pixel);
    });

    it("27 [CTX-27] shows no picture to a model that takes none, and keeps it with the message", async () => {
      const { model, asked } = talker("Fine.");
      const blind = defineModel({ name: "blind", model, capabilities: { supportsImages: false } });
      const thread = await openHelper(await newWorld(), { model: "blind" }, { options: { models: [blind] } });

      await (await thread.state()).queueMessage({ content: "Look", attachments: [picture("lake.png")] });
      await thread.wait();

      expect(asked[0]?.messages.map(partsOf)).toEqual([["text"]]);
      expect(JSON.stringify(asked[0]?.messages)).not.toContain(pixel);
      expect((await stored(thread))[0]?.attachments).toMatchObject([{ name: "lake.png", mimeType: "image/png" }]);
    });

    it("[CTX-26] lists files that are no pictures by their names", async () => {
      const { model, asked } = talker("Fine.");
      const thread = await openHelper(await newWorld(), { model });
      const notes = { name: "notes.txt", mimeType: "text/plain", data: Buffer.from("secret plan").toString("base64") };

      await (await thread.state()).queueMessage({ content: "Read", attachments: [notes] });
      await thread.wait();

      expect(asked[0]?.lines[0]).toContain("notes.txt");
      expect(asked[0]?.lines[0]).not.toContain("secret plan");
    });

    it("[CTX-28] goes on without a picture that cannot be read any more", async () => {
      const { model, asked } = talker("Fine.");
      const thread = await openHelper(await newWorld(), { model });
      const state = await thread.state();
      await state.injectMessage({ content: "Look", attachments: [picture("gone.png")] });
      const [message] = await stored(thread);
      await state.unlinkFile(message?.attachments[0]?.path ?? "");

      expect(await thread.send("Well?")).toMatchObject({ final_content: "Fine." });
      expect(asked[0]?.lines[0]).toMatch(/gone\.png/);
    });

    it("[CTX-29, DEF-13] shows the pictures of a tool with its result, and stores them as files", async () => {
      const camera = tool({
        name: "camera",
        description: "Takes a picture.",
        execute: () => ({ status: "success", result: "click", attachments: [picture("view.png")] }),
      });
      const { model, asked } = talker(callsTool("camera"), "Nice.");
      const thread = await openHelper(await newWorld(), { model, tools: [camera] });

      await thread.send("Go");

      const result = asked[1]?.messages.at(-1);
      expect(result?.type).toBe("tool_result");
      expect(result && partsOf(result)).toEqual(["text", "file"]);
      const [, , row] = await stored(thread);
      expect(row).toMatchObject({ attachments: [{ name: "view.png" }], tool_status: "success" });
      const path = row?.attachments[0]?.path ?? "";
      expect(path).toMatch(/^\/attachments\//);
      expect(row?.content).toContain(path);
      expect(Buffer.from((await (await thread.state()).readFile(path)) ?? []).toString("base64")).toBe(pixel);
    });

    it("[CTX-31] keeps what a model paints as a file, and its base64 in no message and no log", async () => {
      const world = await newWorld();
      const painted = { content: "", tool_calls: [], files: [{ media_type: "image/png", data: pixel }] };
      const { model, asked } = talker(painted, "Glad you like it.");
      const thread = await openHelper(world, { model });

      expect(await thread.send("Paint")).toMatchObject({ stop_code: "stop_on_response" });
      await thread.send("Nice");

      const [, answer] = await stored(thread);
      expect(answer?.attachments).toMatchObject([{ mimeType: "image/png" }]);
      const bytes = await (await thread.state()).readFile(answer?.attachments[0]?.path ?? "");
      expect(Buffer.from(bytes ?? []).toString("base64")).toBe(pixel);
      expect(JSON.stringify(await stored(thread))).not.toContain(pixel);
      expect(JSON.stringify(await thread.logs())).not.toContain(pixel);
      expect(asked[1]?.lines).toHaveLength(3);
    });
  });
});
