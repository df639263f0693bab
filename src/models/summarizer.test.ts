import { describe, expect, it } from "vitest";
import { compact } from "../contracts/conversation/compaction.ts";
import { type Message, text } from "../contracts/conversation/message.ts";
import type { Model, ModelOptions } from "./model.ts";
import { says, scriptedModel } from "./scripted/scripted-model.ts";
import { summarizerOf } from "./summarizer.ts";

const transcript = ["My name is Ana.", "Nice to meet you.", "I like tea.", "Noted.", "What is my name?"].map(
  (content, index) => text(index % 2 === 0 ? "user" : "assistant", content),
);
const policy = { enabled: true, max_messages: 4, recent_messages: 2 };

describe("a summarizer that asks a model", () => {
  it("replaces the old messages by the model's words", async () => {
    const { messages } = await compact(transcript, policy, summarizerOf(scriptedModel([says(" Ana likes tea. ")])));
    expect(messages.map(({ content }) => content)).toEqual([
      "Earlier conversation summary:\n\nAna likes tea.",
      ...["Noted.", "What is my name?"],
    ]);
  });

  it("shows the model the old messages, a request and no tools", async () => {
    let asked: { messages: Message[]; options: ModelOptions } | undefined;
    const model: Model = async (messages, _context, options) => {
      asked = { messages, options };
      return { content: "Ana." };
    };
    const head = transcript.slice(0, 2);
    expect(await summarizerOf(model, { instructions: "Be brief." })(head, {})).toBe("Ana.");
    expect(asked?.messages.slice(0, -1)).toEqual(head);
    expect(asked?.messages.at(-1)?.role).toBe("user");
    expect(asked?.options).toEqual({ tools: {}, instructions: "Be brief." });
  });

  it("tells what the model counted, also when there are no words, and passes on how long it may be", async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
    const told: unknown[] = [];
    const most: unknown[] = [];
    const answers = [{ content: "Ana.", usage }, { content: "", usage }, { content: "Ana." }];
    const model: Model = (_messages, _context, { maxOutputTokens }) => answers[most.push(maxOutputTokens) - 1];
    const summarize = summarizerOf(model, { onUsage: (counted) => told.push(counted) });

    await summarize(transcript, {}, { maxOutputTokens: 70 });
    await expect(summarize(transcript, {})).rejects.toMatchObject({ code: "summary_missing" });
    await summarize(transcript, {});

    expect(told).toEqual([usage, usage, undefined]);
    expect(most).toEqual([70, undefined, undefined]);
  });

  it.each([
    ["says nothing", says("  ")],
    ["calls a tool instead", { content: "", tool_calls: [{ name: "shop/order", parameters: {} }] }],
  ])("keeps the transcript when the model %s", async (_what, answer) => {
    const { messages, metadata } = await compact(transcript, policy, summarizerOf(scriptedModel([answer])));
    expect(messages).toEqual(transcript);
    expect(metadata.compaction).toMatchObject({ status: "failed", error: expect.stringMatching(/^summary_missing/) });
  });
});
