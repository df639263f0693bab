import { describe, expect, it } from "vitest";
import { clientContext, normalize } from "./external-message.ts";

const minimal = { connector_id: "Slack_Main", external_provider: "slack" };

describe("an external message", () => {
  it("has every field, and nothing that nobody knows", () => {
    expect(normalize({ ...minimal, text: " hi ", secret: 1 })).toEqual({
      text: "hi",
      connector_id: "slack-main",
      external_provider: "slack",
      external_conversation_id: null,
      external_message_id: null,
      sender_id: null,
      from_self: false,
      room_kind: null,
      attachments: [],
      raw: {},
    });
  });

  it("keeps ids as text, and none that are blank or no ids", () => {
    const ids = { external_conversation_id: " C1 ", external_message_id: 12, sender_id: { a: 1 } };
    expect(normalize({ ...minimal, ...ids })).toMatchObject({
      external_conversation_id: "C1",
      external_message_id: "12",
      sender_id: null,
    });
  });

  it("keeps attachments in order, and a copy of what the service sent", () => {
    const raw = { event: { n: 1 } };
    const message = normalize({ ...minimal, attachments: { b: { type: "image" }, a: "raw" }, raw, from_self: "yes" });
    raw.event.n = 2;
    expect(message).toMatchObject({
      ...{ attachments: [{ type: "image" }, "raw"], raw: { event: { n: 1 } }, from_self: true },
    });
    expect(normalize({ ...minimal, attachments: "none", raw: ["list"], from_self: "0" })).toMatchObject({
      ...{ attachments: [], raw: {}, from_self: false },
    });
  });

  it.each([
    ["connector_id", { connector_id: "a b" }],
    ["connector_id", { connector_id: "_a" }],
    ["connector_id", { connector_id: null, external_provider: null }],
    ["external_provider", { external_provider: "" }],
    ["room_kind", { room_kind: "lobby" }],
    ["room_kind", { room_kind: "DM" }],
  ])("is refused for its %s: %j", (field, parts) => {
    expect(() => normalize({ ...minimal, ...parts })).toThrow(`invalid_agent_external_message: ${field}`);
  });

  it("tells a chat where it came from", () => {
    expect(clientContext({ ...minimal, sender_id: "u", room_kind: " dm " }, "bridge")).toEqual({
      source: "bridge",
      connector_id: "slack-main",
      client_name: "slack-main",
      external_provider: "slack",
      external_conversation_id: null,
      external_message_id: null,
      sender_id: "u",
      room_kind: "dm",
    });
    expect(clientContext(minimal)).toMatchObject({ source: "channel" });
  });
});
