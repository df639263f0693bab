import { describe, expect, it } from "vitest";
import { operationError } from "../operation-error.ts";
import { type ChannelPorts, handle } from "./channel-pipeline.ts";
import { normalize } from "./external-message.ts";

type Payload = { readonly text: string };

function ports(chat: ChannelPorts<Payload>["chat"], more: Partial<ChannelPorts<Payload>> = {}) {
  const log: string[] = [];
  const made: ChannelPorts<Payload> = {
    channel: { agent: "writer", client_name: "desk" },
    read: ({ text }) =>
      normalize({ text, connector_id: "desk", external_provider: "desk", external_conversation_id: "c1" }),
    session: async () => "s1",
    remember: async (_, session) => void log.push(`remember ${session}`),
    chat,
    sendResponse: async (text) => void log.push(`say ${text}`),
    sendError: async (text) => void log.push(`error ${text}`),
    onProcessingStart: () => log.push("start"),
    onProcessingEnd: () => log.push("end"),
    onComplete: (status) => log.push(`complete ${status}`),
    ...more,
  };
  return { log, made };
}

describe("the way of a message through a channel", () => {
  it("remembers a session that is another one, and not the one that is known", async () => {
    const known = ports(async () => ({ session_id: "s1", reply: "Hi" }));
    await handle({ text: "Hello" }, known.made);
    expect(known.log).toEqual(["start", "end", "say Hi", "complete sent"]);

    const other = ports(async () => ({ session_id: "s2", reply: "Hi" }));
    await handle({ text: "Hello" }, other.made);
    expect(other.log).toContain("remember s2");
  });

  it("ends what it began, and says that it failed, when the chat or the sender throws", async () => {
    const broken = ports(async () => {
      throw new Error("No chat.");
    });
    await expect(handle({ text: "Hello" }, broken.made)).rejects.toThrow("No chat.");
    expect(broken.log).toEqual(["start", "end"]);

    const mute = ports(async () => ({ reply: "Hi" }), {
      sendResponse: async () => {
        throw new Error("No line.");
      },
    });
    await expect(handle({ text: "Hello" }, mute.made)).rejects.toThrow("No line.");
    expect(mute.log).toEqual(["start", "end", "complete failed"]);
  });

  it("apologises for an answer that is none, and for one that says nothing", async () => {
    for (const answer of ["text", [1], { reply: " " }, { messages: [{ role: "user", content: "x" }] }]) {
      const { log, made } = ports(async () => answer);
      await handle({ text: "Hello" }, made);
      expect(log.at(-2)).toMatch(/^error Sorry/);
      expect(log.at(-1)).toBe("complete failed");
    }
    const { made } = ports(async () => "text");
    expect((await handle({ text: "Hello" }, made)).error?.code).toBe("chat_ability_invalid_result");
  });

  it("passes on the words of a refusal", async () => {
    const { log, made } = ports(async () => operationError("full", "We are full."));
    expect(await handle({ text: "Hello" }, made)).toMatchObject({ status: "failed", error: { code: "full" } });
    expect(log).toContain("error We are full.");
  });
});
