// Promise: a request through the door of a chat costs what it shows, and not what the thread has grown to.
import { lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { Row, Scalar } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { withDriver } from "./changed-driver.ts";
import { historyOf, openChat, shown, support, textOf, until } from "./chat-client.ts";
import { type ChatWorld, chatWorld } from "./chat-world.ts";

const LOOKS = 100;
const RUNS = 20;

/** As much as a short answer has several times over, and a page more. */
const FEW = 150;

/** What was read since the last time: rows of the log, pages of messages, and the tables that were looked through. */
function readings() {
  let events = 0;
  let messages = 0;
  const statements: string[] = [];
  const backend = withDriver(sqlite(":memory:"), (driver) => {
    const counted =
      (read: (sql: string, params?: readonly Scalar[]) => Promise<readonly Row[]>) =>
      async (sql: string, params: readonly Scalar[] = []) => {
        const rows = await read(sql, params);
        if (/from events\b/.test(sql)) events += rows.length;
        // Those that a model is shown are read for the model.
        if (/from messages\b/.test(sql) && !/kind <> 'summary'/.test(sql)) messages += rows.length;
        statements.push(sql);
        return rows;
      };
    return { all: counted(driver.all), readLong: counted(driver.readLong) };
  });
  function take() {
    const taken = { events, messages, lists: statements.filter((sql) => /from threads where 1 = 1/.test(sql)).length };
    events = 0;
    messages = 0;
    statements.splice(0);
    return taken;
  }
  return { backend, take };
}

/** A chat that has grown to more than 2,000 events, and what it says next. */
async function longChat(...next: readonly Parameters<typeof support>[0][number][]) {
  const { backend, take } = readings();
  const looks = Array.from({ length: LOOKS }, () => callsTool("shop/look", { order: "7" }));
  const past = Array.from({ length: RUNS }, () => [calls(says("I look."), ...looks), says("There it is.")]);
  const world = await chatWorld(support([...past.flat(), ...next]), backend);
  const opened = await ask(world, "/threads", { agent: "support", key: "customer-42" });
  const { id } = (await opened.json()) as { id: string };
  const thread = await world.holdfast.threads.get(id);
  for (let run = 1; run <= RUNS; run++) await thread.send(`Where is order 7? (${run})`);
  expect((await thread.status()).next_seq).toBeGreaterThan(2_000);
  take();
  return { world, thread, take };
}

function few(taken: ReturnType<ReturnType<typeof readings>["take"]>, messages = FEW): void {
  expect(taken.events).toBeLessThan(FEW);
  expect(taken.messages).toBeLessThanOrEqual(messages);
  expect(taken.lists).toBe(0);
}

async function ask({ url, token }: ChatWorld, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return await fetch(`${url}${path}`, {
    headers,
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
}

describe("on a thread with a long past", () => {
  it("useChat sends, sends again, comes back, answers and loads for what that shows", async () => {
    const { world, take } = await longChat(says("One."), says("Two."), callsTool("client/where"), says("Lisbon."));
    const chat = openChat(world, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls });
    await chat.sendMessage({ text: "And now?" });
    expect([textOf(chat), chat.errors]).toEqual(["One.", []]);
    few(take());

    const said = { id: chat.messages[0]?.id, role: "user", parts: [{ type: "text", text: "And now?" }] };
    const repeated = await (await ask(world, "/api/chat", { id: "customer-42", messages: [said] })).text();
    expect(repeated).toContain('"delta":"One."');
    few(take());

    expect(await (await ask(world, "/api/chat/customer-42/stream")).text()).toContain('"delta":"One."');
    few(take());

    await chat.regenerate();
    expect([textOf(chat), chat.errors]).toEqual(["Two.", []]);
    few(take());

    await chat.sendMessage({ text: "Where am I?" });
    few(take());
    const call = chat.lastMessage?.parts.at(-1) as { toolCallId: string };
    await chat.addToolOutput({ tool: "client/where", toolCallId: call.toolCallId, output: { city: "Lisbon" } });
    await until(chat, () => chat.status === "ready" && textOf(chat) === "Lisbon.");
    few(take());

    expect(shown(await historyOf(world)).slice(-4)).toEqual(shown(chat.messages));
    few(take(), 220);
    expect(await (await ask(world, "/api/chat/nobody")).json()).toEqual([]);
    expect(take()).toEqual({ events: 0, messages: 0, lists: 0 });
  });

  it("so do clients of OpenAI and of the Agents API, and whoever edits a message", async () => {
    const { world, thread, take } = await longChat(says("One."), says("Two."), says("Three."));
    const client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: world.token });
    const asked = { model: "support", messages: [{ role: "user" as const, content: "And now?" }] };
    const headers = { "X-Holdfast-Thread": "customer-42", "Idempotency-Key": "once" };
    for (const _ of ["first", "repeat"]) {
      const { choices } = await client.chat.completions.create(asked, { headers });
      expect(choices[0]?.message.content).toBe("One.");
      few(take());
    }

    const message = { role: "user", parts: [{ type: "text", text: "And now?" }] };
    const rpc = (method: string) => ({ jsonrpc: "2.0", id: 1, method, params: { message, sessionId: thread.id } });
    for (const [method, answer] of Object.entries({ "message/send": "Two.", "message/stream": "Three." })) {
      expect(await (await ask(world, "/agents-api/v1/agent/support", rpc(method))).text()).toContain(answer);
      few(take());
    }

    await thread.editMessage(0, "Where is order 8?");
    await thread.wait();
    few(take());
    expect((await thread.messages({ limit: 1 }))[0]?.message.content).toBe("Where is order 8?");
  });
});
