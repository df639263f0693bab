import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinSegments, type LiveSegment, type LiveText } from "../../backend/live-text.ts";
import { type LivePosition, LiveReader } from "./live-reader.ts";
import type { LiveEvent } from "./stream.ts";

const text = (said: string): LiveSegment => ({ type: "text", text: said });
const reasoning = (thought: string): LiveSegment => ({ type: "reasoning", text: thought });
const input = (json: string): LiveSegment => ({ type: "tool_input", id: "a", name: "shop/pay", text: json });

function live(segments: readonly LiveSegment[], parts: Partial<LiveText> = {}): LiveText {
  return { thread_id: "one", step: 0, attempt: 1, commit: 1, segments, ...parts };
}

/** What was told, part by part. */
function segmentsOf(events: readonly LiveEvent[]): readonly LiveSegment[] {
  return joinSegments(
    events.flatMap((event): LiveSegment[] => {
      if (event.type === "step.restarted") return [];
      if (event.type === "text.delta") return [text(event.text)];
      if (event.type === "reasoning.delta") return [reasoning(event.text)];
      return [{ type: "tool_input", id: event.tool_call_id, name: event.tool_name, text: event.text }];
    }),
  );
}

/** Where a reader is that was told these. */
function placeAfter(events: readonly LiveEvent[]): LivePosition | undefined {
  const last = events.at(-1);
  if (!last) return undefined;
  const { step, attempt } = last;
  return { step, attempt, offset: last.type === "step.restarted" ? 0 : last.offset + last.text.length };
}

describe("a reader of what a model is saying", () => {
  it("is told of each part, with the place at which it stands", () => {
    const call = { tool_call_id: "a", tool_name: "shop/pay" };
    const reader = new LiveReader();
    expect(
      reader.read(live([reasoning("Hm"), reasoning("m."), text("Yes"), input("{"), input("}"), text("!")])),
    ).toEqual([
      { type: "reasoning.delta", step: 0, attempt: 1, offset: 0, text: "Hmm." },
      { type: "text.delta", step: 0, attempt: 1, offset: 4, text: "Yes" },
      { type: "tool_input.delta", step: 0, attempt: 1, offset: 7, text: "{}", ...call },
      { type: "text.delta", step: 0, attempt: 1, offset: 9, text: "!" },
    ]);
  });

  it("is told everything once, however it is cut, merged and come back to", () => {
    const part = fc.constantFrom(text, reasoning, input);
    const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 });
    const said = fc.array(
      fc.tuple(part, word).map(([make, letters]) => make(letters)),
      { maxLength: 20 },
    );
    // After each piece: nothing, a look, a look at what another process wrote down, or coming back and a look.
    const looks = fc.array(fc.constantFrom("no", "look", "elsewhere", "back"), { maxLength: 20 });
    fc.assert(
      fc.property(said, looks, (segments, actions) => {
        const grown: LiveSegment[] = [];
        const told: LiveEvent[] = [];
        let reader = new LiveReader();
        for (const [index, segment] of segments.entries()) {
          grown.push(segment);
          const action = actions[index] ?? "no";
          if (action === "back") reader = new LiveReader(placeAfter(told));
          if (action !== "no") told.push(...reader.read(live(action === "elsewhere" ? joinSegments(grown) : grown)));
        }
        told.push(...reader.read(live(grown)));
        expect(segmentsOf(told)).toEqual(joinSegments(segments));
        let offset = 0;
        for (const event of told) {
          if (event.type === "step.restarted") throw new Error("Nothing was begun anew.");
          expect(event.offset).toBe(offset);
          offset += event.text.length;
        }
      }),
    );
  });

  it("goes on in the middle of a segment, and is told a whole character where it was in the middle of one", () => {
    const at = (offset: number) => new LiveReader({ step: 0, attempt: 1, offset });
    const said = live([text("Once"), reasoning("a 🦀"), text(" time")]);
    expect(at(2).read(said)[0]).toMatchObject({ type: "text.delta", offset: 2, text: "ce" });
    expect(at(5).read(said)[0]).toMatchObject({ type: "reasoning.delta", offset: 5, text: " 🦀" });
    expect(at(7).read(said)[0]).toMatchObject({ type: "reasoning.delta", offset: 6, text: "🦀" });
    expect(at(8).read(said)).toMatchObject([{ type: "text.delta", offset: 8, text: " time" }]);
    expect(at(13).read(said)).toEqual([]);
  });

  it("waits where it was ahead of what another process has written down", () => {
    const reader = new LiveReader({ step: 0, attempt: 1, offset: 6 });
    expect(reader.read(live([text("Once")]))).toEqual([]);
    expect(reader.read(live([text("Once up")]))).toMatchObject([{ offset: 6, text: "p" }]);
  });

  it("hears of a new attempt, and nothing any more of an old one", () => {
    const reader = new LiveReader({ step: 0, attempt: 1, offset: 3 });
    expect(reader.read(live([text("There")], { attempt: 2 }))).toMatchObject([
      { type: "step.restarted", step: 0, attempt: 2 },
      { type: "text.delta", attempt: 2, offset: 0, text: "There" },
    ]);
    expect(reader.read(live([text("Once upon")], { attempt: 1 }))).toEqual([]);
    // The next answer is not the same one begun anew.
    expect(reader.read(live([text("And")], { step: 1, attempt: 4 }))).toMatchObject([{ step: 1, offset: 0 }]);
    expect(reader.read(live([text("There")], { attempt: 5 }))).toEqual([]);
  });

  it("looks only at what is new", () => {
    const segments = Array.from({ length: 1_000 }, (_, index) => text(`${index} `));
    let looks = 0;
    const watched = new Proxy(segments, {
      get: (list, key) => {
        if (/^\d+$/.test(String(key))) looks++;
        return Reflect.get(list, key);
      },
    });
    const reader = new LiveReader();
    reader.read(live(watched));
    looks = 0;
    segments.push(text("more"));
    expect(reader.read(live(watched))).toMatchObject([{ text: "more" }]);
    expect(reader.read(live(watched))).toEqual([]);
    expect(looks).toBe(1);
  });

  it.each([
    { step: -1, attempt: 0, offset: 0 },
    { step: 0, attempt: 0.5, offset: 0 },
    { step: 0, attempt: 0, offset: Number.NaN },
    { step: 0, attempt: 0 } as LivePosition,
  ])("cannot come back to what is no place: %o", (place) => {
    expect(() => new LiveReader(place)).toThrow("invalid_stream_position");
  });
});

describe("a reader, when the answer is committed", () => {
  const words = "Once upon a time.";
  const answer = { step: 0, words, commit: 4 };

  it("is told the words that it has not heard, wherever they came from", () => {
    const reader = new LiveReader();
    reader.read(live([reasoning("Hm."), text("Once "), input("{}"), text("upon")], { commit: 4 }));
    expect(reader.finish(answer)).toEqual([{ type: "text.delta", step: 0, attempt: 1, offset: 14, text: " a time." }]);
    expect(new LiveReader().finish(answer)).toEqual([
      { type: "text.delta", step: 0, attempt: 4, offset: 0, text: words },
    ]);
  });

  it("is told nothing when it has heard them all", () => {
    const reader = new LiveReader();
    reader.read(live([text(words)], { commit: 4 }));
    expect(reader.finish(answer)).toEqual([]);
    expect(new LiveReader().finish({ ...answer, words: "" })).toEqual([]);
  });

  it("is told all of them when it has heard others, or may have", () => {
    const anew = [
      { type: "step.restarted", step: 0, attempt: 4 },
      { type: "text.delta", step: 0, attempt: 4, offset: 0, text: words },
    ];
    const reader = new LiveReader();
    reader.read(live([text("There was")], { commit: 4 }));
    expect(reader.finish(answer)).toEqual(anew);
    const back = new LiveReader({ step: 0, attempt: 1, offset: 6 });
    back.read(live([text("Once")], { commit: 4 }));
    expect(back.finish(answer)).toEqual(anew);
    // Something was committed since: the model was asked again.
    const earlier = new LiveReader();
    earlier.read(live([reasoning("Hm."), text("Once")], { commit: 3 }));
    expect(earlier.finish(answer)).toEqual(anew);
    const unspoken = new LiveReader();
    unspoken.read(live([reasoning("Hm.")], { commit: 3 }));
    expect(unspoken.finish({ ...answer, words: "" })).toEqual(anew.slice(0, 1));
  });

  it("goes on in the middle of the words it was in when it came back", () => {
    const back = new LiveReader({ step: 0, attempt: 1, offset: 8 });
    back.read(live([reasoning("Hm."), text("Once ")], { commit: 4 }));
    expect(back.finish(answer)).toMatchObject([{ type: "text.delta", offset: 8, text: "upon a time." }]);
  });

  it("takes what is said next for another answer, also of the same step", () => {
    const reader = new LiveReader();
    reader.read(live([text("Once")]));
    reader.finish({ ...answer, words: "Once" });
    expect(reader.read(live([text("There")], { attempt: 3 }))).toMatchObject([{ type: "text.delta", offset: 0 }]);
  });
});
