import { describe, expect, it } from "vitest";
import { fromArray } from "./bridge-client.ts";

describe("a bridge client", () => {
  it("has a name of one spelling, and says when it was registered", () => {
    const now = new Date("2026-01-02T03:04:05Z");
    expect(fromArray({ client_id: "Message_Relay", connector_id: "!!", callback_url: " ", x: 1 }, now)).toEqual({
      client_id: "message-relay",
      connector_id: null,
      callback_url: null,
      context: {},
      registered_at: "2026-01-02T03:04:05.000Z",
    });
    expect(fromArray({ client_id: "a", registered_at: "t", context: { l: 1 } }, now)).toMatchObject({
      ...{ registered_at: "t", context: { l: 1 } },
    });
  });

  it.each(["https://b.example/cb", "myapp://host/path?q#f", "http://127.0.0.1:8080"])("may be called at %s", (url) => {
    expect(fromArray({ client_id: "a", callback_url: ` ${url} ` }).callback_url).toBe(url);
  });

  it.each(["not a url", "/cb", "b.example/cb", "https:///cb", "https://b .example", "javascript:alert(1)"])(
    "cannot be called at %s",
    (callback_url) => {
      expect(() => fromArray({ client_id: "a", callback_url })).toThrow("invalid_agent_bridge_client: callback_url");
    },
  );

  it("needs a name", () => {
    for (const client of [{ client_id: "!!!" }, {}, null]) {
      expect(() => fromArray(client)).toThrow("invalid_agent_bridge_client: client_id");
    }
  });
});
