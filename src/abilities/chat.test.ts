import { describe, expect, it } from "vitest";
import { deskWorld } from "../../test/desk-world.ts";
import { admin, person } from "../../test/shop-desk.ts";
import { createChatHandlers } from "../contracts/chat/chat-handlers.ts";
import { createHooks } from "../contracts/hooks.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { createOperations } from "./catalogue.ts";
import { CHAT } from "./chat.ts";
import type { ChatExtensions } from "./chat-host.ts";
import { CHAT_STREAM, type ChatStream } from "./chat-stream.ts";
import { createDesk } from "./desk.ts";

it("begins a chat of its own, though the caller has given a thread the name of its run", async () => {
  const shop = agent({ slug: "shop", model: async () => says("Hello.") });
  const { holdfast, as } = await deskWorld({ agents: [shop] });
  const workspace_id = "north";
  await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator", workspace_id });
  const ann = as(7, { workspace_id });
  const named = await ann("holdfast/open-thread", { agent: "shop", key: "chat/r1" });
  const chat = await ann(CHAT, { agent: "shop", message: "Hi.", run_id: "r1" });
  expect(chat).toMatchObject({ reply: "Hello.", run_id: "r1" });
  expect(chat.session_id).not.toBe(named.id);
  expect(await ann(CHAT, { agent: "shop", message: "Hi.", run_id: "r1" })).toMatchObject({
    session_id: chat.session_id,
  });
});

/** A desk whose host has added something to chats. */
async function extended(extensions: ChatExtensions) {
  const shop = agent({ slug: "shop", model: scriptedModel([says("From a thread.")]) });
  const { holdfast } = await deskWorld({ agents: [shop] });
  await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator" });
  const desk = createDesk(createOperations(holdfast, extensions));
  return (name: string, input: object, principal = person(7)) => desk.call(name, input, { principal, door: "http" });
}

describe("chats that a host has extended", () => {
  it("are answered by the host's handler where it answers, at once also for who streams", async () => {
    const handlers = createChatHandlers();
    handlers.register(({ message }) => ({ session_id: "own", reply: `Host: ${String(message)}` }), { agent: "books" });
    const call = await extended({ handlers });
    const books = { agent: "books", message: "Hi.", run_id: "r1" };
    expect(await call(CHAT, books, admin)).toEqual({ session_id: "own", reply: "Host: Hi.", run_id: "r1" });
    const stream = (await call(CHAT_STREAM, books, admin)) as ChatStream;
    expect(await stream.next()).toMatchObject({ done: true, value: { reply: "Host: Hi." } });
    expect(await call(CHAT, { agent: "shop", message: "Hi." })).toMatchObject({ reply: "From a thread." });
  });

  it("tell their hooks what failed, and leave them the last word on who may talk", async () => {
    const hooks = createHooks();
    const failed: string[] = [];
    hooks.on("chatDispatchFailed", (reason) => failed.push(reason));
    const call = await extended({ hooks });
    await call(CHAT, { agent: "shop", message: "" });
    expect(failed).toEqual(["agents_chat_empty_message"]);
    hooks.filter("chatPermission", (_, { agent: named }) => named !== "shop");
    expect(await call(CHAT, { agent: "shop", message: "Hi." })).toMatchObject({ code: "agents_chat_agent_not_found" });
  });
});

describe("a message that goes out", () => {
  const letter = { channel: "mail", recipient: "ann@example.com", message: "Hello." };

  it("is carried for those who may send, and refused to others and where nobody carries it", async () => {
    const sent: unknown[] = [];
    const carrier = (given: object) => {
      sent.push(given);
      return { sent: true, channel: "mail", recipient: "ann@example.com", message_id: "m1" };
    };
    const call = await extended({ carrier });
    expect(await call("agents/dispatch-message", letter)).toMatchObject({ code: "ability_forbidden" });
    expect(sent).toEqual([]);
    expect(await call("agents/dispatch-message", letter, admin)).toMatchObject({ sent: true, message_id: "m1" });
    expect(sent).toEqual([letter]);
    const without = await extended({});
    expect(await without("agents/dispatch-message", letter, admin)).toMatchObject({
      code: "agents_dispatch_message_no_handler",
    });
  });
});
