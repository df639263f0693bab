import { describe, expect, it, onTestFinished } from "vitest";
import { signedWebhook, webhookReceiver } from "../../test/webhook-receiver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../holdfast.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { webhookChannel } from "./webhook-channel.ts";

const secret = "a shared secret";

async function open(replyUrl: string, secrets: string | readonly string[] = secret) {
  const support = agent({ slug: "support", model: scriptedModel([says("Hello Ana.")]) });
  const shop = webhookChannel({ name: "shop", agent: "support", secret: secrets, replyUrl });
  const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [support], channels: [shop] });
  onTestFinished(() => holdfast.close());
  return holdfast;
}

describe("a channel of signed webhooks", () => {
  it("answers over the same way back, without a server of ours in between", async () => {
    const receiver = await webhookReceiver();
    const holdfast = await open(receiver.url);

    const { headers, body } = signedWebhook({ message_id: "m1", conversation_id: "ana", text: "I am Ana." }, secret);
    const taken = await holdfast.channels.receive("shop", { headers, body });

    expect(taken).toEqual({ status: 202, body: { status: "accepted", message_id: "m1" } });
    const [reply] = await receiver.until(1);
    expect(reply?.body).toMatchObject({ type: "reply", text: "Hello Ana.", conversation_id: "ana", in_reply_to: "m1" });
  });

  it("takes what the old secret has signed while the new one takes its place, and signs with the new one", async () => {
    const receiver = await webhookReceiver();
    const holdfast = await open(receiver.url, ["a new secret", secret]);

    const taken = await holdfast.channels.receive("shop", signedWebhook({ message_id: "m1", text: "Hi" }, secret));

    expect(taken).toMatchObject({ status: 202 });
    const [reply] = await receiver.until(1);
    const time = Number(reply?.headers["x-signature-timestamp"]);
    expect(signedWebhook(reply?.raw ?? "", "a new secret", { time }).headers["X-Signature-256"]).toBe(
      reply?.headers["x-signature-256"],
    );
  });
});
