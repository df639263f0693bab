import { beforeEach, describe, expect, it } from "vitest";
import { type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { admin, openShop, person } from "../../test/shop-desk.ts";
import { childAgent, parentAgent } from "../../test/survives-a-crash/child-agent.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import { callsTool, says } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";
import { createDesk } from "./desk.ts";
import { FOLLOW_THREAD, followOperations } from "./follow.ts";
import { createWorkbench } from "./reach.ts";

const notFound = { code: "thread_not_found" };
const onlyRead = { code: "ability_forbidden" };

/** What lets a thread do something, or takes something away from it. */
const acts: Readonly<Record<string, object>> = {
  "send-message": { content: "Hello" },
  "continue-thread": {},
  "edit-message": { seq: 0, content: "Something else" },
  "delete-message": { seq: 0 },
  "fork-thread": { key: "copy" },
  "queue-tool": { name: "shop/report" },
  "call-tool": { name: "shop/report" },
  "cancel-queued": { entry_id: "none" },
  "write-file": { path: "a.txt", data: "YQ==" },
  "delete-file": { path: "a.txt" },
  "run-effect": { effect_id: "none" },
  "cancel-effect": { effect_id: "none" },
  "change-consent": { consent: { use_memory: false } },
  "delete-thread": {},
};

/** What may be done through one client, whoever comes through it. */
const kioskMay = ["threads.write", "files.write", "chat"];

let ran: unknown[];
let world: DeskWorld;

/** Agents without a script of their own: each answers with one word. */
function shop() {
  const model = async () => says("Done.");
  const execute = () => ran.push("report");
  const report = tool({ name: "shop/report", description: "Reports.", requiredCapability: "reports.read", execute });
  return [agent({ slug: "shop", model, tools: [report] }), agent({ slug: "books", model })];
}

beforeEach(async () => {
  ran = [];
  world = await deskWorld({
    agents: shop(),
    trust: {
      holdsCapability: (_, capability) => capability === "reports.read",
      clientCeiling: (id) => (id === "kiosk" ? { user_id: 7, allowed_capabilities: kioskMay } : null),
    },
  });
});

async function opened(calls: Calls, input: object = {}): Promise<string> {
  const { id } = await calls("holdfast/open-thread", { agent: "shop", key: "k", ...input });
  await calls("holdfast/send-message", { thread_id: id, content: "Hello", wait: true });
  return id;
}

describe("whoever was let in for one workspace", () => {
  const there = { workspace_id: "w2" };
  const here = { workspace_id: "w1" };

  async function elsewhere() {
    for (const workspace_id of ["w1", "w2"]) {
      await world.holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator", workspace_id });
      await world.holdfast.grants.grant({ agent: "shop", user_id: 9, role: "admin", workspace_id });
    }
    return await opened(world.as(7, there));
  }

  it("reaches nothing of another, as its owner, by role or as a manager", async () => {
    const thread_id = await elsewhere();
    for (const calls of [world.as(7, here), world.as(9, here), world.as(1, here)]) {
      for (const name of ["get-thread", "list-messages", "export-thread", "stop-thread", "terminate-thread"]) {
        expect(await calls(`holdfast/${name}`, { thread_id }), name).toMatchObject(notFound);
      }
      for (const [name, more] of Object.entries(acts)) {
        expect(await calls(`holdfast/${name}`, { thread_id, ...more }), name).toMatchObject(notFound);
      }
      expect(await calls("holdfast/list-threads")).toEqual({ threads: [], has_more: false });
      const said = { agent: "shop", message: "Hello", session_id: thread_id };
      expect(await calls("agents/chat", said)).toMatchObject({ code: "agents_chat_run_owner_forbidden" });
    }
    for (const calls of [world.as(7, there), world.as(9, there), world.as(1, there), world.as(1)]) {
      expect(await calls("holdfast/get-thread", { thread_id })).toMatchObject({ id: thread_id });
    }
    expect(await world.as(1, there)("holdfast/list-threads")).toMatchObject({ threads: [{ id: thread_id }] });
    expect(await world.as(7)("holdfast/list-threads")).toMatchObject({ threads: [{ id: thread_id }] });
    expect(ran).toEqual([]);
  });

  it("keeps threads under the same key apart from those in another, and opens them where he is", async () => {
    const thread_id = await elsewhere();
    const own = await opened(world.as(7, here));
    expect(own).not.toBe(thread_id);
    expect(await opened(world.as(7, there))).toBe(thread_id);
    const workspace = { workspace_type: "site", workspace_id: "w1" };
    expect(await world.holdfast.threads.subject(own)).toMatchObject({ workspace });
  });

  it("knows neither requests nor approvals nor sessions nor pending actions of another", async () => {
    const { call, wish, holdfast } = await openShop();
    const { request_id } = await wish("refund", person(7, there));
    await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator", workspace_id: "w1" });
    const { session } = await call(person(7, there), "agents/create-conversation-session", { agent: "shop" });
    const { session_id } = session as { session_id: string };
    for (const caller of [person(7, here), person(1, here)]) {
      expect(await call(caller, "holdfast/list-requests")).toMatchObject({ requests: [] });
      expect(await call(caller, "holdfast/list-approvals")).toMatchObject({ approvals: [] });
      expect(await call(caller, "agents/list-pending-actions")).toEqual({ actions: [], has_more: false });
      expect(await call(caller, "agents/summary-pending-actions")).toMatchObject({ total: 0 });
      expect(await call(caller, "agents/get-pending-action", { action_id: request_id })).toEqual({ action: null });
      const decided = { request_id, action_id: request_id, decision: "accepted" };
      const unknown = { code: "request_not_found" };
      expect(await call(caller, "holdfast/decide-approval", decided)).toMatchObject(unknown);
      expect(await call(caller, "holdfast/submit-request", decided)).toMatchObject(unknown);
      expect(await call(caller, "agents/resolve-pending-action", decided)).toMatchObject({
        code: "pending_action_not_found",
      });
      expect(await call(caller, "agents/get-conversation-session", { session_id })).toMatchObject({
        code: "agents_conversation_session_not_found",
      });
    }
    expect(await call(person(1, there), "holdfast/list-requests")).toMatchObject({ requests: [{ id: request_id }] });
    expect(await call(person(1, there), "agents/get-conversation-session", { session_id })).toMatchObject({
      session: { session_id },
    });
  });
});

describe("whoever administers an agent", () => {
  it("reads and stops the threads of others, and does nothing on them", async () => {
    await world.grant("shop", 7);
    await world.holdfast.grants.grant({ agent: "shop", user_id: 9, role: "admin" });
    const thread_id = await opened(world.as(7));
    const nine = world.as(9);
    for (const [name, more] of Object.entries(acts)) {
      expect(await nine(`holdfast/${name}`, { thread_id, ...more }), name).toMatchObject(onlyRead);
    }
    const queued = { session_id: thread_id, message: "Hello", agent: "shop" };
    expect(await nine("agents/queue-chat-message", queued)).toMatchObject(onlyRead);
    expect(await nine("agents/chat", queued)).toMatchObject({ code: "agents_chat_run_owner_forbidden" });
    const variables = { parent_thread_id: thread_id, request_id: "none", env: {} };
    expect(await nine("holdfast/submit-variables", variables)).toMatchObject(onlyRead);
    expect(await nine("holdfast/list-messages", { thread_id })).toMatchObject({ messages: [{ seq: 0 }, { seq: 1 }] });
    expect(await nine("holdfast/stop-thread", { thread_id })).toMatchObject({ status: "stopped" });
    expect(await nine("holdfast/terminate-thread", { thread_id })).toMatchObject({ status: "terminated" });
    expect(ran).toEqual([]);
  });

  it("neither decides, nor answers, nor is shown the secrets of a call", async () => {
    const { call, wish, holdfast, refunded } = await openShop();
    await holdfast.grants.grant({ agent: "shop", user_id: 9, role: "admin" });
    const { request_id } = await wish("refund", person(7));
    const yes = { request_id, action_id: request_id, decision: "accepted" };
    for (const name of ["holdfast/decide-approval", "holdfast/submit-request", "agents/resolve-pending-action"]) {
      expect(await call(person(9), name, yes), name).toMatchObject({ code: "approval_forbidden" });
    }
    expect(await call(person(9), "holdfast/get-approval", { request_id })).toMatchObject({ status: "pending" });
    expect(refunded).toEqual([]);

    const asked = (await wish("where", person(7))).request_id;
    const answer = { request_id: asked, result: { city: "Rome" } };
    for (const name of ["holdfast/submit-request", "agents/submit-runtime-tool-result"]) {
      expect(await call(person(9), name, answer), name).toMatchObject(onlyRead);
    }
    for (const name of ["holdfast/get-request", "agents/get-runtime-tool-request"]) {
      const shown = JSON.stringify(await call(person(9), name, { request_id: asked }));
      expect(shown, name).toContain(asked);
      expect(shown, name).not.toContain("4111-secret");
      expect(JSON.stringify(await call(admin, name, { request_id: asked })), name).toContain("4111-secret");
    }
  });

  it("has no decision remembered for another user: that is for the user, and for who manages threads", async () => {
    const { call, wish, holdfast } = await openShop({ approvers: { role: "admin" } });
    await holdfast.grants.grant({ agent: "shop", user_id: 9, role: "admin" });
    await holdfast.grants.grant({ agent: "shop", user_id: 1, role: "admin" });
    const workspace = { workspace_type: "site", workspace_id: "default" };
    const { request_id } = await wish("refund", person(7), { workspace });
    const yes = { request_id, decision: "accepted", remember: true };
    for (const name of ["holdfast/decide-approval", "holdfast/submit-request"]) {
      expect(await call(person(9), name, yes), name).toMatchObject({ code: "approval_forbidden" });
    }
    const payload = { action_id: request_id, decision: "accepted", payload: { remember: true } };
    expect(await call(person(9), "agents/resolve-pending-action", payload)).toMatchObject({
      code: "approval_forbidden",
    });
    expect(await call(admin, "holdfast/decide-approval", yes)).toMatchObject({ outcome: "submitted" });
    expect(await call(person(7), "holdfast/list-remembered-approvals")).toMatchObject({ remembered: [{ user_id: 7 }] });
  });
});

describe("a thread", () => {
  const victim = { workspace_type: "site", workspace_id: "victim" };

  it("is opened in no workspace that its caller was not let in for, through whichever door", async () => {
    await world.grant("shop", 7);
    await world.holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator", workspace_id: "w1" });
    const forbidden = { code: "workspace_forbidden" };
    for (const calls of [world.as(7), world.as(7, { workspace_id: "w1" }), world.as(1, { workspace_id: "w1" })]) {
      expect(await calls("holdfast/open-thread", { agent: "shop", workspace: victim })).toMatchObject(forbidden);
      const said = { agent: "shop", message: "Hello", workspace: victim };
      expect(await calls("agents/chat", said)).toMatchObject(forbidden);
    }
    expect(await world.holdfast.threads.list()).toEqual([]);
  });

  it("is opened where its caller was granted the agent, where the agent is, and anywhere by managers", async () => {
    await world.grant("shop", 8);
    await world.holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator", workspace_id: "victim" });
    const usual = { workspace_type: "site", workspace_id: "default" };
    for (const [calls, workspace] of [
      [world.as(7), victim],
      [world.as(8), usual],
      [world.as(1), victim],
    ] as const) {
      const { id } = await calls("holdfast/open-thread", { agent: "shop", workspace });
      expect(await world.holdfast.threads.subject(id)).toMatchObject({ workspace });
      expect(await calls("holdfast/send-message", { thread_id: id, content: "Hi" })).toMatchObject({
        status: "queued",
      });
    }
  });

  it("does nothing for a caller who may do less than whom it acts for", async () => {
    await world.grant("shop", 7);
    const thread_id = await opened(world.as(7));
    const more = { code: "thread_acts_with_more" };
    const narrow = ceiling(7, "threads.read", "threads.write", "files.write", "chat");
    for (const calls of [world.as(7, narrow), world.as(7, { client_id: "kiosk" })]) {
      for (const [name, input] of Object.entries(acts)) {
        expect(await calls(`holdfast/${name}`, { thread_id, ...input }), name).toMatchObject(more);
      }
      const said = { agent: "shop", message: "Hello", session_id: thread_id };
      expect(await calls("agents/chat", said)).toMatchObject(more);
      const own = await opened(calls, { key: crypto.randomUUID() });
      expect(await calls("holdfast/call-tool", { thread_id: own, name: "shop/report" })).toMatchObject({
        call: { outcome: "capability_denied" },
      });
    }
    expect(ran).toEqual([]);
    expect(await world.as(7, narrow)("holdfast/get-thread", { thread_id })).toMatchObject({ id: thread_id });
    // A client of which nothing is said narrows nothing.
    const web = world.as(7, { client_id: "web" });
    expect(await web("holdfast/call-tool", { thread_id, name: "shop/report" })).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["report"]);
  });

  it("does nothing for a manager whose ceiling is lower, who answers for others all the same", async () => {
    const { call, wish } = await openShop();
    const { thread, request_id } = await wish("where", person(7));
    const console = person(1, {
      capability_ceiling: {
        user_id: 1,
        allowed_capabilities: ["threads.manage", "threads.write", "threads.read", "requests.answer"],
      },
    });
    const said = { thread_id: thread.id, content: "Hello" };
    expect(await call(console, "holdfast/send-message", said)).toMatchObject({ code: "thread_acts_with_more" });
    expect(await call(admin, "holdfast/send-message", said)).toMatchObject({ status: "queued" });
    expect(await call(console, "holdfast/submit-request", { request_id, result: 1 })).toMatchObject({
      outcome: "submitted",
    });
  });

  it("acts for the manager who opens it, who cannot decide alone what takes two", async () => {
    const { call, refunded, holdfast } = await openShop({ approvers: { other_than_requester: true } });
    const { id, key } = await call(admin, "holdfast/open-thread", { agent: "shop", key: "mine" });
    expect(key).toBe("mine");
    expect(await holdfast.threads.subject(String(id))).toMatchObject({ principal: { acting_user_id: 1 } });
    const sent = await call(admin, "holdfast/send-message", { thread_id: id, content: "refund", wait: true });
    const { request_id } = sent.waiting_for as { request_id: string };
    expect(await call(admin, "holdfast/decide-approval", { request_id, decision: "accepted" })).toMatchObject({
      code: "approval_forbidden",
    });
    expect(refunded).toEqual([]);
  });

  it("acts for the user of a manager's token, with its ceiling, who decides what does not take two", async () => {
    const allowed = ["threads.manage", "threads.write", "threads.read", "approvals.decide"];
    const { call, refunded, holdfast } = await openShop();
    const ceiling = { user_id: 1, allowed_capabilities: allowed };
    for (const token of [
      principals.agentToken(1, "console", 3),
      principals.agentToken(1, "console", 4, { capability_ceiling: ceiling }),
    ]) {
      const { id } = await call(token, "holdfast/open-thread", { agent: "shop" });
      const { principal, owner } = await holdfast.threads.subject(String(id));
      expect(owner).toEqual({ type: "user", key: "1" });
      expect(principal.capability_ceiling).toEqual(token.capability_ceiling);
      const sent = await call(token, "holdfast/send-message", { thread_id: id, content: "refund", wait: true });
      const { request_id } = sent.waiting_for as { request_id: string };
      expect(await call(token, "holdfast/decide-approval", { request_id, decision: "accepted" })).toMatchObject({
        outcome: "submitted",
      });
      await (await holdfast.threads.get(String(id))).wait();
    }
    expect(refunded).toEqual([7, 7]);
  });

  it("is opened again under its key by whoever manages threads, and stays whose it is", async () => {
    const { call, holdfast } = await openShop();
    const first = await holdfast.threads.open("desk", { agent: "shop", principal: person(7) });
    const second = await call(admin, "holdfast/open-thread", { agent: "shop", key: "by one" });
    const other = principals.agentToken(1, "console", 3);
    for (const [key, id] of [
      ["desk", first.id],
      ["by one", second.id],
    ] as const) {
      expect(await call(other, "holdfast/open-thread", { agent: "shop", key })).toMatchObject({ id, key });
    }
    expect(await holdfast.threads.subject(first.id)).toMatchObject({ principal: { acting_user_id: 7 } });
    expect(await call(other, "holdfast/open-thread", { agent: "books", key: "desk" })).toMatchObject({
      code: "thread_key_taken",
    });
  });

  it("does nothing for who may not use its agent any more, and can still be read and stopped", async () => {
    await world.grant("shop", 7);
    const seven = world.as(7);
    const thread_id = await opened(seven);
    await world.holdfast.grants.revoke("shop", { user_id: 7 });
    const gone = { code: "agent_not_found" };
    for (const [name, more] of Object.entries(acts)) {
      if (name === "change-consent") continue;
      expect(await seven(`holdfast/${name}`, { thread_id, ...more }), name).toMatchObject(gone);
    }
    expect(await seven("agents/queue-chat-message", { session_id: thread_id, message: "Hello" })).toMatchObject(gone);
    // What was agreed to can always be taken back.
    const consent = { use_memory: false };
    expect(await seven("holdfast/change-consent", { thread_id, consent })).toMatchObject({ consent });
    expect(await seven("holdfast/get-thread", { thread_id })).toMatchObject({ id: thread_id });
    expect(await seven("holdfast/stop-thread", { thread_id })).toMatchObject({ status: "stopped" });
    expect(ran).toEqual([]);
  });

  it("of a subagent is for whoever may use the agent that had it do its work", async () => {
    const wish = { agent: "postman", message: "Fetch the mail.", attachments: [], name: "postman" };
    const household = await deskWorld({
      agents: [
        parentAgent("household", {
          script: [callsTool("subagent_create", wish), says("Sent for."), says("There is mail.")],
          tools: [{ name: "postman", resumable: {} }],
        }),
        childAgent("postman", {
          script: [says("Shall I?"), says("Very well."), callsTool("finish", { text: "Done." })],
        }),
      ],
    });
    await household.grant("household", 7);
    const seven = household.as(7);
    const { id } = await seven("holdfast/open-thread", { agent: "household" });
    await seven("holdfast/send-message", { thread_id: id, content: "Is there mail?", wait: true });
    const { threads } = await seven("holdfast/list-threads", { parent: id });
    const said = { thread_id: threads[0].id, content: "Yes.", queue: true };
    expect(await seven("holdfast/send-message", said)).toMatchObject({ status: "queued" });
    await household.holdfast.grants.revoke("household", { user_id: 7 });
    expect(await seven("holdfast/send-message", said)).toMatchObject({ code: "agent_not_found" });
  });
});

describe("visitors", () => {
  const visitor = (audience: string, owner_key: string) => principals.audience(audience, "console", { owner_key });

  it("of two audiences are never the same, nor do two of one meet under a key", async () => {
    const { call, holdfast } = await openShop();
    for (const audience_id of ["a", "b"]) {
      await holdfast.grants.grant({ agent: "shop", audience_id, role: "operator" });
    }
    const open = async (who: Principal, key: string) =>
      String((await call(who, "holdfast/open-thread", { agent: "shop", key })).id);
    const first = await open(visitor("a", "42"), "k");
    const other = visitor("b", "42");
    expect(await call(other, "holdfast/get-thread", { thread_id: first })).toMatchObject(notFound);
    expect(await call(other, "holdfast/list-threads")).toMatchObject({ threads: [] });
    expect(await call(visitor("a", "42"), "holdfast/list-threads")).toMatchObject({ threads: [{ id: first }] });
    const ids = [
      first,
      await open(other, "k"),
      await open(visitor("a", "x"), "y/k"),
      await open(visitor("a", "x/y"), "k"),
    ];
    expect(new Set(ids).size).toBe(4);
  });
});

it("ends what somebody follows who no longer reaches the thread, and nobody's own", async () => {
  await world.grant("shop", 7);
  await world.holdfast.grants.grant({ agent: "shop", user_id: 9, role: "admin" });
  const thread_id = await opened(world.as(7));
  const desk = createDesk(followOperations(createWorkbench(world.holdfast), { lookMs: 5 }));
  const follow = async (user: number) =>
    (await desk.call(
      FOLLOW_THREAD,
      { thread_id, after: "now" },
      { principal: person(user), door: "http" },
    )) as AsyncIterable<unknown>;
  const [owner, administrator] = [await follow(7), await follow(9)];
  const lookingOn = (async () => {
    for await (const event of administrator) void event;
  })();
  await world.holdfast.grants.revoke("shop", { user_id: 9 });
  await lookingOn;
  await world.as(7)("holdfast/send-message", { thread_id, content: "Still here?" });
  for await (const event of owner) {
    expect(event).toMatchObject({ type: expect.any(String) });
    break;
  }
});
