import { describe, expect, it } from "vitest";
import { text, toolCall, toolResult } from "../../contracts/conversation/message.ts";
import type { Json } from "../../contracts/json.ts";
import { createAnswerReader } from "./read-answer.ts";
import type { StreamEvent } from "./stream-event.ts";

const about = { id: "1.0", run: 1, step: 0, at: 0 };
const started: StreamEvent = { ...about, type: "step.started" };
const delta = (said: string, offset = 0): StreamEvent => ({
  ...{ type: "text.delta", step: 0, attempt: 1, offset },
  text: said,
});

type Message = Extract<StreamEvent, { type: "message.added" }>["message"];

function added(message: Message, more: object = {}): StreamEvent {
  return { ...about, type: "message.added", seq: 1, message, ...more };
}

function read(...events: readonly StreamEvent[]) {
  const reader = createAnswerReader();
  return events.flatMap((event) => reader(event));
}

const made = (id: string) =>
  toolCall({ tool_name: "shop/look", parameters: { order: "7" }, turn: 1, metadata: { tool_call_id: id } });
const came = (id: string, result: Json) =>
  toolResult({
    content: "",
    tool_name: "shop/look",
    payload: { success: true, result },
    metadata: { tool_call_id: id },
  });

describe("reading an answer", () => {
  it("tells words once, whether they were told in pieces or only committed", () => {
    const whole = added(text("assistant", "It left."));
    expect(read(started, delta("It "), delta("left.", 3), whole)).toEqual([
      { type: "step" },
      { type: "text", text: "It " },
      { type: "text", text: "left." },
    ]);
    expect(read(started, delta("It "), whole)).toEqual([
      { type: "step" },
      { type: "text", text: "It " },
      { type: "text", text: "left." },
    ]);
    expect(read(started, whole)).toEqual([{ type: "step" }, { type: "text", text: "It left." }]);
  });

  it("takes back words that were told and did not become the answer", () => {
    expect(read(started, delta("No"), added(text("assistant", "Yes.")))).toEqual([
      ...[{ type: "step" }, { type: "text", text: "No" }],
      ...[{ type: "restarted" }, { type: "text", text: "Yes." }],
    ]);
  });

  it("tells the arguments of the first call alone: those behind it have not been reached", () => {
    const input = (id: string): StreamEvent => ({
      ...{ type: "tool_input.delta", step: 0, attempt: 1, offset: 0, text: "{}" },
      ...{ tool_call_id: id, tool_name: "shop/look" },
    });
    const told = read(started, input("a"), input("b"), input("a"));
    expect(told.map((event) => (event.type === "input" ? event.call_id : event.type))).toEqual(["step", "a", "a"]);
  });

  it("brings a call and its result together", () => {
    const call = { call_id: "a", tool_name: "shop/look", input: { order: "7" } };
    expect(read(added(made("a")), added(came("a", { state: "sent" })))).toEqual([
      { type: "call", call },
      { type: "result", result: { ...call, came: "output", output: { state: "sent" } } },
    ]);
    expect(read(added(came("b", 1)))).toEqual([]);
  });

  it("passes over what is for models, and what stands within a call", () => {
    const silent = { ...text("user", "Psst."), metadata: { silent: true } };
    expect(read(added(silent), added(text("assistant", "Inside."), { depth: 1 }))).toEqual([]);
  });
});
