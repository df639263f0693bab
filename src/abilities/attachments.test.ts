import { describe, expect, it } from "vitest";
import { ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { says } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";

const file = { name: "a.txt", mimeType: "text/plain", data: "eA==" };

async function open(): Promise<DeskWorld & { readonly thread_id: string }> {
  const world = await deskWorld({ agents: [agent({ slug: "shop", model: () => says("Done.") })] });
  await world.grant("shop", 6);
  const own = world.as(6, ceiling(6, "threads.write", "chat"));
  const { id } = await own("holdfast/open-thread", { agent: "shop", key: "t" });
  return { ...world, thread_id: id };
}

/** Every way in which files come along with what is said. */
const ways = (thread_id: string) =>
  [
    ["holdfast/send-message", { thread_id, content: "x", wait: true }],
    ["agents/chat", { agent: "shop", session_id: thread_id, message: "x" }],
    ["agents/chat", { agent: "shop", message: "x" }],
    ["agents/queue-chat-message", { session_id: thread_id, message: "x" }],
  ] as const;

describe("files that come along", () => {
  it("take what it takes to write a file", async () => {
    const { as, thread_id, holdfast } = await open();
    const narrow = as(6, ceiling(6, "threads.write", "chat"));
    for (const [name, input] of ways(thread_id)) {
      expect(await narrow(name, { ...input, attachments: [file] }), name).toMatchObject({ code: "ability_forbidden" });
    }
    expect(await narrow("holdfast/send-message", { ...ways(thread_id)[0][1], attachments: [] })).toMatchObject({
      status: "completed",
    });
    const state = await (await holdfast.threads.get(thread_id)).state();
    expect(await state.findFiles("/**")).toEqual([]);
    const whole = as(6, ceiling(6, "threads.write", "chat", "files.write"));
    const { id } = await whole("holdfast/open-thread", { agent: "shop", key: "u" });
    for (const [name, input] of ways(id)) {
      expect(await whole(name, { ...input, attachments: [file] }), name).not.toHaveProperty("code");
    }
  });

  it.each(["text/html\r\nX: y", "t", "", "a/b c", "x/".repeat(200)])(
    "have a type that may stand in a header, unlike %j",
    async (mimeType) => {
      const { as, thread_id } = await open();
      const own = as(6);
      await own("holdfast/open-thread", { agent: "shop", key: "own" });
      for (const [name, input] of ways(thread_id).slice(2, 3)) {
        expect(await own(name, { ...input, attachments: [{ ...file, mimeType }] })).toMatchObject({
          code: expect.stringMatching(/^invalid_(input|argument)$/),
        });
      }
      const { id } = await own("holdfast/open-thread", { agent: "shop", key: "own" });
      const sent = { thread_id: id, content: "x", attachments: [{ ...file, mimeType }] };
      expect(await own("holdfast/send-message", sent)).toMatchObject({ code: "invalid_input" });
    },
  );

  it("are not more than a message can bring", async () => {
    const { as } = await open();
    const attachments = Array.from({ length: 21 }, () => file);
    expect(await as(6)("agents/chat", { agent: "shop", message: "x", attachments })).toMatchObject({
      code: "invalid_input",
    });
  });
});
