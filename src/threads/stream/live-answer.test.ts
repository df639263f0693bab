import { describe, expect, it } from "vitest";
import { joinSegments } from "../../backend/live-text.ts";
import type { ToolMap } from "../../contracts/tools/declaration.ts";
import type { ModelDelta } from "../../models/model.ts";
import { createLiveAnswer } from "./live-answer.ts";

const about = { thread_id: "one", step: 3, attempt: 7, commit: 5 };

function answer(deltas: readonly unknown[], tools: ToolMap | null = {}) {
  const live = createLiveAnswer(about, tools);
  const told = deltas.map((delta) => live.add(delta));
  return { told, said: live.said, segments: joinSegments(live.text.segments), text: live.text };
}

const text = (said: string): ModelDelta => ({ type: "text", text: said });
const reasoning = (thought: string): ModelDelta => ({ type: "reasoning", text: thought });
const input = (id: string, json: string): ModelDelta => ({ type: "tool_input", id, name: "shop/pay", text: json });

describe("an answer in the making", () => {
  it("is what was said of each part, in order", () => {
    const {
      segments,
      said,
      text: live,
    } = answer([
      ...[reasoning("Let me "), reasoning("see."), text("I "), text("look.")],
      ...[input("a", '{"order":'), input("b", "{}"), input("a", "7}"), text(" There.")],
    ]);
    expect(live).toMatchObject(about);
    expect(segments).toEqual([
      reasoning("Let me see."),
      text("I look."),
      ...[input("a", '{"order":'), input("b", "{}"), input("a", "7}")],
      text(" There."),
    ]);
    expect(said).toBe("I look. There.");
  });

  it("passes over what says nothing, and what is no delta", () => {
    const odd = [null, "text", { type: "text" }, { type: "text", text: 7 }, { type: "image", text: "x" }];
    const nameless = [
      { type: "tool_input", text: "{}" },
      { type: "tool_input", id: "a", text: "{}" },
    ];
    const { told, segments } = answer([text(""), ...odd, ...nameless, text("Yes.")]);
    expect(told).toEqual([...Array(8).fill(false), true]);
    expect(segments).toEqual([text("Yes.")]);
  });

  it("never ends in the middle of a character, wherever deltas are cut", () => {
    const [high, low] = ["\ud83e", "\udd80"];
    const { told, segments, said } = answer([
      ...[text(`a${high}`), reasoning(high), text(`${low}b`), reasoning(`${low}c`)],
      ...[text(high), text(low), text(high)],
    ]);
    expect(told).toEqual([true, false, true, true, false, true, false]);
    expect(segments).toEqual([text("a🦀b"), reasoning("🦀c"), text("🦀")]);
    expect(said).toBe("a🦀b🦀");
  });

  it("keeps half a character that nothing completes", () => {
    expect(answer([text("a\ud83e"), text("b"), text("\udd80")]).said).toBe("a\ud83eb\udd80");
  });

  it("shows no more of arguments than the transcript will", () => {
    const declared = { "shop/pay": { name: "shop/pay", sensitive_parameters: ["card"] } } as unknown as ToolMap;
    const pieces = ['{"car', 'd":"4111', '-1111","tok', 'en":1,"order":7}'];
    const deltas = pieces.map((piece) => input("a", piece));
    expect(answer(deltas, declared).segments).toEqual([
      input("a", '{"card":"[redacted]","token":"[redacted]","order":7}'),
    ]);
    const unknown = answer([{ ...input("b", '{"card":1,"token":2}'), name: "toString" }], declared);
    expect(unknown.segments[0]?.text).toBe('{"card":1,"token":"[redacted]"}');
    expect(answer(deltas, null)).toMatchObject({ told: [false, false, false, false], segments: [] });
  });
});
