import { describe, expect, it } from "vitest";
import * as message from "../conversation/message.ts";
import { type SubPromptUse, subPromptResult } from "./sub-prompt-result.ts";

const everything: SubPromptUse = { includeTextResponse: true, includeToolCalls: true, includeErrors: true };
const image = { id: "f1", type: "file", path: "/attachments/a.png", name: "a.png", mimeType: "image/png", size: 3 };

const asked = message.text("user", "Translate it.", { attachments: [image] });
const said = message.text("assistant", "Hallo.");
const call = (id: string, tool_name: string) =>
  message.toolCall({ tool_name, parameters: { id }, turn: 1, metadata: { tool_call_id: id } });
const result = (id: string, tool_name: string, success: boolean, content: string, metadata = {}) =>
  message.toolResult({ tool_name, content, payload: { success }, metadata: { tool_call_id: id, ...metadata } });

const looked = [call("1", "look"), result("1", "look", true, "Failed is only a word here")];
const failed = [call("2", "save"), result("2", "save", false, "The disk is full.")];

describe("subPromptResult", () => {
  it.each([
    [
      "words and calls",
      [asked, said, ...looked],
      {},
      true,
      'Hallo.\n\nCalls and their results:\n- look({"id":"1"}): Failed is only a word here',
    ],
    ["words alone", [asked, said, ...looked], { includeToolCalls: false }, true, "Hallo."],
    [
      "calls alone",
      [said, ...looked],
      { includeTextResponse: false },
      true,
      'Calls and their results:\n- look({"id":"1"}): Failed is only a word here',
    ],
    [
      "nothing that may be told",
      [said, ...looked],
      { includeTextResponse: false, includeToolCalls: false },
      true,
      "The prompt was carried out.",
    ],
    ["a prompt that said nothing", [asked], {}, true, "The prompt was carried out."],
    [
      "a call that failed",
      [said, ...looked, ...failed],
      {},
      false,
      "Calls that the prompt made failed:\n- save: The disk is full.\nThese succeeded: look.",
    ],
    [
      "only the errors",
      [...looked, ...failed],
      { includeToolCalls: false },
      false,
      "Calls that the prompt made failed:\n- save: The disk is full.",
    ],
    ["no errors", [...failed], { includeErrors: false }, false, "The call that the prompt made failed."],
    [
      "a call without result",
      [call("3", "wait")],
      {},
      false,
      "The call that the prompt made failed:\n- wait: There is no result of this call.",
    ],
    [
      "a call that is not to be shown",
      [said, call("4", "x"), result("4", "x", false, "No.", { removed: true })],
      {},
      true,
      "Hallo.",
    ],
    ["words in parts", [message.text("assistant", [{ type: "text", text: "One." }, "Two."])], {}, true, "One.\nTwo."],
  ] as const)("tells of %s", (_, inner, uses, success, text) => {
    expect(subPromptResult(inner, { ...everything, ...uses })).toEqual({ success, text, attachments: [] });
  });

  it("hands on the files of what the prompt said, not of what it was told", () => {
    const shown = message.text("assistant", "See.", { attachments: [image] });
    expect(subPromptResult([asked, shown], everything).attachments).toEqual([image]);
  });
});
