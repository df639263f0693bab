import { describe, expect, it } from "vitest";
import { type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { person } from "../../test/shop-desk.ts";
import { callsTool, says } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";
import { callerIdentity, entryKey } from "./caller-identity.ts";

const bob = person(6);
const byName = { user_id: 6, allowed_capabilities: ["chat"] };
const chain = { caller_agent_id: "a", caller_user_id: 6, chain_depth: 1, chain_root_request_id: "r" };

it.each([
  ["another user", person(7)],
  ["a ceiling", person(6, { capability_ceiling: byName })],
  ["another ceiling", person(6, { capability_ceiling: { ...byName, allowed_capabilities: [] } })],
  ["another agent", { ...bob, effective_agent_id: "other" }],
  ["another workspace", person(6, { workspace_id: "w" })],
  ["another client", person(6, { client_id: "c" })],
  ["an agent that calls", person(6, { caller_context: { ...chain, caller_host: "https://a.example" } })],
  ["the same of another host", person(6, { caller_context: { ...chain, caller_host: "https://b.example" } })],
])("tells %s from somebody", (_, other) => {
  expect(callerIdentity(other)).not.toEqual(callerIdentity(bob));
  expect(entryKey(other, "k")).not.toBe(entryKey(bob, "k"));
});

it("is the same from one request to the next", () => {
  const again = person(6, { request_context: "chat", request_metadata: { id: "2" } });
  expect(callerIdentity(again)).toEqual(callerIdentity(bob));
  expect(entryKey(again, "k")).toBe(entryKey(bob, "k"));
  expect(entryKey(bob, undefined)).toBeUndefined();
});

it("leaves keys as they are behind it, as long as there is room", () => {
  expect(entryKey(bob, "order/7")).toMatch(/^[0-9a-f]{16}:order\/7$/);
  const long = entryKey(bob, "k".repeat(2_000));
  expect(Buffer.byteLength(long)).toBeLessThan(2_000);
  expect(entryKey(bob, `${"k".repeat(1_999)}l`)).not.toBe(long);
});

describe("a write under a key", () => {
  const where = tool({ name: "client/where", description: "Asks the client.", sensitive: ["card"] });
  const desk = agent({
    slug: "shop",
    tools: [where],
    model: async (messages) => {
      const { type, content } = messages.at(-1) ?? {};
      return type === "text" && content === "where"
        ? callsTool("client/where", { card: "4111-secret" })
        : says("Done.");
    },
  });

  async function world(): Promise<DeskWorld & { readonly bob: Calls }> {
    const made = await deskWorld({ agents: [desk] });
    await made.grant("shop", 6, 1);
    return { ...made, bob: made.as(6) };
  }

  it("tells whoever comes with less not what the first one was told", async () => {
    const { as, bob: whole } = await world();
    const chat = { agent: "shop", message: "where" };
    expect(JSON.stringify(await whole("agents/chat", chat, "k"))).toContain("4111-secret");
    const narrow = await as(6, ceiling(6, "chat"))("agents/chat", chat, "k");
    expect(JSON.stringify(narrow)).not.toContain("4111-secret");
  });

  it("is not that of somebody else on the same thread", async () => {
    const { as, bob: own } = await world();
    const { id: thread_id } = await own("holdfast/open-thread", { agent: "shop", key: "t" });
    const sent = await own("holdfast/send-message", { thread_id, content: "pay" }, "k");
    const other = await as(1)("holdfast/send-message", { thread_id, content: "other" }, "k");
    expect(sent).toMatchObject({ status: "queued" });
    expect(other).toMatchObject({ status: "queued" });
    expect(other.id).not.toBe(sent.id);
    expect(await own("holdfast/send-message", { thread_id, content: "pay" }, "k")).toEqual(sent);
  });

  it("is no run of a chat that is called the same", async () => {
    const { bob: own } = await world();
    const { id: session_id } = await own("holdfast/open-thread", { agent: "shop", key: "t" });
    await own("holdfast/send-message", { thread_id: session_id, content: "pay", wait: true }, "k");
    const chat = { agent: "shop", session_id, message: "other words", run_id: "k" };
    expect(await own("agents/chat", chat)).toMatchObject({ run_id: "k", reply: "Done." });
  });

  it("makes a thread of its own, and never one that somebody has named", async () => {
    const { bob: own } = await world();
    const named = await own("holdfast/open-thread", { agent: "shop", key: "inbox" });
    const made = await own("holdfast/open-thread", { agent: "shop" }, "inbox");
    expect(made.id).not.toBe(named.id);
    expect(await own("holdfast/open-thread", { agent: "shop" }, "inbox")).toEqual(made);
    const again = await own("holdfast/open-thread", { agent: "shop", key: made.key });
    expect(again.id).not.toBe(made.id);
    await own("holdfast/send-message", { thread_id: named.id, content: "pay", wait: true });
    const forked = await own("holdfast/fork-thread", { thread_id: named.id }, "inbox");
    expect(forked).toMatchObject({ id: expect.any(String), key: expect.stringContaining("#fork/inbox") });
    expect(await own("holdfast/fork-thread", { thread_id: named.id }, "inbox")).toEqual(forked);
  });

  it("names no budget but for those who manage threads, who are told which there are", async () => {
    const { as, bob: own, holdfast } = await world();
    await holdfast.budgets.set("big", { tokens: 1_000_000 });
    const open = (calls: Calls, budget: string) => calls("holdfast/open-thread", { agent: "shop", budget });
    for (const budget of ["big", "none"]) {
      const message = `There is no budget "${budget}".`;
      expect(await open(own, budget)).toEqual({ code: "budget_not_found", message });
    }
    expect(await open(as(1), "big")).toMatchObject({ budget: "big" });
    expect(await open(as(1), "none")).toMatchObject({ code: "budget_not_found" });
  });
});
