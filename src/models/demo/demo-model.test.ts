import { describe, expect, it } from "vitest";
import { type Message, normalizeMany, toolResult } from "../../contracts/conversation/message.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { normalizeForServer, type ToolMap } from "../../contracts/tools/declaration.ts";
import type { ModelAnswer, ModelDelta, ModelOptions } from "../model.ts";
import { summarizerOf } from "../summarizer.ts";
import { demoModel } from "./demo-model.ts";

const tools: ToolMap = {
  "shop/refund": normalizeForServer({
    name: "shop/refund",
    source: "shop",
    description: "Refund an order.",
    parameters: {
      type: "object",
      properties: { order: { type: "string" }, cents: { type: "integer", exclusiveMinimum: 0 } },
      required: ["order", "cents"],
    },
  }),
};
const wish = { role: "user", content: "Please refund order 7, 12 euros." };

function ask(said: readonly object[], options: Partial<ModelOptions> = {}): ModelAnswer {
  return demoModel([...normalizeMany(said)], {}, { tools, ...options }) as ModelAnswer;
}

function result(payload: JsonMap): Message {
  return toolResult({ content: "", tool_name: "shop/refund", payload });
}

describe("the demo model", () => {
  it("calls the tool that was asked for", () => {
    expect(ask([wish], { step: 4 })).toMatchObject({
      content: "",
      tool_calls: [{ id: "call-5-1", name: "shop/refund", parameters: { order: "7", cents: 1200 } }],
      request_metadata: { provider_id: "demo", model_id: "demo", finish_reason: "tool_calls" },
    });
  });

  it("asks for what it lacks, and understands the answer", () => {
    const incomplete = { role: "user", content: "Refund order 7" };
    const { content, tool_calls } = ask([incomplete]);
    expect(content).toBe('Demo model: to use shop/refund I need cents. Please say it as "cents: …".');
    expect(tool_calls).toEqual([]);
    for (const reply of ["cents: 1200", "12 euros", "It was 12 €."]) {
      const answered = ask([incomplete, { role: "assistant", content }, { role: "user", content: reply }]);
      expect(answered.tool_calls).toMatchObject([{ parameters: { order: "7", cents: 1200 } }]);
    }
  });

  it("takes up nothing that was settled before", () => {
    const done = { role: "assistant", content: "Demo model: shop/refund is done." };
    expect(ask([wish, done, { role: "user", content: "Thanks!" }]).tool_calls).toEqual([]);
  });

  it.each<[what: string, payload: JsonMap, words: string]>([
    ["a map", { success: true, result: { order: "7", cents_back: 1200 } }, "is done: order 7, cents back 1200."],
    ["a text", { success: true, result: "12 euros are on their way!" }, "is done: 12 euros are on their way!"],
    ["a list", { success: true, result: [1, 2] }, "is done: [1,2]."],
    ["nothing", { success: true, result: [] }, "is done."],
    ["a failure", { success: false, error: "There is no order 7." }, "failed: There is no order 7."],
    [
      "a rejection",
      { success: false, error: "Too much", metadata: { error_type: "approval_rejected" } },
      "was not run, because it was not approved: Too much.",
    ],
    [
      "a denial",
      { success: false, error: "Not here.", metadata: { error_type: "action_forbidden" } },
      "was not run, because it is not allowed: Not here.",
    ],
    [
      "nobody knows what",
      { success: false, error: "Cut off.", metadata: { error_type: "outcome_unknown" } },
      "was cut off, and nobody can tell whether it has run: Cut off.",
    ],
    ["a wait", { status: "runtime_tool_pending" }, "is waiting for somebody to bring its result."],
  ])("says what came of a call: %s", (_what, payload, words) => {
    const { content, tool_calls } = ask([wish, result(payload)]);
    expect(content).toBe(`Demo model: shop/refund ${words}`);
    expect(tool_calls).toEqual([]);
  });

  it("says in one sentence what it is, what it can do and how to name a real model", () => {
    const { content } = ask([{ role: "user", content: "Who are you?" }]);
    expect(content).toBe(
      "Demo model: I answer offline, by simple rules, and can use shop/refund; " +
        "for a real model set HOLDFAST_MODEL=openai/gpt-5 and OPENAI_API_KEY.",
    );
    expect(ask([{ role: "user", content: "Who are you?" }], { tools: {} }).content).toContain("have no tools here");
    expect(ask([]).content).toContain("Demo model:");
  });

  it("reads the words of a message that has other parts too", () => {
    const content = [
      { type: "text", text: wish.content },
      { type: "image", url: "https://example.com/a.png" },
    ];
    expect(ask([{ role: "user", content }]).tool_calls).toHaveLength(1);
  });

  it("streams its words, and the parameters of a call", () => {
    const streamed = (said: readonly object[]) => {
      const deltas: ModelDelta[] = [];
      const { content } = ask(said, { step: 0, onDelta: (delta) => deltas.push(delta) });
      return { content, deltas };
    };
    const { content, deltas } = streamed([{ role: "user", content: "Hello" }]);
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.map(({ text }) => text).join("")).toBe(content);
    expect(streamed([wish]).deltas).toEqual([
      { type: "tool_input", id: "call-1-1", name: "shop/refund", text: '{"order":"7","cents":1200}' },
    ]);
  });

  it("reports what it would have used", () => {
    const { usage } = ask([wish], { instructions: "You help customers." });
    expect(usage).toEqual({
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      total_tokens: Number(usage?.prompt_tokens) + Number(usage?.completion_tokens),
    });
    expect(ask([{ role: "user", content: "word ".repeat(400) }]).usage?.prompt_tokens).toBeGreaterThan(500);
  });

  it("says no more than is paid for", () => {
    const { content, request_metadata } = ask([{ role: "user", content: "Hello" }], { maxOutputTokens: 5 });
    expect(content).toBe("Demo model: I answer");
    expect(request_metadata?.finish_reason).toBe("length");
  });

  it("answers with JSON of the schema that is asked for, once its tools have run", () => {
    const output = {
      name: "refund",
      schema: {
        type: "object",
        properties: { order: { type: "string" }, done: { type: "boolean" } },
        required: ["order", "done"],
      },
    };
    expect(ask([wish], { output }).tool_calls).toHaveLength(1);
    const { content } = ask([wish, result({ success: true, result: { done: true } })], { output });
    expect(JSON.parse(content)).toEqual({ order: "7", done: true });
    expect(JSON.parse(ask([{ role: "user", content: "Refund it" }], { output }).content)).toEqual({
      order: "",
      done: false,
    });
  });

  it("keeps what was said when a conversation is to be summarised", async () => {
    const summary = await summarizerOf(demoModel)(normalizeMany([wish, { role: "assistant", content: "Done." }]), {});
    expect(summary).toMatch(/^Demo model: .*\nuser: Please refund order 7, 12 euros.\nassistant: Done.$/);
  });

  it("gives the same answer to the same messages", () => {
    for (const said of [wish, { role: "user", content: "Hello" }]) expect(ask([said])).toEqual(ask([said]));
  });

  it("does not answer when the run is over", () => {
    expect(() => ask([wish], { signal: AbortSignal.abort(new Error("over")) })).toThrow("over");
  });
});
