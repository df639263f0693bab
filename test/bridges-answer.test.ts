// Promise: a program elsewhere brings messages and fetches the answers, its own and nobody else's, until it has them.
import { describe, expect, it, onTestFinished } from "vitest";
import type { Model } from "../src/models/model.ts";
import { serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, type World } from "./databases.ts";

const model: Model = (messages) => ({ content: `You said: ${String(messages.at(-1)?.content)}`, tool_calls: [] });

type Item = { readonly queue_id: string; readonly session_id: string; readonly content: string };

type Answer = { readonly session_id: string; readonly messages: readonly Item[] };

async function open(world: World) {
  const agents = [agent({ slug: "friend", model }), agent({ slug: "secret", model })];
  const holdfast = await world.open(agents, { trust: { administrators: [1] } });
  const server = await serve(holdfast, { port: 0, rate: false });
  onTestFinished(() => server.close());

  /** A program with a token for one client. */
  async function program(client_id: string | null, owner_user_id = 1) {
    const { token } = await holdfast.tokens.create({
      ...{ agent: "friend", owner_user_id, client_id, label: "bridge" },
      allowed_capabilities: ["bridge.use", "chat"],
    });
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const call = async (path: string, body?: object) => {
      const method = body ? "POST" : "GET";
      const response = await fetch(`${server.url}/agents-api/v1/bridge/${path}`, {
        ...{ method, headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    };
    const pending = async (query = "") => (await call(`pending${query}`)).body.messages;
    return {
      call,
      pending,
      /** What waits, once so much does. */
      async until(count: number): Promise<readonly Item[]> {
        for (;;) {
          const items = await pending();
          if (items.length >= count) return items;
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    };
  }
  return { holdfast, program };
}

eachDatabase((newWorld) => {
  describe("a bridge", () => {
    it("brings a message, and fetches the answer until it says that it has it", async () => {
      const { program } = await open(await newWorld());
      const phone = await program("phone");
      const registered = await phone.call("register", { connector_id: "sms", context: { version: "1" } });
      expect(registered.body).toMatchObject({ client_id: "phone", connector_id: "sms" });

      const said = { agent: "friend", message: "Hello", message_id: "m1", conversation_id: "c1" };
      const sent = await phone.call("send", said);

      expect(sent).toMatchObject({ status: 202, body: { status: "accepted", message_id: "m1" } });
      const [item] = await phone.until(1);
      expect(item).toMatchObject({
        ...{ client_id: "phone", connector_id: "sms", agent: "friend", role: "assistant", completed: true },
        ...{ content: "You said: Hello", session_id: sent.body.session_id },
      });
      expect(await phone.pending()).toHaveLength(1);
      expect((await phone.call("send", said)).body).toMatchObject({ status: "duplicate" });
      const queue_ids = [item?.queue_id];
      expect((await phone.call("ack", { queue_ids })).body).toEqual({ acknowledged: 1 });
      expect((await phone.call("ack", { queue_ids })).body).toEqual({ acknowledged: 0 });
      expect(await phone.pending()).toEqual([]);
    });

    it("goes on in the session it is told, and filters what waits by sessions", async () => {
      const { program } = await open(await newWorld());
      const phone = await program("phone");
      const first = await phone.call("send", {
        ...{ agent: "friend", message: "One", message_id: "m1", conversation_id: "c1" },
      });
      await phone.until(1);
      const { session_id } = first.body;
      await phone.call("send", { agent: "friend", message: "Two", message_id: "m2", session_id });
      await phone.call("send", { agent: "friend", message: "Three", message_id: "m3", conversation_id: "c2" });

      const items = await phone.until(3);

      expect(items.filter((item) => item.session_id === session_id)).toHaveLength(2);
      expect(await phone.pending(`?session_ids=${session_id}`)).toHaveLength(2);
      expect(await phone.pending("?session_ids=nobody")).toEqual([]);
    });

    it("is for one client: the queue and the sessions of another one are not there for it", async () => {
      const { program } = await open(await newWorld());
      const phone = await program("phone");
      const radio = await program("radio");
      const { body } = await phone.call("send", {
        ...{ agent: "friend", message: "Hello", message_id: "m1", conversation_id: "c1" },
      });
      const [item] = await phone.until(1);

      expect(await radio.pending()).toEqual([]);
      expect((await radio.call("pending?client_id=phone")).body).toMatchObject({ code: "bridge_client_forbidden" });
      expect((await radio.call("ack", { queue_ids: [item?.queue_id] })).body).toEqual({ acknowledged: 0 });
      expect(await radio.call("register", { client_id: "phone" })).toMatchObject({ status: 403 });
      const stolen = { agent: "friend", message: "Hi", message_id: "m2", session_id: body.session_id };
      expect(await radio.call("send", stolen)).toMatchObject({ status: 404, body: { code: "session_not_found" } });
      const same = { agent: "friend", message: "Hello", message_id: "m1", conversation_id: "c1" };
      expect((await radio.call("send", same)).body.session_id).not.toBe(body.session_id);
      expect(await phone.pending()).toHaveLength(1);
    });

    it("speaks only with agents that its token is for, and only for its own connector", async () => {
      const { program } = await open(await newWorld());
      const phone = await program("phone", 7);
      const said = { agent: "friend", message: "Hello", message_id: "m1", conversation_id: "c1" };
      expect(await phone.call("send", said)).toMatchObject({ status: 403, body: { code: "ability_forbidden" } });

      const radio = await program("radio");
      await radio.call("register", { connector_id: "sms" });
      const other = await radio.call("send", { ...said, connector_id: "mail" });
      expect(other).toMatchObject({ status: 403, body: { code: "bridge_client_forbidden" } });
      const nobody = await program(null);
      expect(await nobody.call("pending")).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    });
  });
});
