import { describe, expect, it } from "vitest";
import * as message from "../conversation/message.ts";
import type { JsonMap } from "../json.ts";
import { type HistoryView, projectHistory } from "./project-history.ts";

type Message = message.Message;

const view: HistoryView = {
  ...{ side: "a", isDual: false, includeChat: true, includePastTools: true, from: 0 },
  reasoning: { includes: false, prompt: "main" },
};
const asA: HistoryView = { ...view, isDual: true };
const asB: HistoryView = { ...asA, side: "b" };

const call = (id: string, metadata: JsonMap = {}, turn = 1) =>
  message.toolCall({ tool_name: "look", parameters: {}, turn, metadata: { tool_call_id: id, ...metadata } });
const result = (id: string, metadata: JsonMap = {}) =>
  message.toolResult({
    ...{ tool_name: "look", content: `Result ${id}`, payload: { success: true } },
    metadata: { tool_call_id: id, ...metadata },
  });
const text = message.text;

/** A line for every message: what a reader of the request would see. */
function lines(messages: readonly Message[]): string[] {
  return messages.map(({ type, role, content, metadata }) =>
    type === "tool_call" || type === "tool_result" ? `${type} ${metadata.tool_call_id}` : `${role}: ${content}`,
  );
}

const chat = [
  text("user", "Hello."),
  text("assistant", "Let me look."),
  call("1"),
  result("1"),
  text("assistant", "Found it."),
  text("user", "And now?"),
  call("2"),
  result("2"),
];

const talk = [
  text("system", "Be brief."),
  text("assistant", "I look."),
  call("1"),
  result("1"),
  text("user", "I check.", { side: "b" }),
  call("2", { side: "b" }),
  result("2", { side: "b" }),
  text("assistant", "It keeps failing.", { type: "identical_failure_nudge" }),
  text("assistant", "Done."),
];

describe("projectHistory", () => {
  it("shows one model what is stored, the same objects in the same order", () => {
    const shown = projectHistory(chat, view);
    expect(shown).toEqual(chat);
    expect(shown.every((each, index) => each === chat[index])).toBe(true);
  });

  it("leaves out everything from before this run where a prompt includes no chat", () => {
    expect(projectHistory(chat, { ...view, includeChat: false, from: 5 })).toEqual(chat.slice(5));
    expect(lines(projectHistory(chat, { ...view, includeChat: false, from: 7 }))).toEqual([]);
  });

  it("leaves out calls from before this run and keeps those of this one", () => {
    expect(lines(projectHistory(chat, { ...view, includePastTools: false, from: 5 }))).toEqual([
      "user: Hello.",
      "assistant: Let me look.",
      "assistant: Found it.",
      "user: And now?",
      "tool_call 2",
      "tool_result 2",
    ]);
  });

  it("shows side A its own calls and the words of both", () => {
    expect(lines(projectHistory(talk, asA))).toEqual([
      "system: Be brief.",
      "assistant: I look.",
      "tool_call 1",
      "tool_result 1",
      "user: I check.",
      "assistant: It keeps failing.",
      "assistant: Done.",
    ]);
  });

  it("shows side B itself as the assistant, its own calls, and the other one as the user", () => {
    expect(lines(projectHistory(talk, asB))).toEqual([
      "system: Be brief.",
      "user: I look.",
      "assistant: I check.",
      "tool_call 2",
      "tool_result 2",
      "user: Done.",
    ]);
  });

  it("changes nothing when it is asked again", () => {
    const thought = text("user", "Hm.", { side: "b", reasoning: [{ text: "Hm." }], prompt: "main" });
    for (const each of [view, asA, asB]) {
      const once = projectHistory([...talk, thought, call("3", { side: each.side })], each);
      const twice = projectHistory(once, each);
      expect(twice).toEqual(once);
      expect(twice.every((again, index) => again === once[index])).toBe(true);
    }
  });

  it.each<readonly [string, readonly Message[], readonly string[]]>([
    ["a silent message is shown", [text("user", "Psst.", { silent: true })], ["user: Psst."]],
    ["an answer that failed is not", [text("assistant", "Oh", { status: "failed" })], []],
    [
      "a removed call goes with its result",
      [text("assistant", "So."), call("1"), result("1", { removed: true })],
      ["assistant: So."],
    ],
    ["a removed result alone goes too", [result("1", { removed: true })], []],
    ["an answer of nothing is not shown", [text("assistant", " \n"), text("assistant", [])], []],
    ["a message of a person with nothing but files is", [text("user", "", { attachments: [] })], ["user: "]],
    [
      "an answer with nothing but files is",
      [text("assistant", "", { attachments: [{ path: "/a.png" }] })],
      ["assistant: "],
    ],
    [
      "what stands within a block comes after it",
      [call("1"), text("user", "Hey."), result("1")],
      ["tool_call 1", "tool_result 1", "user: Hey."],
    ],
    ["a half is made whole or left out", [result("0"), call("1")], ["tool_call 1", "tool_result 1"]],
  ])("%s", (_, messages, expected) => {
    expect(lines(projectHistory(messages, view))).toEqual(expected);
  });

  describe("what a model thought", () => {
    const kept = { reasoning: [{ text: "Hm.", provider_id: "local" }], provider_metadata: { local: { id: "r" } } };
    const answer = [
      text("assistant", "Let me look.", { ...kept, prompt: "main" }),
      call("1", { provider_metadata: { local: { id: "c" } } }),
      result("1"),
    ];
    const stored = [...answer, text("assistant", "Done.", { provider_metadata: { local: { id: "d" } } })];
    const past = { ...view, from: 9 };

    it("is left out later, and with it what its provider keeps with the same answer", () => {
      const shown = projectHistory(stored, past);
      expect(shown.map(({ metadata }) => Object.keys(metadata))).toEqual([
        ["prompt"],
        ["tool_call_id"],
        ["tool_call_id"],
        ["provider_metadata"],
      ]);
      expect(stored[0]?.metadata.reasoning).toBeDefined();
    });

    it("takes nothing from the next answer, although that has no words", () => {
      const next = call("2", { provider_metadata: { local: { id: "e" } } }, 2);
      const shown = projectHistory([...answer, next, result("2")], past);
      expect(shown.slice(3)).toEqual([next, result("2")]);
    });

    it("is shown to the same prompt that asks for it", () => {
      expect(projectHistory(stored, { ...past, reasoning: { includes: true, prompt: "main" } })).toEqual(stored);
    });

    it("is shown to no other prompt, asked for or not", () => {
      for (const from of [0, stored.length]) {
        const shown = projectHistory(stored, { ...view, from, reasoning: { includes: true, prompt: "other" } });
        expect(shown[0]?.metadata).toEqual({ prompt: "main" });
      }
    });

    it("stays within a run, because providers want it back with the results", () => {
      expect(projectHistory(stored, view)).toEqual(stored);
    });

    it("is never shown to the other side", () => {
      const [seen] = projectHistory(stored, { ...asB, reasoning: { includes: true, prompt: "main" } });
      expect(seen).toMatchObject({ role: "user", content: "Let me look." });
      expect(seen?.metadata).not.toHaveProperty("reasoning");
    });

    it("makes an answer without words one that is shown", () => {
      const silent = [text("assistant", "", kept)];
      expect(projectHistory(silent, view)).toEqual(silent);
      expect(projectHistory(silent, { ...view, from: 1 })).toEqual([]);
    });
  });
});
