import { describe, expect, it } from "vitest";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../holdfast.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { type ChannelOptions, channel } from "./channel.ts";

const usual: ChannelOptions = {
  name: "Shop_Desk",
  agent: "support",
  secret: "s",
  extract: () => ({ ignored: "all" }),
  send: async () => undefined,
};

describe("a channel", () => {
  it("has a name that can stand in an address, and its provider's unless told otherwise", () => {
    expect(channel(usual)).toMatchObject({ name: "shop-desk", provider: "shop-desk" });
    expect(channel({ ...usual, provider: "Slack" })).toMatchObject({ provider: "slack" });
  });

  it.each([
    ["name", { name: "../up" }],
    ["agent", { agent: " " }],
    ["extract", { extract: undefined }],
    ["send", { send: "mail" }],
    ["verify", { secret: undefined }],
    ["verify", { verify: () => true }],
    ["secret", { secret: "" }],
    ["secret", { secret: ["s", " "] }],
  ])("is refused when its %s cannot be used", (field, changed) => {
    expect(() => channel({ ...usual, ...changed } as unknown as ChannelOptions)).toThrow(
      expect.objectContaining({ code: "invalid_definition", detail: expect.stringContaining(field) }),
    );
  });

  it("is refused by the runtime when its agent is not there, or its name is taken", async () => {
    const support = agent({ slug: "support", model: scriptedModel([says("Hi")]) });
    const open = (channels: ReturnType<typeof channel>[]) =>
      createHoldfast({ backend: sqlite(":memory:"), agents: [support], channels, drainsOnSignal: false });

    await expect(open([channel({ ...usual, agent: "nobody" })])).rejects.toMatchObject({ code: "invalid_definition" });
    await expect(open([channel(usual), channel(usual)])).rejects.toMatchObject({ code: "invalid_definition" });
    await expect(open([{ ...channel(usual) }])).rejects.toMatchObject({ code: "invalid_definition" });
  });
});
