import { describe, expect, it } from "vitest";
import { storageKey } from "./inbound-message.ts";

describe("the key of a message", () => {
  it("folds the provider, trims the id, and is nothing without both", () => {
    expect(storageKey("slack", "m1")).toBe("wp_agent_message_seen_67b59c4b792f87d958472849e586487d");
    expect(storageKey("SLACK ", " m1 ")).toBe(storageKey("slack", "m1"));
    expect(storageKey("slack", "M1")).not.toBe(storageKey("slack", "m1"));
    for (const [provider, id] of [
      ["", "m1"],
      [" ", "m1"],
      ["slack", " "],
      ["slack", null],
      [{}, "m1"],
    ]) {
      expect(storageKey(provider, id)).toBeNull();
    }
  });
});
