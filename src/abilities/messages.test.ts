import { describe, expect, it } from "vitest";
import { deskWorld } from "../../test/desk-world.ts";
import type { Json } from "../contracts/json.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";

async function opened() {
  const world = await deskWorld({ agents: [agent({ slug: "shop", model: async () => says("Done.") })] });
  const own = world.as(1);
  const { id } = await own("holdfast/open-thread", { agent: "shop" });
  return { own, thread_id: String(id), thread: await world.holdfast.threads.get(String(id)) };
}

const nothing: readonly Json[] = ["", " \n\t", [], [{ type: "text", text: " " }]];

describe("a message that says nothing", () => {
  it("is refused at every door's operation before anything is stored", async () => {
    const { own, thread_id, thread } = await opened();
    for (const content of nothing) {
      for (const how of [{}, { wait: true }, { queue: true }, { silent: true }, { attachments: [] }]) {
        expect(await own("holdfast/send-message", { thread_id, content, ...how })).toMatchObject({
          code: "invalid_input",
          message: expect.stringContaining("content: there are neither words nor files"),
        });
      }
    }
    expect(await thread.messages()).toEqual([]);
    expect(await thread.left.waiting()).toEqual([]);
  });

  it("is one all the same when it brings a file, or something other than words", async () => {
    const { own, thread_id, thread } = await opened();
    const file = { name: "a.txt", mimeType: "text/plain", data: "eA==" };
    const picture = { type: "image", image: "eA==" };
    for (const input of [{ content: "", attachments: [file] }, { content: [picture] }]) {
      expect(await own("holdfast/send-message", { thread_id, wait: true, ...input })).toMatchObject({
        status: "completed",
      });
    }
    expect(await thread.messages()).toHaveLength(4);
  });
});

it("a message that is edited stays whose it was, put in words or in parts", async () => {
  const { own, thread_id, thread } = await opened();
  await own("holdfast/send-message", { thread_id, wait: true, content: "Hello" });
  await own("holdfast/edit-message", { thread_id, seq: 0, content: [{ type: "text", text: "Good day" }] });
  await own("holdfast/edit-message", { thread_id, seq: 1, content: "Very well." });
  await thread.wait();
  expect(await thread.messages()).toMatchObject([
    { message: { role: "user", content: [{ text: "Good day" }] } },
    { message: { role: "assistant", content: "Very well." } },
  ]);
  await own("holdfast/edit-message", { thread_id, seq: 1, content: [{ type: "text", text: "Done, and well." }] });
  await thread.wait();
  expect((await thread.messages())[1]).toMatchObject({ message: { role: "assistant", type: "multimodal_part" } });
});

describe("a message that is to be erased", () => {
  it("is not said to be gone while a run waits for somebody, and is gone once that is stopped", async () => {
    const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const model = scriptedModel([callsTool("shop/pay"), says("Done.")]);
    const world = await deskWorld({ agents: [agent({ slug: "shop", model, tools: [pay] })] });
    const own = world.as(1);
    const { id: thread_id } = await own("holdfast/open-thread", { agent: "shop" });
    await own("holdfast/send-message", { thread_id, content: "My secret words.", wait: true });
    const text = async () => JSON.stringify(await own("holdfast/list-messages", { thread_id }));

    const answer = await own("holdfast/delete-message", { thread_id, seq: 0, erase: true });
    expect(answer).toEqual({ deleted: false, detail: expect.stringMatching(/accepted.*waits for somebody.*stop/) });
    expect(await text()).toContain("My secret words.");

    await own("holdfast/stop-thread", { thread_id });
    const thread = await world.holdfast.threads.get(String(thread_id));
    await thread.wait();
    expect(await text()).not.toContain("My secret words.");
    const { events } = await thread.export();
    expect(
      events.some(({ records }) => records.includes('"messages.erased"') && records.includes('"acting_user_id":1')),
    ).toBe(true);
  });
});
