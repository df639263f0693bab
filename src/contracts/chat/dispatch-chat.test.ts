import { describe, expect, it } from "vitest";
import { createMemoryChatRunControl } from "../conversation/chat-run-control.ts";
import { createHooks } from "../hooks.ts";
import type { JsonMap } from "../json.ts";
import { operationError } from "../operation-error.ts";
import { createChatHandlers, FALLBACK_PRIORITY } from "./chat-handlers.ts";
import { keptConversations } from "./claim-run.ts";
import { type ChatHost, dispatchChat } from "./dispatch-chat.ts";

const turn = { agent: "writer", message: "hi", run_id: "r1" };

function chatHost(answer: (input: JsonMap) => unknown, more: Partial<ChatHost> = {}) {
  const handlers = createChatHandlers();
  handlers.register(answer);
  const runs = createMemoryChatRunControl({ now: () => new Date(0) });
  const hooks = createHooks();
  const failed: string[] = [];
  hooks.on("chatDispatchFailed", (reason) => failed.push(reason));
  return { host: { handlers, runs, hooks, ...more }, runs, hooks, failed };
}

describe("the handlers of chats", () => {
  it("are asked by priority, then in the order they came, and only for their agent", () => {
    const handlers = createChatHandlers();
    const [fallback, first, second, scoped] = ["fallback", "first", "second", "scoped"].map((name) => () => name);
    handlers.register(fallback as never, { priority: FALLBACK_PRIORITY });
    handlers.register(first as never);
    const remove = handlers.register(second as never);
    handlers.register(scoped as never, { priority: 1, agent: "writer" });
    expect(handlers.find({ agent: "writer" })).toBe(scoped);
    expect(handlers.find({ agent: "Writer" })).toBe(first);
    remove();
    expect(handlers.find({ agent: "reader" })).toBe(first);
    expect(createChatHandlers().find({ agent: "writer" })).toBeUndefined();
  });
});

describe("a turn of a chat", () => {
  it("is handed on without tools that a client declares", async () => {
    const seen: JsonMap[] = [];
    const { host } = chatHost((input) => {
      seen.push(input);
      return {};
    });
    await dispatchChat({ ...turn, client_context: { page: 1, runtime_tools: [1], tool_declarations: {} } }, host);
    expect(seen).toEqual([{ ...turn, client_context: { page: 1 } }]);
  });

  it("has a failed run when its handler throws, and throws that on", async () => {
    const { host, runs, failed } = chatHost(() => {
      throw new Error("The model is gone.");
    });
    await expect(dispatchChat({ ...turn, session_id: "s1" }, host)).rejects.toThrow("The model is gone.");
    expect(await runs.get("r1")).toMatchObject({ status: "failed", session_id: "s1" });
    expect(failed).toEqual([]);
  });

  it("puts a run that began without a session into the one that it came to", async () => {
    const { host, runs } = chatHost(() => ({
      session_id: "s7",
      status: "approval_required",
      completed: false,
      3: "x",
    }));
    const output = await dispatchChat(turn, host);
    expect(output).toEqual({ session_id: "s7", status: "approval_required", completed: false, run_id: "r1" });
    expect(await runs.get("r1")).toMatchObject({ session_id: "s7", status: "approval_required" });
  });

  it("begins in the session of an owner only where something knows whose it is", async () => {
    const rows: Record<string, object> = {
      mine: { workspace_type: "site", workspace_id: "default", owner_type: "user", owner_key: "7" },
      other: { workspace_type: "site", workspace_id: "default", owner_type: "user", owner_key: "8" },
    };
    const conversations = keptConversations({ get: async (id) => rows[id] });
    const code = async (session_id: string, more: Partial<ChatHost>) => {
      const { host, failed } = chatHost(() => ({ session_id }), more);
      await dispatchChat({ ...turn, session_id }, host);
      return failed;
    };
    expect(await code("mine", { currentUserId: 7 })).toEqual(["agents_chat_run_session_store_required"]);
    expect(await code("mine", { currentUserId: 7, conversations })).toEqual([]);
    expect(await code("other", { currentUserId: 7, conversations })).toEqual(["agents_chat_run_owner_forbidden"]);
    expect(await code("unknown", { currentUserId: 7, conversations })).toEqual(["agents_chat_run_owner_forbidden"]);
    // Nobody in particular may talk where nobody in particular has talked.
    expect(await code("unknown", { conversations })).toEqual([]);
    expect(await code("mine", { conversations })).toEqual(["agents_chat_run_owner_forbidden"]);
    expect(await code("anything", {})).toEqual([]);
  });

  it("ends in the session of an owner only where something knows whose it is", async () => {
    const mine = { workspace_type: "site", workspace_id: "default", owner_type: "user", owner_key: "7" };
    const conversations = keptConversations({ get: async (id) => (id === "mine" ? mine : undefined) });
    const bound = async (session_id: string, more: Partial<ChatHost>) => {
      const { host, failed, runs } = chatHost(() => ({ session_id }), more);
      await dispatchChat(turn, host);
      const run = await runs.get("r1", more.currentUserId === 7 ? { type: "user", key: "7" } : undefined);
      return [...failed, run?.status];
    };
    const required = "agents_chat_run_session_store_required";
    expect(await bound("mine", { currentUserId: 7 })).toEqual([required, "failed"]);
    expect(await bound("mine", { currentUserId: 7, conversations })).toEqual(["completed"]);
    const forbidden = "agents_chat_run_owner_forbidden";
    expect(await bound("unknown", { currentUserId: 7, conversations })).toEqual([forbidden, "failed"]);
    expect(await bound("mine", { conversations })).toEqual([forbidden, "failed"]);
    expect(await bound("unknown", {})).toEqual(["completed"]);
  });

  it("uses a run id once", async () => {
    const { host, failed } = chatHost(() => ({ session_id: "s1" }));
    await dispatchChat({ ...turn, session_id: "s1" }, host);
    await dispatchChat({ ...turn, session_id: "s1" }, host);
    await dispatchChat({ ...turn, session_id: "s2" }, host);
    await dispatchChat({ ...turn, session_id: "s1", session_owner: { type: "browser", key: "k" } }, host);
    expect(failed).toEqual([
      "agents_chat_run_already_started",
      "agents_chat_run_owner_forbidden",
      "agents_chat_run_session_store_required",
    ]);
  });

  it("can be answered by whom a hook names", async () => {
    const { host, hooks } = chatHost(() => ({ reply: "handler" }));
    hooks.filter("chatHandler", (found, { agent }) => (agent === "writer" ? () => operationError("boom", "") : found));
    expect(await dispatchChat(turn, host)).toMatchObject({ code: "boom" });
    expect(await dispatchChat({ ...turn, run_id: "r2", agent: "reader" }, host)).toMatchObject({ reply: "handler" });
  });
});
