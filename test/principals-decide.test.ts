// Promise: every thread acts for somebody, and no tool of it, or of a thread that it creates, may do more than that somebody
// may: what the token, the client and the context leave of what its user holds.
import { describe, expect, it } from "vitest";
import type { HoldfastOptions } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { actor, creates, finishes, lead, onlyChild, staying, worker } from "./standard-agents/team.ts";

const ann = { acting_user_id: 7, effective_agent_id: "desk", auth_source: "user", request_context: "chat" };

const publishes = tool({
  name: "site/publish",
  description: "Publishes.",
  requiredCapability: "publish_posts",
  execute: () => "published",
});

const desk = (more: object = {}) =>
  agent({
    slug: "desk",
    model: scriptedModel([callsTool("site/publish", {}), says("Done.")]),
    tools: [publishes],
    ...more,
  });

const trust: HoldfastOptions["trust"] = { holdsCapability: (id, name) => id === 7 && name === "publish_posts" };

async function result(thread: ThreadHandle) {
  await thread.send("Publish.");
  const last = (await thread.messages()).findLast(({ message }) => message.type === "tool_result");
  return last?.message.payload;
}

const published = { success: true, result: "published" };
const denied = { success: false, metadata: { error_type: "capability_denied" } };

eachDatabase((newWorld) => {
  describe("a tool that takes a capability", () => {
    it("runs for a user who holds it, and for nobody else", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk(), { trust });
      const open = (key: string, principal?: object) =>
        holdfast.threads.open(key, { agent: "desk", ...(principal && { principal: { ...principal } }) });

      expect(await result(await open("ann", ann))).toMatchObject(published);
      expect(await result(await open("bob", { ...ann, acting_user_id: 8 }))).toMatchObject(denied);
      expect(await result(await open("nobody"))).toMatchObject(denied);
      expect(await result(await open("system", { ...ann, acting_user_id: 0, auth_source: "system" }))).toMatchObject(
        denied,
      );
    });

    it("runs within the token's list, the client's and the context's, each of which only narrows", async () => {
      const world = await newWorld();
      const clients: Record<string, object> = {
        wide: { user_id: 7, allowed_capabilities: ["publish_posts", "read"] },
        narrow: { user_id: 7, allowed_capabilities: ["read"] },
      };
      const narrowed = desk({
        slug: "narrowed",
        context: { capability_ceiling: { user_id: 7, allowed_capabilities: ["read"] } },
      });
      const holdfast = await world.open([desk(), narrowed], {
        trust: { ...trust, clientCeiling: (id) => clients[id] },
      });
      const opened = async (key: string, options: object, slug = "desk") => {
        const { token } = await holdfast.tokens.create({ agent: slug, owner_user_id: 7, ...options });
        const principal = await holdfast.tokens.authenticate(token);
        return await holdfast.threads.open(key, { agent: slug, principal: { ...principal } });
      };

      expect(await result(await opened("all", {}))).toMatchObject(published);
      expect(await result(await opened("own", { allowed_capabilities: ["publish_posts"] }))).toMatchObject(published);
      expect(await result(await opened("none", { allowed_capabilities: [] }))).toMatchObject(denied);
      expect(await result(await opened("other", { allowed_capabilities: ["read"] }))).toMatchObject(denied);
      expect(await result(await opened("wide", { client_id: "wide" }))).toMatchObject(published);
      expect(await result(await opened("narrow", { client_id: "narrow" }))).toMatchObject(denied);
      expect(await result(await opened("context", {}, "narrowed"))).toMatchObject(denied);
    });

    it.each<[string, object]>([
      ["by the host's word", {}],
      ["by the word of the agent", { holdsCapability: () => true }],
      ["whatever the agent says of whom", { authorize: () => true }],
    ])("is denied from the moment that the token behind the thread is revoked, %s", async (_word, own) => {
      const world = await newWorld();
      const model = scriptedModel([callsTool("site/publish", {}), says("Done."), callsTool("site/publish", {})]);
      const holdfast = await world.open(desk({ model, ...own }), { trust: { holdsCapability: () => true } });
      const { token, metadata } = await holdfast.tokens.create({ agent: "desk", owner_user_id: 7 });
      const principal = await holdfast.tokens.authenticate(token);
      const thread = await holdfast.threads.open("t", { agent: "desk", ...(principal && { principal }) });
      expect(await result(thread)).toMatchObject(published);

      await holdfast.tokens.revoke(metadata.token_id, "desk");
      expect(await result(thread)).toMatchObject(denied);
      if (!principal) throw new Error("The token lets nobody in.");
      const { authority } = holdfast;
      expect(await authority.allows(principal, "publish_posts")).toBe(false);
      expect(await authority.within(principal, "publish_posts")).toBe(false);
      expect(await authority.allows({ ...principal, token_id: null }, "publish_posts")).toBe(true);
    });

    it("is denied to whoever acts on nobody's behalf and was given no list, where that is wanted", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk(), { trust: { ...trust, safeAutonomy: true } });
      const { token } = await holdfast.tokens.create({ agent: "desk", owner_user_id: 7 });
      const principal = await holdfast.tokens.authenticate(token);

      expect(
        await result(await holdfast.threads.open("t", { agent: "desk", principal: { ...principal } })),
      ).toMatchObject(denied);
      expect(await result(await holdfast.threads.open("u", { agent: "desk", principal: ann }))).toMatchObject(
        published,
      );
    });

    it("is denied to code that runs it at once, and so is what takes a person's yes", async () => {
      const world = await newWorld();
      const ran: string[] = [];
      const makes = (name: string, more: object) =>
        tool({ name, description: "Does it.", ...more, execute: () => void ran.push(name) });
      const tools = [
        makes("site/publish", { requiredCapability: "publish_posts" }),
        makes("site/ask", { actionPolicy: "preview" }),
        makes("site/never", { actionPolicy: "forbidden" }),
      ];
      const outcomes: unknown[] = [];
      const runs = tool({
        name: "site/run",
        description: "Runs the others.",
        execute: async (_input, { state }) => {
          for (const each of tools) outcomes.push((await state.invokeTool(each.name)).status);
        },
      });
      const model = scriptedModel([callsTool("site/run", {}), says("Done.")]);
      const holdfast = await world.open(agent({ slug: "desk", model, tools: [runs, ...tools] }), { trust });
      const send = async (key: string, id: number) => {
        const principal = { ...ann, acting_user_id: id };
        await (await holdfast.threads.open(key, { agent: "desk", principal })).send("Go.");
        return [outcomes.splice(0), ran.splice(0)];
      };
      expect(await send("ann", 7)).toEqual([["success", "error", "error"], ["site/publish"]]);
      expect(await send("bob", 8)).toEqual([["error", "error", "error"], []]);
    });

    it("is denied to a child and to a fork of a thread that may not use it", async () => {
      const world = await newWorld();
      const ran: string[] = [];
      const publish = tool({
        name: "publish",
        description: "Publishes.",
        requiredCapability: "publish_posts",
        execute: (_input, { threadId }) => {
          ran.push(threadId);
          return { status: "success", result: "published" };
        },
      });
      const opened = async (key: string, user: number) => {
        const child = actor(callsTool("publish", {}), finishes("Written."));
        const boss = actor(creates(), "Done.", callsTool("publish", {}), "Done.");
        const holdfast = await world.open(
          [lead(boss.model, [staying("worker"), publish]), worker(child.model, { tools: [publish] })],
          { trust },
        );
        const principal = { ...ann, acting_user_id: user };
        const thread = await holdfast.threads.open(key, { agent: "lead", principal });
        expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Done." });
        const { reference } = await onlyChild(holdfast, thread);
        const fork = await thread.fork(`${key} again`);
        await fork.send("Publish it yourself.");
        await holdfast.close();
        return { child: reference, fork: fork.id };
      };

      await opened("bob", 8);
      expect(ran).toEqual([]);
      const { child, fork } = await opened("ann", 7);
      expect(ran).toEqual([child, fork]);
    });
  });

  it("an agent's settings do not say whom a thread acts for, nor do those of a child's agent", async () => {
    const world = await newWorld();
    const strong = { ...ann, effective_agent_id: "strong" };
    const claims = desk({ slug: "claims", context: { principal: strong, user_id: 7, acting_user_id: 7 } });
    const child = actor(callsTool("publish", {}), finishes("Written."));
    const boss = actor(creates(), "Done.");
    const ran: string[] = [];
    const publish = tool({
      name: "publish",
      description: "Publishes.",
      requiredCapability: "publish_posts",
      execute: () => void ran.push("published"),
    });
    const holdfast = await world.open(
      [
        claims,
        lead(boss.model, [staying("worker")]),
        worker(child.model, { tools: [publish], principal: { acting_user_id: 7 } } as never),
      ],
      { trust },
    );
    const bob = await holdfast.threads.open("bob", { agent: "claims", principal: { ...ann, acting_user_id: 8 } });
    expect(await result(bob)).toMatchObject(denied);
    const parent = await holdfast.threads.open("parent", { agent: "lead" });
    await parent.send("Go.");
    expect(ran).toEqual([]);
  });

  it("the mode of a thread is the mode of its tools", async () => {
    const world = await newWorld();
    const shown: string[][] = [];
    const tools = ["chat", "cron"].map((mode) =>
      tool({ name: `site/${mode}`, description: "Does.", modes: [mode], execute: () => "done" }),
    );
    const one = agent({
      slug: "desk",
      tools,
      model: (_messages, _context, options) => {
        shown.push(Object.keys(options.tools));
        return says("Done.");
      },
    });
    const holdfast = await world.open(one);
    await (await holdfast.threads.open("a", { agent: "desk" })).send("Go.");
    await (await holdfast.threads.open("b", { agent: "desk", context: "cron" })).send("Go.");
    expect(shown).toEqual([["site/chat"], ["site/cron"]]);
  });

  it("a thread belongs to who opened it: its key opens it for nobody else", async () => {
    const world = await newWorld();
    const holdfast = await world.open(desk(), { trust });
    const open = (principal?: object) =>
      holdfast.threads.open("t", { agent: "desk", ...(principal && { principal: { ...principal } }) });
    const { id } = await open(ann);

    expect((await open({ ...ann, request_context: "rest", request_metadata: { ip: "::1" } })).id).toBe(id);
    await expect(open({ ...ann, acting_user_id: 8 })).rejects.toMatchObject({ code: "thread_key_taken" });
    const narrow = { user_id: 7, allowed_capabilities: [] };
    await expect(open({ ...ann, capability_ceiling: narrow })).rejects.toMatchObject({ code: "thread_key_taken" });
    await expect(open({ ...ann, client_id: "kiosk" })).rejects.toMatchObject({ code: "thread_key_taken" });
    await expect(open({ ...ann, owner_type: "browser", owner_key: "x" })).rejects.toMatchObject({
      code: "thread_key_taken",
    });
  });

  it("a principal that is none is refused with the field that is wrong, and nothing is opened", async () => {
    const world = await newWorld();
    const holdfast = await world.open(desk(), { trust });
    const open = (principal: object) => holdfast.threads.open("t", { agent: "desk", principal: { ...principal } });
    await expect(open({ ...ann, auth_source: "magic" })).rejects.toMatchObject({
      code: "invalid_agent_execution_principal",
      message: expect.stringContaining("auth_source"),
    });
    await expect(open({ ...ann, capability_ceiling: { user_id: -1 } })).rejects.toMatchObject({
      code: "invalid_wp_agent_capability_ceiling",
    });
    expect(await holdfast.threads.list()).toEqual([]);
  });
});
