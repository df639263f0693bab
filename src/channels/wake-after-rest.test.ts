import { expect, it, onTestFinished } from "vitest";
import { signedWebhook, webhookReceiver } from "../../test/webhook-receiver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../holdfast.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { heldClock } from "../testing/held-clock.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";
import { webhookChannel } from "./webhook-channel.ts";

it("sends the reply as soon as somebody has decided, and not when it would have looked again", async () => {
  const clock = heldClock();
  const receiver = await webhookReceiver();
  const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
  const model = scriptedModel([callsTool("shop/pay"), says("It is paid.")]);
  const holdfast = await createHoldfast({
    backend: sqlite(":memory:", { clock }),
    agents: [agent({ slug: "support", model, tools: [pay] })],
    channels: [webhookChannel({ name: "shop", agent: "support", secret: "s", replyUrl: receiver.url })],
    drainsOnSignal: false,
  });
  onTestFinished(() => holdfast.close());
  const time = clock.now() / 1_000;
  await holdfast.channels.receive("shop", signedWebhook({ message_id: "m1", text: "Pay" }, "s", { time }));
  const [thread] = await holdfast.threads.list();
  await (await holdfast.threads.get(thread?.id ?? "")).wait();
  // The reply comes after the message: by a clock that stands still it is never due.
  await clock.advance(1);
  await receiver.until(1);

  const [request] = await holdfast.requests.list();
  await holdfast.requests.submit(request?.id ?? "", { decision: "accepted" });

  const [, reply] = await receiver.until(2);
  expect(reply?.body).toMatchObject({ type: "reply", text: "It is paid." });
});
