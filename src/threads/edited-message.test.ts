import { describe, expect, it } from "vitest";
import * as message from "../contracts/conversation/message.ts";
import { editedMessage } from "./edited-message.ts";

const answer = message.normalize({
  ...{ id: "m1", role: "assistant", content: "Two." },
  metadata: { side: "b", reasoning: [{ text: "Count.", provider_id: "p" }], provider_metadata: { p: { itemId: "i" } } },
});

describe("a message in other words", () => {
  it("is whoever's it was, without what the model thought of the old ones and what a provider keeps them by", () => {
    expect(editedMessage(answer, "Three.")).toEqual(
      message.normalize({ id: "m1", role: "assistant", content: "Three.", metadata: { side: "b" } }),
    );
  });

  it("may come with more that is known of it", () => {
    const edited = editedMessage(answer, { content: "Three.", metadata: { counted: true } });
    expect(edited).toMatchObject({ role: "assistant", metadata: { side: "b", counted: true } });
  });

  it("is text or a list of parts, as the new words are", () => {
    const parts = [{ type: "text", text: "Three." }];
    const listed = editedMessage(answer, { content: parts });
    expect(listed).toMatchObject({ type: "multimodal_part", role: "assistant", content: parts });
    expect(editedMessage(listed, "Four.")).toMatchObject({ type: "text", content: "Four.", payload: {} });
  });

  it("tells another result of the same call, and nothing of the one before", () => {
    const metadata = { tool_call_id: "c" };
    const payload = { success: true, result: { card: 424242424242 }, metadata: { seen: 424242424242 } };
    const told = message.toolResult({ content: '{"card":424242424242}', tool_name: "shop/card", payload, metadata });
    const edited = editedMessage(told, "hidden");
    expect(edited).toMatchObject({ type: "tool_result", content: "hidden", metadata, payload: { result: "hidden" } });
    expect(JSON.stringify(edited)).not.toContain("424242424242");

    const failed = { success: false, error: "No card 424242424242.", metadata: { error_type: "declined" } };
    expect(
      editedMessage(message.normalize({ ...told, payload: { ...failed, tool_name: "shop/card" } }), "No card."),
    ).toMatchObject({
      payload: { success: false, tool_name: "shop/card", error: "No card.", metadata: { error_type: "declined" } },
    });
  });
});

it("is another message where it says whose it is", () => {
  expect(editedMessage(answer, { role: "user", content: "Three?" })).toEqual(message.text("user", "Three?"));
});
