// Promise: what a model answers counts, once. An answer that is none fails its run with words, and a model that is cut
// off or overtaken is neither asked nor paid twice.
import { describe, expect, it } from "vitest";
import type { Model } from "../src/models/model.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { inShort } from "./held.ts";

const peek = tool({ name: "shop/peek", description: "Looks.", repeatable: true, execute: () => "seen" });

function clerk(model: Model, more: Partial<AgentDefinition> = {}) {
  return agent({ slug: "clerk", model, tools: [peek], ...more });
}

async function history(thread: ThreadHandle): Promise<readonly string[]> {
  return inShort((await thread.messages()).map(({ message }) => message));
}

eachDatabase((newWorld) => {
  it.each(["content", "messages"] as const)("is taken up again when its commit was overtaken: %s", async (form) => {
    const world = await newWorld();
    let asked = 0;
    let queued: string | undefined;
    const model: Model = async (given) => {
      asked++;
      const words = asked === 1 ? "Let me look." : "It is there.";
      // Nobody has such a tool, so that nothing is stored before the model is asked again.
      const tool_calls = asked === 1 ? [{ name: "shop/none", parameters: {} }] : [];
      // What is taken back before the commit that takes it in.
      if (asked === 1) queued = (await thread.queueMessage("And hurry.")).id;
      if (form === "content") return { content: words, tool_calls };
      return { messages: [...given, { role: "assistant", content: words }], tool_calls };
    };
    const overtaken: string[] = [];
    const holdfast = await world.open(clerk(model), {
      async onPoint(point) {
        if (queued === undefined || !point.startsWith("before commit begun call_model")) return;
        const id = queued;
        queued = undefined;
        if (await thread.cancelQueued(id)) overtaken.push(point);
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Look.")).toMatchObject({ status: "completed", final_content: "It is there." });

    expect(overtaken).toHaveLength(1);
    expect(asked).toBe(2);
    expect(await history(thread)).toEqual([
      ...["user: Look.", "assistant: Let me look.", "call shop/none", expect.stringMatching(/^result shop.none/)],
      "assistant: It is there.",
    ]);
  });

  it("may be a text alone, or words without a word about calls", async () => {
    const world = await newWorld();
    const answers = ["Hi.", { content: "Hello." }];
    const holdfast = await world.open(clerk((_messages, _context, { step = 0 }) => answers[step]));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Hello.")).toMatchObject({ status: "completed", final_content: "Hi." });
    expect(await thread.send("Hello?")).toMatchObject({ status: "completed", final_content: "Hello." });
  });

  it.each<[string, object]>([
    ["a call", { type: "tool_call", tool_name: "shop/peek" }],
    ["a result", { type: "tool_result" }],
    ["a piece", { type: "delta" }],
    ["an error", { error: "e" }],
    ["a nudge", { type: "identical_failure_nudge" }],
    ["many parts", { type: "multimodal" }],
    ["what was said when it was stopped", { stopped: true }],
  ])("is no other kind of message because the model says so: %s", async (_what, message_metadata) => {
    const world = await newWorld();
    const provider_metadata = { local: { cache: "a" } };
    const answer = { content: "It is there.", message_metadata: { ...message_metadata, provider_metadata } };
    const holdfast = await world.open(clerk(() => answer));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Look.")).toMatchObject({ status: "completed", final_content: "It is there." });

    const [, said] = await thread.messages();
    expect(said?.message).toMatchObject({ type: "text", role: "assistant", content: "It is there." });
    expect(said?.message.metadata).toEqual({ provider_metadata });
  });

  it.each(["parameters", "arguments", "input"])(
    "does not run a tool with nothing when its %s cannot be read",
    async (field) => {
      const world = await newWorld();
      const given: unknown[] = [];
      const wipe = tool({ name: "shop/wipe", description: "Wipes.", execute: (input) => given.push(input) });
      const wishes = ['{"only": "tmp"', "tmp", "[1]", '{"only":"tmp"}'];
      const model: Model = (_messages, _context, { step = 0 }) =>
        step < wishes.length ? { tool_calls: [{ name: "shop/wipe", [field]: wishes[step] }] } : says("Done.");
      const holdfast = await world.open(clerk(model, { tools: [wipe] }));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      expect(await thread.send("Wipe tmp.")).toMatchObject({ status: "completed" });

      expect(given).toEqual([{ only: "tmp" }]);
      const results = (await history(thread)).filter((line) => line.startsWith("result"));
      expect(results).toEqual([...Array(3).fill("result shop/wipe: invalid_arguments"), "result shop/wipe: 1"]);
    },
  );

  describe("that cannot be used", () => {
    it("keeps the key to itself that a client repeats in its error", async () => {
      const world = await newWorld();
      const key = "sk-proj-ABCDEFGHIJKLMNOP12345678";
      const model: Model = () => {
        throw Object.assign(new Error(`401 Incorrect API key provided: ${key}.`), { status: 401, headers: { key } });
      };
      const holdfast = await world.open(clerk(model));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      const { status, failure } = await thread.send("Hello.");

      expect(status).toBe("failed");
      expect(failure?.message).toContain("Incorrect API key provided: [redacted]");
      expect(await world.everything()).not.toContain(key);
    });

    it.each([
      ["nothing", undefined],
      ["a call as a provider sends it", { tool_calls: [{ type: "function", function: { name: "shop/peek" } }] }],
      ["content that is no text", { content: [{ type: "text", text: "Hi." }] }],
    ])("fails the run with words, and not the thread: %s", async (_what, answer) => {
      const world = await newWorld();
      const model: Model = (messages) => (messages.length > 1 ? says("Better now.") : answer);
      const holdfast = await world.open(clerk(model, { retry: { attempts: 3, backoffMs: 1 } }));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      const outcome = await thread.send("Hello.");

      expect(outcome).toMatchObject({ status: "failed", completed: false });
      expect(JSON.stringify(outcome.failure)).toContain("The model's answer cannot be used");
      expect(await thread.send("Again?")).toMatchObject({ status: "completed", final_content: "Better now." });
    });
  });

  it("is asked for again when the network failed", async () => {
    const world = await newWorld();
    let asked = 0;
    const model: Model = () => {
      if (++asked > 1) return says("At last.");
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
    };
    const holdfast = await world.open(clerk(model, { retry: { attempts: 2, backoffMs: 1 } }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Hello.")).toMatchObject({ status: "completed", final_content: "At last." });
    expect(asked).toBe(2);
  });

  it("may be one too many: a run whose turns are used up says so, and the next one goes on", async () => {
    const world = await newWorld();
    const model: Model = (_messages, _context, { step = 0 }) =>
      step < 4 ? callsTool("shop/peek", { step }) : says("Seen.");
    const holdfast = await world.open(clerk(model, { maxTurns: 2 }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Look.")).toMatchObject({ status: "max_turns", completed: false, turn_count: 2 });
    expect(await thread.send("Go on.")).toMatchObject({ status: "max_turns", completed: false });
    expect(await thread.send("And?")).toMatchObject({ status: "completed", completed: true, final_content: "Seen." });
    expect((await thread.runs()).map(({ status }) => status)).toEqual(["max_turns", "max_turns", "completed"]);
  });
});
