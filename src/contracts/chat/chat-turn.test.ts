import { describe, expect, it } from "vitest";
import { readTurn } from "./chat-turn.ts";

describe("a turn of a chat", () => {
  it("goes by its words where input_messages is no list", () => {
    for (const input_messages of ["x", 5, true, null]) {
      expect(readTurn({ message: " hi ", input_messages })).toEqual({ message: "hi", continuation: [] });
      expect(readTurn({ input_messages })).toMatchObject({ code: "agents_chat_empty_message" });
    }
    for (const input_messages of [[5], { type: "tool_call" }]) {
      expect(readTurn({ message: "hi", input_messages })).toMatchObject({
        code: "agents_chat_invalid_input_messages",
      });
    }
  });
});
