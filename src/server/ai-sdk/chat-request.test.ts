import { expect, it } from "vitest";
import { readUserMessage } from "./chat-request.ts";

const said = (...parts: { readonly type: string }[]) => ({ id: "m", role: "user" as const, parts });
const words = (text: string) => ({ type: "text", text });
const file = { type: "file", url: "data:text/plain;base64,eA==" };

it("refuses a message with neither words nor files", () => {
  for (const nothing of [said(), said(words("")), said(words(" "), words("\n")), said({ type: "step-start" })]) {
    expect(() => readUserMessage(nothing)).toThrow("The message has neither words nor files.");
  }
  expect(readUserMessage(said(words(""), file))).toMatchObject({ content: "", attachments: [{ data: "eA==" }] });
  expect(readUserMessage(said(words("Good"), words("morning")))).toEqual({ content: "Good\nmorning", attachments: [] });
});
