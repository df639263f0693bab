// Promise: an owner who talks with an agent decides about what it proposes, with the token that opened the chat: the token
// of whoever manages threads stands for its user, whichever door the chat came through.
import { describe, expect, it } from "vitest";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { chatWorld } from "./chat-world.ts";

const refund = tool({
  ...{ name: "shop/refund", description: "Refunds.", actionPolicy: "preview" },
  execute: () => "refunded",
});

/** A server whose agent proposes a refund, and the owner's way to it. */
async function shop() {
  const model = scriptedModel([callsTool("shop/refund", {}), says("It is done.")]);
  const { holdfast, url, token } = await chatWorld(agent({ slug: "shop", model, tools: [refund] }));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = async (path: string, body: object) =>
    JSON.parse(await (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).text());
  return { holdfast, post };
}

describe("what is proposed in a chat that the owner's token has opened", () => {
  it("is decided with the same token, and the run comes to its end", async () => {
    const { post, holdfast } = await shop();
    const turn = { message: "Refund me.", run_id: "r1" };
    const chat = await post("/agents/shop/chat", turn);
    expect(chat).toMatchObject({ status: "approval_required" });
    const path = `/approvals/${chat.approval_required.request_id}`;
    expect(await post(path, { decision: "accepted" })).toMatchObject({ outcome: "submitted" });
    const thread = await holdfast.threads.get(chat.session_id);
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "It is done." });
    expect(await post("/agents/shop/chat", turn)).toMatchObject({
      ...{ session_id: chat.session_id, status: "completed", reply: "It is done." },
    });
  });

  it("is decided so too where the chat came over JSON-RPC", async () => {
    const { post, holdfast } = await shop();
    const params = { message: { role: "user", parts: [{ type: "text", text: "Refund me." }] } };
    const { result } = await post("/agents-api/v1/agent/shop", {
      ...{ jsonrpc: "2.0", id: 1, method: "message/send", params },
    });
    expect(result).toMatchObject({
      status: {
        state: "input-required",
        message: { parts: [{ text: expect.stringMatching(/^Waiting for approval: ./) }] },
      },
      metadata: { kind: "approval", tool_name: "shop/refund" },
    });
    const thread = await holdfast.threads.get(result.sessionId);
    expect(await post(`/approvals/${result.metadata.request_id}`, { decision: "accepted" })).toMatchObject({
      outcome: "submitted",
    });
    expect(await thread.wait()).toMatchObject({ status: "completed" });
  });
});
