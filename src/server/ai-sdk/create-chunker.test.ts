import type { UIMessageChunk } from "ai";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { AnswerEvent, Call } from "../chat/answer-event.ts";
import type { Chunk } from "./chunk.ts";
import { createChunker } from "./create-chunker.ts";

const step: AnswerEvent = { type: "step" };
const text = (said: string): AnswerEvent => ({ type: "text", text: said });
const look: Call = { call_id: "c1", tool_name: "shop/look", input: { order: "7" } };
const where: Call = { call_id: "c2", tool_name: "client/where", input: {} };
const input = (json: string, { call_id, tool_name }: Call = look): AnswerEvent => ({
  ...{ type: "input", call_id, tool_name },
  text: json,
});

function chunksOf(events: readonly AnswerEvent[], known: readonly string[] = []): readonly Chunk[] {
  const chunker = createChunker(known);
  return [...events.flatMap((event) => chunker.add(event)), ...chunker.end()];
}

describe("an answer in chunks", () => {
  it("has only chunks that the AI SDK reads", () => {
    expectTypeOf<Chunk>().toExtend<UIMessageChunk>();
  });

  it("has a part for each kind of thing that is said, in its step", () => {
    const events = [step, { type: "reasoning", text: "Hm." } as const, text("It "), text("left."), step, text("Yes.")];
    expect(chunksOf(events)).toEqual([
      { type: "start-step" },
      { type: "reasoning-start", id: "part-1" },
      { type: "reasoning-delta", id: "part-1", delta: "Hm." },
      { type: "reasoning-end", id: "part-1" },
      { type: "text-start", id: "part-2" },
      { type: "text-delta", id: "part-2", delta: "It " },
      { type: "text-delta", id: "part-2", delta: "left." },
      { type: "text-end", id: "part-2" },
      ...[{ type: "finish-step" }, { type: "start-step" }],
      { type: "text-start", id: "part-3" },
      { type: "text-delta", id: "part-3", delta: "Yes." },
      { type: "text-end", id: "part-3" },
      { type: "finish-step" },
    ]);
  });

  it("takes back what an attempt said that does not count", () => {
    expect(chunksOf([step, text("It le"), input("{"), { type: "restarted" }, text("No.")])).toEqual([
      { type: "start-step" },
      { type: "text-start", id: "part-1" },
      { type: "text-delta", id: "part-1", delta: "It le" },
      { type: "text-end", id: "part-1" },
      { type: "tool-input-start", toolCallId: "c1", toolName: "shop/look", providerExecuted: true },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "{" },
      { type: "reset-step" },
      { type: "text-start", id: "part-2" },
      { type: "text-delta", id: "part-2", delta: "No." },
      { type: "text-end", id: "part-2" },
      { type: "finish-step" },
    ]);
  });

  it("leaves no call unfinished whose arguments were told and which was made under another id", () => {
    const chunks = chunksOf([step, input("{}"), { type: "call", call: { ...look, call_id: "call-1-1" } }]);
    expect(chunks).toContainEqual(expect.objectContaining({ type: "tool-output-error", toolCallId: "c1" }));
    expect(chunks).toContainEqual(expect.objectContaining({ type: "tool-input-available", toolCallId: "call-1-1" }));
  });

  it("gives the client a call to run only when nobody has run it", () => {
    const asked = { ...where, request_id: "r1", kind: "client_tool", summary: "", preview: null } as const;
    const events: AnswerEvent[] = [step, { type: "call", call: where }, { type: "asked", asked }];
    expect(chunksOf(events)[1]).toEqual({
      type: "tool-input-available",
      toolCallId: "c2",
      toolName: "client/where",
      input: {},
    });
    const result = { ...where, came: "output", output: "Lisbon" } as const;
    expect(chunksOf([...events, { type: "result", result }]).slice(1, 3)).toEqual([
      { type: "tool-input-available", toolCallId: "c2", toolName: "client/where", input: {}, providerExecuted: true },
      { type: "tool-output-available", toolCallId: "c2", output: "Lisbon" },
    ]);
  });

  it("tells of a decision only to those who know what was decided", () => {
    const accepted: AnswerEvent = { type: "accepted", request_id: "r1" };
    expect(chunksOf([accepted])).toEqual([]);
    expect(chunksOf([accepted], ["r1"])).toEqual([
      { type: "tool-approval-response", approvalId: "r1", approved: true },
    ]);
  });
});
