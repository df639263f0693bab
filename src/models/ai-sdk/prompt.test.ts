import { describe, expect, it } from "vitest";
import * as message from "../../contracts/conversation/message.ts";
import type { JsonMap } from "../../contracts/json.ts";
import * as declaration from "../../contracts/tools/declaration.ts";
import { promptOf } from "./prompt.ts";

const { text, toolCall, toolResult } = message;

const peek = declaration.normalizeForServer({ name: "shop/peek", source: "shop", description: "Looks." });
const tools = { "shop/peek": peek };
const model = { provider: "local.chat", modelId: "small", specificationVersion: "v4" } as const;

function called(id: string, turn = 1, more: { name?: string; metadata?: JsonMap } = {}) {
  const { name: tool_name = "shop/peek", metadata } = more;
  return toolCall({ tool_name, parameters: { at: id }, turn, metadata: { tool_call_id: id, ...metadata } });
}

function returned(id: string, content = `saw ${id}`, payload: JsonMap = { success: true }) {
  return toolResult({ content, tool_name: "shop/peek", payload, metadata: { tool_call_id: id } });
}

function prompt(messages: readonly message.Message[], options: Partial<Parameters<typeof promptOf>[1]> = {}) {
  return promptOf(messages, { tools, model, ...options });
}

/** A line a message: who speaks, and what each part is. */
function inShort(messages: readonly message.Message[], options?: Parameters<typeof prompt>[1]): string[] {
  return prompt(messages, options).map(({ role, content }) => {
    const parts = typeof content === "string" ? [content] : content.map(partInShort);
    return `${role}: ${parts.join(" | ")}`;
  });
}

function partInShort(part: object): string {
  const { type, text, toolCallId, toolName, output } = part as Record<string, unknown>;
  if (type === "tool-call") return `call ${toolCallId} ${toolName}`;
  if (type === "tool-result") return `${(output as JsonMap).type} ${toolCallId} ${(output as JsonMap).value}`;
  return type === "text" ? String(text) : `${type} ${text ?? ""}`.trim();
}

type Part = { readonly type: string; readonly toolCallId?: string; readonly output?: unknown };

const NOTICE = "[Notice from the system, not from the user]\n";

describe("an answer and its calls", () => {
  it("are one message, with all results right behind it, however the loop has written them down", () => {
    const transcript = [
      text("user", "Look twice"),
      text("assistant", "I look."),
      called("a"),
      returned("a"),
      called("b"),
      returned("b"),
      called("c", 2),
      returned("c", "gone", { success: false }),
      text("assistant", "Done."),
      text("user", "Again"),
      called("d", 1),
      returned("d"),
    ];

    expect(inShort(transcript)).toEqual([
      "user: Look twice",
      "assistant: I look. | call a shop__peek | call b shop__peek",
      "tool: text a saw a | text b saw b",
      "assistant: call c shop__peek",
      "tool: error-text c gone",
      "assistant: Done.",
      "user: Again",
      "assistant: call d shop__peek",
      "tool: text d saw d",
    ]);
  });

  it("stay together when the loop speaks up between them, and its words are not the assistant's", () => {
    const nudge = text("assistant", "You keep failing.", { type: "identical_failure_nudge" });

    expect(inShort([text("user", "Look"), called("a"), returned("a"), nudge, called("b"), returned("b")])).toEqual([
      "user: Look",
      "assistant: call a shop__peek | call b shop__peek",
      "tool: text a saw a | text b saw b",
      `user: ${NOTICE}You keep failing.`,
    ]);
  });

  it("always have results: a request stands for one until it comes, and a late one takes its place", () => {
    const approval = message.approvalRequired({
      content: "May I?",
      payload: {},
      metadata: { tool_call_id: "a", tool_name: "shop/peek" },
    });

    expect(inShort([text("user", "Look"), called("a"), approval, text("user", "Well?")])).toEqual([
      "user: Look",
      "assistant: call a shop__peek",
      "tool: text a May I?",
      "user: Well?",
    ]);
    expect(inShort([text("user", "Look"), called("a"), approval, text("user", "Well?"), returned("a")])[2]).toBe(
      "tool: text a saw a",
    );
    expect(inShort([text("user", "Look"), called("a"), text("user", "Well?")])[2]).toBe(
      "tool: error-text a There is no result of this call.",
    );
  });

  it("pair with their results by order where ids were never stored, and a result without its call is told", () => {
    const bare = toolCall({ tool_name: "shop/peek", parameters: {}, turn: 1 });
    const result = toolResult({ content: "seen", tool_name: "shop/peek", payload: { success: true } });

    const [, , results, told] = inShort([text("user", "Look"), bare, result, returned("gone", "lost")]);

    expect(results).toMatch(/^tool: text call_[0-9a-f]{32} seen$/);
    expect(told).toBe(`user: ${NOTICE}Result of shop/peek: lost`);
  });

  it.each([
    ["every provider", "small", /^[a-zA-Z0-9_-]{1,40}$/],
    ["Mistral's models", "mistral-large-latest", /^[a-zA-Z0-9]{9}$/],
    ["Mistral's models", "unsloth/Devstral-Small", /^[a-zA-Z0-9]{9}$/],
  ])("have ids that %s take, and none twice (%s)", (_who, modelId, accepted) => {
    const strange = "functions.peek:0 {é}";
    const ids = [strange, strange, "call_0", "call_0", "x".repeat(60), "abcdefghi"];
    const turns = ids.flatMap((id, index) => [called(id, index + 1), returned(id, `result ${index}`)]);

    const shown = prompt([text("user", "Look"), ...turns], { model: { ...model, modelId } });

    const parts = shown.flatMap(({ content }) => (typeof content === "string" ? [] : (content as Part[])));
    const sent = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    const results = parts.flatMap((part) => (part.type === "tool-result" ? [[part.toolCallId, part.output]] : []));
    expect(new Set(sent).size).toBe(ids.length);
    for (const id of sent) expect(id).toMatch(accepted);
    expect(results).toEqual(sent.map((id, index) => [id, { type: "text", value: `result ${index}` }]));
    expect(sent.filter((id, index) => id === ids[index])).toEqual(
      ["call_0", "abcdefghi"].filter((id) => accepted.test(id)),
    );
  });

  it("name tools as they are offered now; a tool that is gone keeps a name that can be sent", () => {
    const [, answer] = inShort([
      text("user", "Look"),
      called("a", 1, { name: "shop__peek" }),
      called("b", 1, { name: "old/tool.v1" }),
      called("c", 1, { name: "constructor" }),
    ]);

    expect(answer).toBe("assistant: call a shop__peek | call b old__tool__v1 | call c constructor");
  });

  it("are told in words where no tools are offered, because some providers refuse them there", () => {
    const transcript = [text("user", "Look"), text("assistant", "I look."), called("a"), returned("a")];

    expect(inShort([...transcript, text("user", "Sum it up")], { tools: {} })).toEqual([
      "user: Look",
      "assistant: I look.",
      `user: ${NOTICE}shop/peek was called with {"at":"a"}: saw a`,
      "user: Sum it up",
    ]);
  });

  it("carry what the provider said of them: its own thoughts and signatures, and never another's thoughts", () => {
    const thought = { text: "Hm.", provider_id: "local.chat", provider_metadata: { local: { signature: "s" } } };
    const foreign = { text: "Ah.", provider_id: "other.chat", provider_metadata: { other: { signature: "t" } } };
    const transcript = [
      text("user", "Look"),
      text("assistant", "I look.", { reasoning: [thought, foreign], provider_metadata: { local: { item: 1 } } }),
      called("a", 1, { metadata: { provider_metadata: { local: { item: 2 } } } }),
      returned("a"),
      called("b", 1, { metadata: { reasoning: [foreign] } }),
      returned("b"),
    ];

    const [, first, , second] = prompt(transcript);

    expect(first?.content).toEqual([
      { type: "reasoning", text: "Hm.", providerOptions: { local: { signature: "s" } } },
      { type: "text", text: "I look.", providerOptions: { local: { item: 1 } } },
      {
        type: "tool-call",
        toolCallId: "a",
        toolName: "shop__peek",
        input: { at: "a" },
        providerOptions: { local: { item: 2 } },
      },
    ]);
    // What was thought stands with the first message of an answer, so this is another one in spite of its number.
    expect(second?.content).toEqual([
      { type: "tool-call", toolCallId: "b", toolName: "shop__peek", input: { at: "b" } },
    ]);
  });
});

describe("who speaks", () => {
  it("begins with one system message; a later one becomes a notice", () => {
    const transcript = [
      text("system", "Earlier: they met."),
      text("user", "Hi"),
      text("system", "The run was stopped."),
      text("user", "Go on"),
    ];

    expect(inShort(transcript, { instructions: "Be kind." })).toEqual([
      "system: Be kind.\n\nEarlier: they met.",
      "user: Hi",
      `user: ${NOTICE}The run was stopped.`,
      "user: Go on",
    ]);
  });

  it("lets the user have the first word and the last, because providers want it so", () => {
    expect(inShort([text("assistant", "Welcome!")])).toEqual([
      "user: Continue.",
      "assistant: Welcome!",
      "user: Continue.",
    ]);
    expect(inShort([], { instructions: "Be kind." })).toEqual(["system: Be kind.", "user: Continue."]);
  });

  it("leaves out what has no words", () => {
    const delta = message.normalize({ role: "assistant", content: "Hel", metadata: { type: "delta" } });

    expect(inShort([text("user", "Hi"), text("assistant", ""), delta, text("user", " \n")])).toEqual(["user: Hi"]);
  });

  it("shows every type of message", () => {
    const transcript = [
      text("user", "Hi"),
      text("assistant", "The end.", { type: "final_result" }),
      text("assistant", "It broke.", { error: "boom" }),
      message.normalize({ content: "Which one?", metadata: { type: "input_required" } }),
      text("customer", "That one"),
    ];

    expect(inShort(transcript)).toEqual([
      "user: Hi",
      "assistant: The end.",
      `user: ${NOTICE}It broke.`,
      `user: ${NOTICE}Which one?`,
      "user: That one",
    ]);
  });

  it("takes apart what was merged for another provider", () => {
    const [merged] = message.coalesce([text("user", "One"), text("user", "Two")]);

    expect(inShort(merged ? [merged] : [])).toEqual(["user: One", "user: Two"]);
  });
});

describe("files", () => {
  const png = "iVBORw0KGgo=";

  it("are sent in the form of either interface, however they were written", () => {
    const content = [
      { type: "text", text: "Look at these" },
      { type: "file", media_type: "image/png", data: png },
      { type: "image_url", image_url: { url: `data:image/gif;base64,${png}` } },
      { type: "image", url: "https://example.org/cat.jpg" },
      { type: "image", source: { type: "base64", media_type: "image/webp", data: png } },
      { type: "file", mediaType: "application/pdf", data: png, filename: "a.pdf" },
      { type: "poll", data: "yes" },
    ];

    const [asked] = prompt([text("user", content)]);

    expect(asked?.content).toEqual([
      { type: "text", text: "Look at these" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
      { type: "file", mediaType: "image/gif", data: { type: "data", data: png } },
      { type: "file", mediaType: "image/*", data: { type: "url", url: new URL("https://example.org/cat.jpg") } },
      { type: "file", mediaType: "image/webp", data: { type: "data", data: png } },
      { type: "file", mediaType: "application/pdf", data: { type: "data", data: png }, filename: "a.pdf" },
      { type: "text", text: '{"type":"poll","data":"yes"}' },
    ]);
    const [older] = prompt([text("user", content)], { model: { ...model, specificationVersion: "v3" } });
    expect(older?.content.slice(1, 4)).toEqual([
      { type: "file", mediaType: "image/png", data: png },
      { type: "file", mediaType: "image/gif", data: png },
      { type: "file", mediaType: "image/*", data: new URL("https://example.org/cat.jpg") },
    ]);
  });

  it("that the model made belong to its answer", () => {
    const made = text("assistant", [{ type: "file", media_type: "image/png", data: png }]);

    expect(inShort([text("user", "Draw"), text("assistant", "Here."), made, called("a"), returned("a")])).toEqual([
      "user: Draw",
      "assistant: Here. | file | call a shop__peek",
      "tool: text a saw a",
    ]);
  });

  it("shows the files that a result came with right behind it", () => {
    const image = { type: "file", media_type: "image/png", data: "aGk=", filename: "plan.png" };
    const call = called("call-1");
    const result = message.toolResult({
      content: [{ type: "text", text: "Drawn." }, image],
      tool_name: "shop/peek",
      payload: { success: true },
      metadata: { tool_call_id: "call-1" },
    });
    const prompt = promptOf([message.text("user", "Draw."), call, result], { tools, model });
    expect(prompt.at(-2)).toMatchObject({ role: "tool", content: [{ output: { type: "text", value: "Drawn." } }] });
    expect(prompt.at(-1)).toMatchObject({
      role: "user",
      content: [
        { type: "text", text: "[Files that shop/peek answered with]" },
        { type: "file", mediaType: "image/png" },
      ],
    });
  });
});
