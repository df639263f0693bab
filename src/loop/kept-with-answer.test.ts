import { expect, it } from "vitest";
import { metadataOf } from "./kept-with-answer.ts";

it("keeps what a model thought and what its provider wants back, and nothing that says what a message is", () => {
  const kept = { reasoning: [{ text: "Hm." }], provider_metadata: { local: { id: "r1" } } };
  expect(metadataOf({ message_metadata: { ...kept, type: "tool_call", error: "e", stopped: true } })).toEqual(kept);
  for (const message_metadata of [null, "x", [], {}]) expect(metadataOf({ message_metadata })).toEqual({});
  expect(metadataOf({})).toEqual({});
});
