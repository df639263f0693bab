// Promise: what comes in over a channel is a chat like any other: the host's hooks are asked before it and told after it.
import { expect, it } from "vitest";
import { channel, type OutboundMessage } from "../src/channels/channel.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import { operationError } from "../src/contracts/operation-error.ts";
import type { Model } from "../src/models/model.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, type World } from "./databases.ts";

type Sent = Pick<OutboundMessage, "text" | "kind" | "in_reply_to">;

async function open(world: World) {
  const abilityHooks = createHooks();
  const asked: unknown[] = [];
  const sent: Sent[] = [];
  const waiting: (() => void)[] = [];
  const model: Model = (messages) => {
    asked.push(messages.at(-1)?.content);
    return { content: "Hello yourself.", tool_calls: [] };
  };
  const shop = channel({
    ...{ name: "shop", agent: "friend", verify: () => true, waitingText: "Somebody has to agree first." },
    extract: ({ text }) => ({ messages: [JSON.parse(text())] }),
    async send({ text, kind, in_reply_to }) {
      sent.push({ text, kind, in_reply_to });
      for (const resolve of waiting.splice(0)) resolve();
    },
  });
  const holdfast = await world.open(agent({ slug: "friend", model }), { channels: [shop], abilityHooks });
  const says = async (message_id: string, text: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ message_id, text, conversation_id: "c1", sender_id: "u1" }));
    return await holdfast.channels.receive("shop", { headers: {}, body });
  };
  const untilSent = async (count: number) => {
    while (sent.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return sent;
  };
  return { holdfast, hooks: abilityHooks, asked, sent, says, untilSent };
}

eachDatabase((newWorld) => {
  it("tells observers what is asked and what came of it, without what is secret", async () => {
    const { holdfast, hooks, says, untilSent } = await open(await newWorld());
    const told: unknown[][] = [];
    hooks.on("abilityInvoked", (...all) => told.push(["invoked", ...all]));
    hooks.on("abilityExecuted", (...all) => told.push(["executed", ...all]));
    const sessions: unknown[] = [];
    hooks.filter("preExecuteAbility", (_, _name, { session_id }) => void sessions.push(session_id));
    expect(await says("m1", "Hello")).toMatchObject({ status: 202 });
    const [thread] = await holdfast.threads.list();
    // Whoever knows a session may go on in it.
    const hidden = { session_id: "[redacted]", client_context: { client_name: "shop" } };
    expect(told).toMatchObject([
      ["invoked", "agents/chat", { agent: "friend", message: "Hello", ...hidden }],
      ["executed", "agents/chat", { message: "Hello", ...hidden }, { session_id: thread?.id, status: "accepted" }],
    ]);
    await untilSent(1);
    expect(await says("m1", "Hello")).toMatchObject({ body: { status: "duplicate" } });
    await says("m2", "Again");
    expect(told.slice(2)).toMatchObject([
      ["invoked", "agents/chat", { message: "Again" }],
      ["executed", "agents/chat", {}, { session_id: thread?.id }],
    ]);
    expect(sessions).toEqual([null, thread?.id]);
    await untilSent(2);
  });

  it("is refused by a hook in words that are sent back, once", async () => {
    const { hooks, asked, sent, says } = await open(await newWorld());
    hooks.filter("preExecuteAbility", () => operationError("closed", "We are closed."));
    expect(await says("m1", "Hello")).toEqual({
      ...{ status: 200, body: { status: "ignored", reason: "closed", message_id: "m1" } },
    });
    expect(await says("m1", "Hello")).toMatchObject({ status: 200, body: { status: "duplicate" } });
    expect(sent).toEqual([{ text: "We are closed.", kind: "error", in_reply_to: "m1" }]);
    expect(asked).toEqual([]);
  });

  it("is answered by a hook in the place of the agent", async () => {
    const { holdfast, hooks, asked, sent, says } = await open(await newWorld());
    hooks.filter("preExecuteAbility", () => ({ session_id: "elsewhere", reply: "I am out." }));
    expect(await says("m1", "Hello")).toEqual({
      ...{ status: 202, body: { status: "accepted", message_id: "m1" } },
    });
    expect(sent).toEqual([{ text: "I am out.", kind: "reply", in_reply_to: "m1" }]);
    expect([asked, await holdfast.threads.list()]).toEqual([[], []]);
  });

  it("waits for whom a hook wants to be asked, and whoever wrote is told so", async () => {
    const { holdfast, hooks, asked, sent, says } = await open(await newWorld());
    hooks.filter("abilityPreExecuteDecision", (_, ability, input) => ({
      ...{ action_id: "a1", kind: "chat", summary: `May ${ability} go on?`, apply_input: input },
      ...{ created_at: new Date().toISOString(), preview: {} },
    }));
    for (const status of ["held", "duplicate"]) {
      expect(await says("m1", "Hello")).toMatchObject({ status: 200, body: { status } });
    }
    expect(sent).toEqual([{ text: "Somebody has to agree first.", kind: "notice", in_reply_to: "m1" }]);
    expect(await holdfast.approvals.get("a1", true)).toMatchObject({ summary: "May agents/chat go on?" });
    expect(asked).toEqual([]);
  });

  it("is not taken in while a hook fails, and comes again", async () => {
    const world = await newWorld();
    const { holdfast, hooks, sent, says, untilSent } = await open(world);
    const broken = new Error("The directory is gone.");
    const mend = hooks.filter("preExecuteAbility", () => {
      throw broken;
    });
    expect(await says("m1", "Hello")).toMatchObject({ code: "internal_error" });
    expect(world.takeErrors()).toEqual([broken]);
    expect([sent, await holdfast.threads.list()]).toEqual([[], []]);
    mend();
    expect(await says("m1", "Hello")).toMatchObject({ status: 202 });
    expect(await untilSent(1)).toMatchObject([{ text: "Hello yourself." }]);
  });
});
