// Promise: what comes in over a channel is answered once, whoever sends it again; what is forged is not looked at.
import { describe, expect, it, onTestFinished } from "vitest";
import { webhookChannel } from "../src/channels/webhook-channel.ts";
import { operationError } from "../src/contracts/operation-error.ts";
import type { Model } from "../src/models/model.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { channelsDoor } from "../src/server/channels.ts";
import { serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { signedWebhook, webhookReceiver } from "./webhook-receiver.ts";

const secret = "a shared secret";

/** Says what was said to it, and counts how often it was asked. */
function echo() {
  const asked: string[] = [];
  const model: Model = (messages) => {
    const said = String(messages.at(-1)?.content);
    asked.push(said);
    return { content: `You said: ${said}`, tool_calls: [] };
  };
  return { asked, friend: agent({ slug: "friend", model }) };
}

async function open(
  world: World,
  agents: ReturnType<typeof agent> | ReturnType<typeof agent>[],
  options: Partial<Parameters<typeof webhookChannel>[0]> = {},
) {
  const receiver = await webhookReceiver();
  const shop = webhookChannel({ name: "shop", agent: "friend", secret, replyUrl: receiver.url, ...options });
  const holdfast = await world.open(agents, { channels: [shop] });
  const server = await serve(holdfast, { port: 0, openDoors: [channelsDoor] });
  onTestFinished(() => server.close());
  const post = (webhook: RequestInit, name = "shop") => fetch(`${server.url}/channels/${name}`, webhook);
  const says = (message_id: string, text: string, conversation_id = "c1") =>
    post(signedWebhook({ message_id, text, conversation_id, sender_id: "u1" }, secret));
  return { holdfast, server, receiver, post, says };
}

eachDatabase((newWorld) => {
  describe("a message over a signed webhook", () => {
    it("is taken in at once, and answered with a signed webhook", async () => {
      const { friend } = echo();
      const { receiver, says, holdfast } = await open(await newWorld(), friend);

      const response = await says("m1", "Hello");

      expect(response.status).toBe(202);
      expect(await response.json()).toEqual({ status: "accepted", message_id: "m1" });
      const [reply] = await receiver.until(1);
      const [thread] = await holdfast.threads.list();
      expect(reply?.body).toEqual({
        ...{ type: "reply", text: "You said: Hello", conversation_id: "c1", in_reply_to: "m1" },
        thread_id: thread?.id,
      });
      const time = Number(reply?.headers["x-signature-timestamp"]);
      expect(signedWebhook(reply?.raw ?? "", secret, { time }).headers["X-Signature-256"]).toBe(
        reply?.headers["x-signature-256"],
      );
      expect(reply?.headers["idempotency-key"]).toBe(`${thread?.id}:1:reply`);
    });

    it("goes on in the thread of its conversation, which is nobody else's", async () => {
      const { friend } = echo();
      const { receiver, says, holdfast } = await open(await newWorld(), friend);

      await says("m1", "One", "c1");
      await receiver.until(1);
      await says("m2", "Two", "c1");
      await says("m3", "Three", "c2");
      await receiver.until(3);

      const threads = await holdfast.threads.list();
      expect(threads).toHaveLength(2);
      const subjects = await Promise.all(threads.map(({ id }) => holdfast.threads.subject(id)));
      expect(
        subjects.map(({ owner }) => owner).sort((one, other) => (String(one?.key) < String(other?.key) ? -1 : 1)),
      ).toEqual([
        { type: "channel", key: "shop:c1" },
        { type: "channel", key: "shop:c2" },
      ]);
      expect(subjects.map(({ principal }) => principal.acting_user_id)).toEqual([0, 0]);
    });

    it("is answered once, however often and however simultaneously it comes", async () => {
      const { friend, asked } = echo();
      const { receiver, says, holdfast } = await open(await newWorld(), friend);

      const responses = await Promise.all(Array.from({ length: 8 }, () => says("m1", "Hello")));
      await receiver.until(1);
      const replay = await says("m1", "Hello");
      await says("m2", "Bye");
      await receiver.until(2);

      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status === 202)).toHaveLength(1);
      expect(statuses.filter((status) => status === 200)).toHaveLength(7);
      expect(replay.status).toBe(200);
      expect(await replay.json()).toEqual({ status: "duplicate", message_id: "m1" });
      expect(asked).toEqual(["Hello", "Bye"]);
      expect(receiver.delivered.map(({ body }) => body.text)).toEqual(["You said: Hello", "You said: Bye"]);
      expect(await holdfast.threads.list()).toHaveLength(1);
    });

    it("begins a thread of its own where its conversation has no name", async () => {
      const { friend } = echo();
      const { receiver, post, holdfast } = await open(await newWorld(), friend);

      await post(signedWebhook({ message_id: "m1", text: "One" }, secret));
      await post(signedWebhook({ message_id: "m2", text: "Two" }, secret));
      await receiver.until(2);

      expect(await holdfast.threads.list()).toHaveLength(2);
    });

    it("goes on in a new thread once the one before is over", async () => {
      const { friend } = echo();
      const done = Promise.withResolvers<void>();
      const onComplete = () => done.resolve();
      const { receiver, says, holdfast } = await open(await newWorld(), friend, { onComplete });
      await says("m1", "One");
      await done.promise;
      const [first] = await holdfast.threads.list();
      await (await holdfast.threads.get(first?.id ?? "")).terminate();

      await says("m2", "Two");

      const [, reply] = await receiver.until(2);
      expect(reply?.body).toMatchObject({ text: "You said: Two", conversation_id: "c1" });
      expect(reply?.body.thread_id).not.toBe(first?.id);
      await says("m1", "One");
      expect(await holdfast.threads.list()).toHaveLength(2);
    });
  });

  describe("what is not signed as it should be", () => {
    const body = { message_id: "m1", text: "Hello" };
    const now = Math.floor(Date.now() / 1_000);

    it.each([
      ["has no signature", { method: "POST", body: JSON.stringify(body) }],
      ["has that of another secret", signedWebhook(body, "a guess")],
      [
        "has that of another body",
        { ...signedWebhook(body, secret), body: JSON.stringify({ ...body, text: "Pay me" }) },
      ],
      ["is older than it may be", signedWebhook(body, secret, { time: now - 3_600 })],
      ["comes from the future", signedWebhook(body, secret, { time: now + 3_600 })],
      ["has no time", signedWebhook(body, secret, { time: "soon" })],
    ])("is refused when it %s, and nothing is stored", async (_, webhook) => {
      const { friend } = echo();
      const { post, holdfast } = await open(await newWorld(), friend);

      const response = await post(webhook);

      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: "channel_signature_invalid" });
      expect(await holdfast.threads.list()).toEqual([]);
    });

    it.each([
      ["is no JSON", "{"],
      ["is no object", "[]"],
      ["has no id", JSON.stringify({ text: "Hello" })],
      ["has no words", JSON.stringify({ message_id: "m1" })],
      ["has an id that is none", JSON.stringify({ message_id: { toString: "m1" }, text: "Hello" })],
    ])("is refused when what was signed %s", async (_, text) => {
      const { friend } = echo();
      const { post, holdfast } = await open(await newWorld(), friend);

      const response = await post(signedWebhook(text, secret));

      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: "channel_payload_invalid" });
      expect(await holdfast.threads.list()).toEqual([]);
    });

    it("is refused for a channel that there is not, and with more than it may bring", async () => {
      const { friend } = echo();
      const { post } = await open(await newWorld(), friend);

      expect((await post(signedWebhook(body, secret), "other")).status).toBe(404);
      const large = { ...body, text: "x".repeat(2 * 1024 * 1024) };
      expect((await post(signedWebhook(large, secret))).status).toBe(413);
    });
  });

  describe("a reply that cannot be sent", () => {
    it("is sent again until it is taken, before the replies that come after it", async () => {
      const { friend } = echo();
      const { receiver, says } = await open(await newWorld(), friend);
      receiver.answersWith(503, 429);

      await says("m1", "One");
      await receiver.until(1);
      await says("m2", "Two");

      const replies = await receiver.until(4);
      expect(replies.map(({ body }) => body.text)).toEqual([
        ...["You said: One", "You said: One", "You said: One"],
        "You said: Two",
      ]);
      expect(new Set(replies.slice(0, 3).map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    });

    it("is given up when it is refused for good, and told to whoever runs the place", async () => {
      const { friend } = echo();
      const world = await newWorld();
      const completed: string[] = [];
      const { receiver, says } = await open(world, friend, {
        onComplete: ({ status }) => completed.push(status),
      });
      receiver.answersWith(410);

      await says("m1", "One");
      await receiver.until(1);
      await says("m2", "Two");
      await receiver.until(2);

      expect(receiver.delivered.map(({ body }) => body.text)).toEqual(["You said: One", "You said: Two"]);
      expect(world.takeErrors()).toEqual([expect.objectContaining({ code: "channel_delivery_failed" })]);
      expect(completed[0]).toBe("failed");
    });
  });

  describe("a message to an agent that waits for somebody", () => {
    it("is told so once, and answered when somebody has decided", async () => {
      const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
      const model = scriptedModel([callsTool("shop/pay"), says("It is paid.")]);
      const {
        receiver,
        says: speak,
        holdfast,
      } = await open(await newWorld(), agent({ slug: "friend", model, tools: [pay] }));

      await speak("m1", "Pay");
      const [notice] = await receiver.until(1);
      expect(notice?.body).toMatchObject({ type: "notice", in_reply_to: "m1" });
      const [request] = await holdfast.requests.list();
      await holdfast.requests.submit(request?.id ?? "", { decision: "accepted" });

      const [, reply] = await receiver.until(2);
      expect(reply?.body).toMatchObject({ type: "reply", text: "It is paid.", in_reply_to: "m1" });
    });
  });

  describe("a message that a channel does not want", () => {
    it("is answered with why, or with nothing, and never asked of the agent", async () => {
      const { friend, asked } = echo();
      const { receiver, says } = await open(await newWorld(), friend, {
        validate: ({ text }) => {
          if (text === "quiet") return operationError("silent_skip", "not for us");
          return text.length > 20 ? operationError("too_long", "Please say it shorter.") : undefined;
        },
      });

      const long = await says("m1", "A very long story about everything");
      const silent = await says("m2", "quiet");
      const empty = await says("m3", "   ");

      expect([long.status, silent.status, empty.status]).toEqual([200, 200, 200]);
      expect(await long.json()).toMatchObject({ status: "ignored", reason: "too_long" });
      expect(await empty.json()).toMatchObject({ status: "ignored", reason: "empty_message" });
      expect(receiver.delivered.map(({ body }) => body)).toMatchObject([
        { type: "error", text: "Please say it shorter." },
      ]);
      expect(asked).toEqual([]);
    });
  });
});
