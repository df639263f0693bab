import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../holdfast.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";
import { frontEndDoor } from "./front-end.ts";
import { jsonRpcDoor } from "./json-rpc.ts";
import { serve } from "./serve.ts";

type Answer = { readonly result: { readonly sessionId: string }; readonly error: { readonly code: number } };

/** A server with an agent that answers twice, and a caller with a token for it. */
async function open() {
  const lookUp = tool({ name: "shop/look-up", description: "Looks up.", execute: () => "seven" });
  const friend = agent({
    slug: "friend",
    model: scriptedModel([says("Hello Ana."), says("Still here.")]),
    tools: [lookUp],
  });
  const other = agent({ slug: "other", model: scriptedModel([says("Not for you.")]) });
  const holdfast = await createHoldfast({
    ...{ backend: sqlite(":memory:"), agents: [friend, other], drainsOnSignal: false },
  });
  const server = await serve(holdfast, { port: 0, doors: [jsonRpcDoor, frontEndDoor] });
  onTestFinished(async () => {
    await server.close();
    await holdfast.close();
  });
  const { token } = await holdfast.tokens.create({ agent: "friend", owner_user_id: 7, label: "caller" });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const post = (path: string, body: unknown) =>
    fetch(`${server.url}/agents-api/v1/${path}`, {
      ...{ method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) },
    });
  const call = async (body: unknown) => (await (await post("agent/friend", body)).json()) as Answer;
  return { post, call };
}

function message(method: string, text: string, more: object = {}) {
  return {
    jsonrpc: "2.0",
    id: 1,
    method,
    params: { message: { role: "user", parts: [{ type: "text", text }] }, ...more },
  };
}

/** What a stream of events has told, in order. */
async function framesOf(response: Response): Promise<{ params?: { delta: { content: string } }; result?: unknown }[]> {
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)));
}

describe("the JSON-RPC door", () => {
  it("answers a message with a task, and goes on in its session", async () => {
    const { call } = await open();

    const first = await call(message("message/send", "I am Ana.", { id: "run-1" }));

    expect(first).toEqual({
      ...{ jsonrpc: "2.0", id: 1 },
      result: {
        id: "run-1",
        status: {
          state: "completed",
          message: {
            ...{ role: "agent", parts: [{ type: "text", text: "Hello Ana." }] },
            ...{ messageId: "run-1-message", kind: "message" },
          },
        },
        sessionId: expect.any(String),
      },
    });
    const again = message("tasks/send", "Are you there?", { sessionId: first.result.sessionId });
    const second = await call(again);
    expect(second.result).toMatchObject({
      sessionId: first.result.sessionId,
      status: { message: { parts: [{ text: "Still here." }] } },
    });
  });

  it("streams what is said, and ends with one task", async () => {
    const { post } = await open();

    const response = await post("agent/friend", { ...message("message/stream", "I am Ana."), tokenStreaming: true });

    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const frames = await framesOf(response);
    const last = frames.pop();
    expect(frames.map(({ params }) => params?.delta.content).join("")).toBe("Hello Ana.");
    expect(last?.result).toMatchObject({
      status: { state: "completed", message: { parts: [{ text: "Hello Ana." }] } },
    });
    expect(new Set(frames.map((frame) => (frame.params as unknown as { id: string }).id)).size).toBe(1);
  });

  it("tells what is wrong in the words of JSON-RPC", async () => {
    const { call } = await open();
    const codeOf = async (body: unknown) => (await call(body)).error.code;

    expect(await codeOf("{")).toBe(-32_700);
    expect(await codeOf({ ...message("message/send", "Hi"), jsonrpc: "1.0" })).toBe(-32_600);
    expect(await codeOf(message("message/zap", "Hi"))).toBe(-32_601);
    expect(await codeOf(message("message/zap", " "))).toBe(-32_602);
    expect(await codeOf(message("message/send", "Hi", { sessionId: "of nobody" }))).toBe(-32_603);
  });

  it("is closed for agents that the caller was not given, known or not", async () => {
    const { post } = await open();

    for (const agentId of ["other", "nobody"]) {
      const response = await post(`agent/${agentId}`, message("message/send", "Hi"));
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ code: "agents_chat_jsonrpc_forbidden" });
    }
  });
});

describe("the chat of web pages", () => {
  it("answers a message as the chat does", async () => {
    const { post } = await open();

    const response = await post("chat", { agent: "friend", message: "I am Ana." });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      ...{ reply: "Hello Ana.", completed: true, session_id: expect.any(String), run_id: expect.any(String) },
    });
  });

  it("refuses what says nothing, and what is for another agent", async () => {
    const { post } = await open();

    const empty = await post("chat", { agent: "friend", message: "  " });
    expect(empty.status).toBe(400);
    expect(await empty.json()).toMatchObject({ code: "agents_frontend_chat_invalid_input" });
    const other = await post("chat", { agent: "other", message: "Hi" });
    expect(other.status).toBe(403);
    expect(await other.json()).toMatchObject({ code: "agents_frontend_chat_forbidden" });
  });
});
