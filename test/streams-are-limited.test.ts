// Promise: a token holds no more streams than it may, whichever protocol it asks in, and is told so in that protocol before
// anything was done.
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Agent, agent } from "../src/threads/agent.ts";
import { heldModel } from "./held.ts";
import { type Served, serveRuntime } from "./served-runtime.ts";

/** Somebody who may hold one stream, and holds it. */
async function fullHouse(
  agents?: readonly Agent[],
): Promise<Served & { leave(): Promise<void>; threads(): Promise<number> }> {
  const served = await serveRuntime({ maxStreams: 1 }, agents ? { agents } : {});
  onTestFinished(() => served.close());
  const { url, owner, holdfast } = served;
  const path = `/threads/${await served.openThread(owner, "followed")}/stream`;
  const { body } = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${owner}` } });
  onTestFinished(async () => void (await body?.cancel()));
  return {
    ...served,
    leave: async () => void (await body?.cancel()),
    threads: async () => (await holdfast.threads.list()).length,
  };
}

const message = { role: "user", parts: [{ type: "text", text: "Hello." }] };
const chat = { id: "customer-42", messages: [{ ...message, id: "m1" }] };
const rpc = { jsonrpc: "2.0", id: 9, method: "message/stream", params: { message } };
const full = expect.stringContaining("as many streams as it may");

describe("a token that holds as many streams as it may", () => {
  it("is refused another one in a problem, to a chat of useChat", async () => {
    const house = await fullHouse();
    const { status, code } = await house.ask(house.owner, "/api/chat", { json: chat });
    expect([status, code, await house.threads()]).toEqual([429, "too_many_streams", 1]);
    expect((await house.ask(house.owner, "/api/chat/customer-42/stream")).status).toBe(429);
    expect((await house.ask(house.alice, "/api/chat/customer-42/stream")).status).toBe(204);
  });

  it("is refused it in the words of OpenAI, and completes without one", async () => {
    const house = await fullHouse();
    const client = new OpenAI({ baseURL: `${house.url}/v1`, apiKey: house.owner });
    const asked = { model: "helper", messages: [{ role: "user" as const, content: "Hello." }] };
    const streamed = client.chat.completions.create({ ...asked, stream: true });
    await expect(streamed).rejects.toMatchObject({ status: 429, code: "too_many_streams", type: "rate_limit_error" });
    expect(await house.threads()).toBe(1);
    expect((await client.chat.completions.create(asked)).choices[0]?.message.content).toBe("Yes.");
  });

  it("is refused it as an error of JSON-RPC, under the id of the request", async () => {
    const house = await fullHouse();
    const { status, text } = await house.ask(house.owner, "/agents-api/v1/agent/helper", { json: rpc });
    expect([status, JSON.parse(text)]).toEqual([
      429,
      { jsonrpc: "2.0", id: 9, error: { code: -32_603, message: full } },
    ]);
    expect(await house.threads()).toBe(1);
    const send = { ...rpc, method: "message/send" };
    expect((await house.ask(house.owner, "/agents-api/v1/agent/helper", { json: send })).status).toBe(200);
  });

  it.each([
    { accept: "text/event-stream" },
    { accept: "application/json, text/event-stream", "mcp-method": "subscriptions/listen" },
  ])("is refused it as an error of MCP: %j", async (headers) => {
    const house = await fullHouse();
    const init = "mcp-method" in headers ? { headers, json: {} } : { headers };
    const { status, text } = await house.ask(house.owner, "/mcp", init);
    expect([status, JSON.parse(text)]).toMatchObject([
      429,
      { jsonrpc: "2.0", id: null, error: { message: full, data: { code: "too_many_streams" } } },
    ]);
  });

  it("is let in again once it has left one, and by no more at a time than it may", async () => {
    const { model, next } = heldModel();
    const house = await fullHouse([agent({ slug: "helper", model })]);
    await house.leave();
    const headers = { authorization: `Bearer ${house.owner}`, "content-type": "application/json" };
    const post = (id: string) =>
      fetch(`${house.url}/api/chat`, { method: "POST", headers, body: JSON.stringify({ ...chat, id }) });
    let answers = await Promise.all(["a", "b", "c"].map(post));
    // The server may learn a little later that somebody has left.
    while (answers.every(({ status }) => status === 429)) answers = await Promise.all(["a", "b", "c"].map(post));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429, 429]);
    expect(answers.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("5");
    (await next()).answer("Yes.");
    await Promise.all(answers.map((answer) => answer.text()));
  });
});
