import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { deskWorld } from "../../../test/desk-world.ts";
import { says } from "../../models/scripted/scripted-model.ts";
import { agent } from "../../threads/agent.ts";
import { createApp } from "../app.ts";

const ADMINISTRATORS = [1, 2] as const;

async function served() {
  const model = async () => says("Good morning.");
  const { holdfast } = await deskWorld({
    agents: [agent({ slug: "support", model })],
    trust: { administrators: ADMINISTRATORS },
  });
  const closing = new AbortController().signal;
  const app = createApp(holdfast, { closing });

  /** Says something to the agent as somebody. */
  async function complete(owner_user_id: number, content: unknown, headers: Readonly<Record<string, string>> = {}) {
    const { token } = await holdfast.tokens.create({ agent: "visitor", owner_user_id });
    const response = await app.request("/v1/chat/completions", {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${token}`, "content-type": "application/json", host: "127.0.0.1" },
        ...headers,
      },
      body: JSON.stringify({ model: "support", messages: [{ role: "user", content }] }),
    });
    return (await response.json()) as { readonly holdfast: { readonly thread_id: string } };
  }

  return { holdfast, closing, complete };
}

it("keeps those apart who happen to use the same idempotency key, administrators too", async () => {
  const { holdfast, complete } = await served();
  const key = { "idempotency-key": "mail-981" };
  const threads = [];
  for (const user of ADMINISTRATORS) threads.push((await complete(user, `I am ${user}.`, key)).holdfast.thread_id);
  expect(new Set(threads).size).toBe(2);
  const messages = await (await holdfast.threads.get(threads[1] ?? "")).messages();
  expect(messages.map(({ message }) => message.content)).toEqual(["I am 2.", "Good morning."]);
});

it("opens no thread for what it does not take", async () => {
  const { holdfast, complete } = await served();
  const picture = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };
  expect(await complete(1, [picture])).toMatchObject({ error: { code: "invalid_input", param: "messages.0.content" } });
  for (const nothing of ["", " \n", []]) {
    expect(await complete(1, nothing)).toMatchObject({ error: { code: "invalid_input", param: "messages.0.content" } });
  }
  expect(await holdfast.threads.list()).toEqual([]);
});

it("leaves nothing behind on a server that runs for ever", async () => {
  const { closing, complete } = await served();
  const before = getEventListeners(closing, "abort").length;
  for (const words of ["Hello.", "Hello again."]) expect(await complete(1, words)).toHaveProperty("choices");
  expect(getEventListeners(closing, "abort")).toHaveLength(before);
});
