// Promise: an unchanged `useChat` chats with a thread, shows its calls, and answers what it waits for.
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { historyOf, openChat, pendingApproval, shown, support, textOf, until } from "./chat-client.ts";
import { chatWorld } from "./chat-world.ts";

describe("a chat", () => {
  it("is told the words as they are said", async () => {
    const said = Promise.withResolvers<void>();
    const world = await chatWorld(
      agent({
        slug: "support",
        model: async (_messages, _context, { onDelta }) => {
          onDelta?.({ type: "reasoning", text: "They mean order 7." });
          onDelta?.({ type: "text", text: "It left " });
          await said.promise;
          onDelta?.({ type: "text", text: "on Monday." });
          return { content: "It left on Monday.", tool_calls: [] };
        },
      }),
    );
    const chat = openChat(world);
    const sent = chat.sendMessage({ text: "Where is my order?" });
    await until(chat, () => textOf(chat) === "It left ");
    expect(chat.status).toBe("streaming");
    said.resolve();
    await sent;
    expect(chat.errors).toEqual([]);
    expect(chat.status).toBe("ready");
    expect(chat.lastMessage?.parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "They mean order 7.", state: "done" },
      { type: "text", text: "It left on Monday.", state: "done" },
    ]);
  });

  it("shows what tools were called with, and what came of it", async () => {
    const world = await chatWorld(
      support([calls(says("Let me look."), callsTool("shop/look", { order: "7" })), says("It was sent.")]),
    );
    const chat = openChat(world);
    await chat.sendMessage({ text: "Where is order 7?" });
    expect(chat.errors).toEqual([]);
    expect(shown(chat.messages)).toEqual([
      { role: "user", parts: ["Where is order 7?"] },
      {
        role: "assistant",
        parts: [
          ...["step", "Let me look."],
          {
            type: "tool-shop/look",
            state: "output-available",
            input: { order: "7" },
            output: { order: "7", state: "sent" },
          },
          ...["step", "It was sent."],
        ],
      },
    ]);
    expect(shown(await historyOf(world))).toEqual(shown(chat.messages));
  });

  it.each([true, false])("answers what a person has to decide: %s", async (approved) => {
    const ran: string[] = [];
    const script = [
      calls(callsTool("shop/refund", { order: "7" }), callsTool("shop/refund", { order: "8" })),
      says("Done."),
    ];
    const world = await chatWorld(support(script, ran));
    const chat = openChat(world, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: "Refund 7 and 8." });
    for (const number of ["7", "8"]) {
      await until(chat, () => chat.status === "ready" && pendingApproval(chat) !== undefined);
      const pending = pendingApproval(chat);
      expect(pending).toMatchObject({
        input: { order: number },
        approval: { requestReason: expect.stringContaining(number) },
      });
      expect(ran).toEqual(approved && number === "8" ? ["7"] : []);
      await chat.addToolApprovalResponse({ id: pending?.approval.id ?? "", approved, reason: "Because." });
    }
    await until(chat, () => chat.status === "ready" && textOf(chat) === "Done.");
    expect(chat.errors).toEqual([]);
    expect(ran).toEqual(approved ? ["7", "8"] : []);
    const states = chat.lastMessage?.parts.flatMap((part) => ("state" in part ? [part.state] : []));
    const state = approved ? "output-available" : "output-denied";
    expect(states).toEqual([state, state, "done"]);
    expect(shown(await historyOf(world))).toEqual(shown(chat.messages));
  });

  it("runs the tools that are the browser's, once each", async () => {
    const world = await chatWorld(
      support([
        calls(callsTool("client/where"), callsTool("client/where")),
        callsTool("client/where"),
        says("In Lisbon."),
      ]),
    );
    let asked = 0;
    const chat = openChat(world, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall({ toolCall: { toolCallId } }) {
        asked++;
        const given = { tool: "client/where", toolCallId };
        if (asked === 2) void chat.addToolOutput({ ...given, state: "output-error", errorText: "No signal." });
        else void chat.addToolOutput({ ...given, output: { city: "Lisbon" } });
      },
    });
    await chat.sendMessage({ text: "Where am I?" });
    await until(chat, () => chat.status === "ready" && textOf(chat) === "In Lisbon.");
    expect(chat.errors).toEqual([]);
    expect(asked).toBe(3);
    expect(shown(chat.messages.slice(1))).toEqual([
      {
        role: "assistant",
        parts: [
          "step",
          { type: "tool-client/where", state: "output-available", input: {}, output: { city: "Lisbon" } },
          { type: "tool-client/where", state: "output-error", input: {}, errorText: "No signal." },
          "step",
          { type: "tool-client/where", state: "output-available", input: {}, output: { city: "Lisbon" } },
          ...["step", "In Lisbon."],
        ],
      },
    ]);
    expect(shown(await historyOf(world))).toEqual(shown(chat.messages));
  });

  it("gives the browser all that its tools take, also what nobody else is shown", async () => {
    const pay = tool({
      name: "client/pay",
      description: "Pays with a token.",
      inputSchema: z.object({ token: z.string() }),
    });
    const script = [callsTool("client/pay", { token: "one-time" }), says("Paid.")];
    const world = await chatWorld(agent({ slug: "support", tools: [pay], model: scriptedModel(script) }));
    const inputs: unknown[] = [];
    const chat = openChat(world, { onToolCall: ({ toolCall: { input } }) => void inputs.push(input) });
    await chat.sendMessage({ text: "Pay." });
    expect(inputs).toEqual([{ token: "one-time" }]);
    expect((await historyOf(world)).at(-1)?.parts.at(-1)).toMatchObject({ input: { token: "one-time" } });
    const part = chat.lastMessage?.parts.at(-1) as { toolCallId: string } | undefined;
    await chat.addToolOutput({ tool: "client/pay", toolCallId: part?.toolCallId ?? "", output: "ok" });
    await chat.sendMessage();
    expect(textOf(chat)).toBe("Paid.");
    expect((await historyOf(world)).at(-1)?.parts[1]).toMatchObject({ input: { token: "[redacted]" } });
  });

  it("tells why a run failed", async () => {
    const world = await chatWorld(
      agent({
        slug: "support",
        model: () => {
          throw new Error("The model is down.");
        },
      }),
    );
    const chat = openChat(world);
    await chat.sendMessage({ text: "Hello?" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toBe("The model is down.");
  });
});
