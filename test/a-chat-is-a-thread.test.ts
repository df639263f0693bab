// Promise: a chat is a thread of whoever talks. What was said outlives the process, a turn that is repeated is the same
// turn, nobody gets into the chat of another, and a run can be looked at, stopped and followed up.
import { expect, it } from "vitest";
import type { ChatOutput } from "../src/abilities/chat-shapes.ts";
import { CHAT_STREAM, type ChatDelta, type ChatStream } from "../src/abilities/chat-stream.ts";
import * as message from "../src/contracts/conversation/message.ts";
import type { Principal } from "../src/contracts/trust/principal.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import type { Holdfast } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel, inShort } from "./held.ts";

const [ann, ben] = [7, 8].map((user) => principals.userSession(user, "console"));

/** Says how many messages it was shown and the last of them; asks the client or a person when it is told to. */
const clerk: Model = async (messages) => {
  const last = messages.at(-1);
  if (last?.type === "text" && last.content === "where am I?") return callsTool("client/where", {}, { id: "c1" });
  if (last?.type === "text" && last.content === "refund me") {
    return callsTool("shop/refund", { order: 7, card: "4111-secret" }, { id: "c2" });
  }
  return says(`${messages.length}: ${inShort(messages).at(-1)}`);
};

const where = tool({ name: "client/where", description: "Asks the client." });
const refund = tool({
  ...{ name: "shop/refund", description: "Refunds.", actionPolicy: "preview", sensitive: ["card"] },
  execute: () => "done",
});

const shop = (model: Model = clerk) => agent({ slug: "shop", model, tools: [where, refund] });

async function granted(holdfast: Holdfast, ...users: readonly number[]): Promise<Holdfast> {
  for (const user_id of users) await holdfast.grants.grant({ agent: "shop", user_id, role: "operator" });
  return holdfast;
}

/** Calls an operation as somebody; the answer is a map, or a refusal with a code. */
async function call(holdfast: Holdfast, name: string, input: object, principal: Principal | undefined = ann) {
  const answer = await holdfast.abilities.call(name, input, { principal: principal as Principal, door: "http" });
  return answer as ChatOutput & Record<string, unknown>;
}

const chat = (holdfast: Holdfast, input: object, principal?: Principal) =>
  call(holdfast, "agents/chat", { agent: "shop", ...input }, principal);

eachDatabase((newWorld) => {
  it("creates a thread for the caller, goes on with it, and still does after a restart", async () => {
    const world = await newWorld();
    const first = await granted(await world.open(shop()), 7);
    const begun = await chat(first, { message: "Hello.", run_id: "r1" });
    expect(begun).toMatchObject({ reply: "1: user: Hello.", completed: true, status: "completed", run_id: "r1" });
    expect(begun.messages).toEqual([
      { role: "user", content: "Hello." },
      { role: "assistant", content: "1: user: Hello." },
    ]);
    expect(begun.run_outcome).toMatchObject({ status: "completed", stop_reason: "natural" });
    const { session_id } = begun;
    expect(await first.threads.subject(session_id)).toMatchObject({ owner: { type: "user", key: "7" } });
    expect((await chat(first, { message: "Again.", session_id })).reply).toBe("3: user: Again.");
    await first.close();

    const second = await world.open(shop());
    const continued = await chat(second, { message: "Still there?", session_id });
    expect(continued).toMatchObject({ session_id, reply: "5: user: Still there?" });
    expect(await call(second, "agents/get-chat-run", { session_id, run_id: "r1" })).toMatchObject({
      ...{ run_id: "r1", session_id, status: "completed", metadata: { agent: "shop" } },
    });
  });

  it("answers a turn that is repeated with the same run, and refuses other words under its id", async () => {
    const world = await newWorld();
    const holdfast = await granted(await world.open(shop()), 7);
    const turn = { message: "Hello.", run_id: "r1", history: [{ role: "user", content: "Before." }] };
    const [one, other] = await Promise.all([chat(holdfast, turn), chat(holdfast, turn)]);
    expect(one).toEqual(other);
    expect(one.reply).toBe("2: user: Hello.");
    const { session_id } = one;
    expect(await chat(holdfast, { ...turn, session_id })).toEqual(one);
    expect(await (await holdfast.threads.get(session_id)).runs()).toHaveLength(1);
    expect(await chat(holdfast, { ...turn, message: "Other words." })).toMatchObject({
      code: "agents_chat_run_already_started",
    });
  });

  it("lets nobody into the chat of another, and tells an unknown one and somebody else's alike", async () => {
    const world = await newWorld();
    const holdfast = await granted(await world.open(shop()), 7, 8);
    const { session_id } = await chat(holdfast, { message: "Mine.", run_id: "r1" });
    const unknown = "00000000-0000-4000-8000-000000000000";
    for (const id of [session_id, unknown]) {
      expect(await chat(holdfast, { message: "Let me in.", session_id: id }, ben)).toEqual({
        ...{ code: "agents_chat_run_owner_forbidden", data: { status: 403 } },
        message: `There is no chat "${id}" of the caller.`,
      });
      const run = { session_id: id, run_id: "r1" };
      for (const name of ["get-chat-run", "list-chat-run-events", "cancel-chat-run", "queue-chat-message"]) {
        const refused = await call(holdfast, `agents/${name}`, { ...run, message: "x" }, ben);
        expect(refused, name).toMatchObject({ code: "agents_chat_run_not_found" });
      }
    }
    // The same run id is another chat for another caller.
    expect((await chat(holdfast, { message: "Mine too.", run_id: "r1" }, ben)).session_id).not.toBe(session_id);
    expect(await (await holdfast.threads.get(session_id)).messages()).toHaveLength(2);
  });

  it("refuses who was not granted the agent, who claims to be another, and what one turn cannot set", async () => {
    const world = await newWorld();
    const holdfast = await granted(await world.open(shop()), 7);
    const code = async (input: object, principal?: Principal) =>
      (await chat(holdfast, { message: "Hello.", ...input }, principal)).code;
    expect(await code({}, ben)).toBe("agents_chat_agent_not_found");
    expect(await code({ agent: "ghost" })).toBe("agents_chat_agent_not_found");
    expect(await call(holdfast, "agents/chat", {})).toMatchObject({
      ...{
        code: "agents_chat_agent_not_found",
        message: "agent is missing: say which agent to talk with.",
      },
    });
    expect(await code({ principal: { ...ben } })).toBe("agents_chat_invalid_principal");
    expect(await code({ session_owner: { type: "user", key: "8" } })).toBe("agents_chat_run_owner_forbidden");
    expect(await code({ message: " " })).toBe("agents_chat_empty_message");
    expect(await code({ allow_only: ["shop/refund"] })).toBe("agents_chat_option_unsupported");
    expect(await code({ structured_output: { schema: {} } })).toBe("agents_chat_option_unsupported");
    await holdfast.grants.grant({ agent: "shop", audience_id: "audience:public", role: "operator" });
    expect(await code({}, principals.audience("audience:public", "audience:public"))).toBe(
      "agents_chat_run_owner_required",
    );
    expect(await holdfast.threads.list()).toEqual([]);
  });

  it("stops a run that is cancelled, and says so before and after", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await granted(await world.open(shop(model)), 7);
    const opened = chat(holdfast, { message: "Think.", run_id: "r1" });
    await next();
    const [thread] = await holdfast.threads.list();
    const run = { session_id: thread?.id ?? "", run_id: "r1" };
    expect(await call(holdfast, "agents/get-chat-run", run)).toMatchObject({ status: "running" });
    expect(await call(holdfast, "agents/cancel-chat-run", run)).toMatchObject({
      status: "cancelling",
      cancelled: true,
    });
    expect(await opened).toMatchObject({ status: "cancelled", completed: false, run_outcome: { status: "cancelled" } });
    expect(await call(holdfast, "agents/cancel-chat-run", run)).toMatchObject({
      status: "cancelled",
      cancelled: false,
    });
    const page = await call(holdfast, "agents/list-chat-run-events", { ...run, limit: 2 });
    expect(page).toMatchObject({
      ...{ status: "cancelled", cursor: "2", has_more: true },
      events: [
        { id: "0", type: "run_started", metadata: { status: "running" } },
        { id: "1", type: "cancel_requested", metadata: { status: "cancelling" } },
      ],
    });
    expect(await call(holdfast, "agents/list-chat-run-events", { ...run, cursor: "2" })).toMatchObject({
      ...{ cursor: "", has_more: false },
      events: [{ id: "2", type: "run_finished", metadata: { status: "cancelled" } }],
    });
  });

  it("queues messages behind a run, in their order", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await granted(await world.open(shop(model)), 7);
    const opened = chat(holdfast, { message: "One.", run_id: "r1" });
    const asked = await next();
    const [thread] = await holdfast.threads.list();
    const session_id = thread?.id ?? "";
    const queue = (input: object) =>
      call(holdfast, "agents/queue-chat-message", { agent: "shop", session_id, ...input });
    expect(await queue({ message: "Two." })).toMatchObject({ run_id: "r1", status: "queued", position: 1 });
    expect(await queue({ message: "Three.", run_id: "r1" })).toMatchObject({ run_id: "r1", position: 2 });
    expect(await queue({ message: "Four.", run_id: "r9" })).toMatchObject({ code: "agents_chat_run_not_found" });
    asked.answer("First.");
    const more = await next();
    expect(more.shown.slice(-2)).toEqual(["user: Two.", "user: Three."]);
    more.answer("Second.");
    expect(await opened).toMatchObject({ completed: true });
  });

  it("waits for what a client runs, and goes on with its result", async () => {
    const world = await newWorld();
    const first = await granted(await world.open(shop()), 7);
    const waiting = await chat(first, { message: "where am I?", run_id: "r1" });
    expect(waiting).toMatchObject({
      ...{ status: "runtime_tool_pending", completed: false, reply: "" },
      runtime_tool_pending: { tool_name: "client/where", tool_call_id: "c1" },
    });
    const { session_id } = waiting;
    expect(await call(first, "agents/get-chat-run", { session_id, run_id: "r1" })).toMatchObject({
      status: "runtime_tool_pending",
    });
    await first.close();

    const second = await world.open(shop());
    const pair = (id: string) => [
      message.toolCall({ tool_name: "client/where", parameters: {}, turn: 1, metadata: { tool_call_id: id } }),
      message.toolResult({
        ...{
          tool_name: "client/where",
          content: '"Rome"',
          payload: { result: "Rome" },
          metadata: { tool_call_id: id },
        },
      }),
    ];
    expect(await chat(second, { session_id, input_messages: pair("c9") })).toMatchObject({
      code: "agents_chat_tool_call_not_found",
    });
    const continued = { session_id, input_messages: pair("c1") };
    const done = await chat(second, continued);
    expect(done).toMatchObject({ run_id: "r1", status: "completed", reply: '3: result client/where: "Rome"' });
    expect(done.messages).toEqual([
      { role: "user", content: "where am I?" },
      { role: "assistant", content: done.reply },
    ]);
    expect(done.metadata).toMatchObject({
      agents_api: { tool_observability: { calls: [{ tool_call_id: "c1", status: "succeeded" }] } },
    });
    expect(await chat(second, continued)).toEqual(done);
  });

  it("says what waits to be approved, and shows none of its secrets", async () => {
    const world = await newWorld();
    const holdfast = await granted(await world.open(shop()), 7);
    const asked = await chat(holdfast, { message: "refund me" });
    expect(asked).toMatchObject({
      status: "approval_required",
      approval_required: { tool_name: "shop/refund", parameters: { order: 7, card: "[redacted]" } },
      run_outcome: { status: "approval_required" },
    });
    expect(JSON.stringify(asked)).not.toContain("4111-secret");
    const request_id = String((asked.approval_required as { request_id?: unknown }).request_id);
    expect(await holdfast.requests.get(request_id)).toMatchObject({ status: "pending", thread_id: asked.session_id });
  });

  it("tells a turn while it happens, and ends with what a chat answers", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await granted(await world.open(shop(model)), 7);
    const open = (input: object) =>
      holdfast.abilities.call(CHAT_STREAM, { agent: "shop", ...input }, { principal: ann as Principal, door: "http" });
    expect(await open({ message: "" })).toMatchObject({ code: "agents_chat_empty_message" });
    const stream = (await open({ message: "where?", run_id: "r1" })) as ChatStream;
    const asked = await next();
    asked.say("Let me ");
    expect((await stream.next()).value).toEqual({ type: "content", text: "Let me " });
    asked.answer({
      content: "Let me look.",
      tool_calls: callsTool("client/where", { near: 1 }, { id: "c1" }).tool_calls,
    });
    const told: ChatDelta[] = [];
    let step = await stream.next();
    for (; !step.done; step = await stream.next()) told.push(step.value);
    expect(told).toEqual([
      { type: "content", text: "look." },
      { type: "tool_call", tool_call_id: "c1", tool_name: "client/where", index: 0 },
      { type: "tool_argument", tool_call_id: "c1", text: '{"near":1}', index: 0 },
    ]);
    expect(step.value).toMatchObject({ run_id: "r1", status: "runtime_tool_pending" });
  });
});
