import { describe, expect, it } from "vitest";
import { fromArray } from "./bridge-item.ts";

const item = { client_id: "relay", agent: "support", content: "Hello" };

describe("an item for a bridge", () => {
  it("is what an assistant has said, complete and waiting, unless told otherwise", () => {
    const now = new Date("2026-01-02T03:04:05Z");
    const made = fromArray({ ...item, x: 1 }, now);
    expect(made).toEqual({
      queue_id: expect.stringMatching(/^bridge_[0-9a-f]{32}$/),
      client_id: "relay",
      connector_id: null,
      agent: "support",
      session_id: null,
      role: "assistant",
      content: "Hello",
      completed: true,
      created_at: "2026-01-02T03:04:05.000Z",
      delivery_status: "pending",
      metadata: {},
    });
    expect(fromArray(item).queue_id).not.toBe(made.queue_id);
  });

  it("keeps what is given", () => {
    const given = { queue_id: " q1 ", connector_id: "Matrix_X", session_id: " s1 ", role: "Tool", completed: 0 };
    const more = { delivery_status: "Failed", metadata: { m: 1 }, created_at: "t", content: 12 };
    expect(fromArray({ ...item, ...given, ...more })).toMatchObject({
      ...{ queue_id: "q1", connector_id: "matrix-x", session_id: "s1", role: "tool", completed: false },
      ...{ delivery_status: "failed", metadata: { m: 1 }, created_at: "t", content: "12" },
    });
  });

  it.each([
    ["queue_id", { queue_id: " " }],
    ["client_id", { client_id: "!!" }],
    ["agent", { agent: null }],
    ["role", { role: "user" }],
    ["content", { content: " " }],
    ["content", { content: ["Hello"] }],
    ["delivery_status", { delivery_status: "sent" }],
  ])("is refused for its %s: %j", (field, parts) => {
    expect(() => fromArray({ ...item, ...parts })).toThrow(`invalid_agent_bridge_queue_item: ${field}`);
  });
});
