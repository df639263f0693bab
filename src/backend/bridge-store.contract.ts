// What every queue of bridges promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { BridgeStore } from "./bridge-store.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";

export function describeBridgeStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`bridge store on ${name}`, () => {
    let bridge: BridgeStore;
    let opened: StoresInTest;

    beforeEach(async () => {
      opened = await open();
      bridge = opened.stores.bridge;
    });

    const item = (queue_id: string, parts: object = {}) => ({
      queue_id,
      client_id: "relay",
      agent: "support",
      content: "Hello",
      created_at: "t",
      ...parts,
    });

    const ids = async (...args: Parameters<BridgeStore["pending"]>) =>
      (await bridge.pending(...args)).map(({ queue_id }) => queue_id);

    it("finds a client by any spelling of its name, as it was registered last", async () => {
      await bridge.register({ client_id: "Message_Relay", context: { old: 1 } });
      const client = await bridge.register({ client_id: "message-relay", callback_url: "https://b.example/cb" });
      expect(client).toMatchObject({ client_id: "message-relay", context: {}, registered_at: expect.any(String) });
      expect(await bridge.client("MESSAGE relay")).toEqual(client);
      expect(await bridge.client("other")).toBeUndefined();
    });

    it("gives what waits in the order it came, however often, whatever became of a push", async () => {
      await bridge.enqueue(item("q2", { delivery_status: "delivered" }));
      await bridge.enqueue(item("q1", { delivery_status: "failed", metadata: { m: 1 } }));
      await bridge.enqueue(item("q3", { client_id: "other" }));
      expect(await ids("Relay")).toEqual(["q2", "q1"]);
      expect(await ids("relay", { limit: 0 })).toEqual(["q2"]);
      expect(await bridge.pending("relay")).toMatchObject([
        { queue_id: "q2", delivery_status: "delivered" },
        { queue_id: "q1", delivery_status: "failed", metadata: { m: 1 }, content: "Hello", session_id: null },
      ]);
      expect(await ids("nobody")).toEqual([]);
    });

    it("gives 25 items unless told otherwise", async () => {
      for (let index = 0; index < 27; index++) await bridge.enqueue(item(`q${index}`));
      expect(await ids("relay")).toHaveLength(25);
      expect(await ids("relay", { limit: 100 })).toHaveLength(27);
    });

    it("gives what is for some sessions only, if any are named", async () => {
      await bridge.enqueue(item("q1", { session_id: "s1" }));
      await bridge.enqueue(item("q2", { session_id: "s2" }));
      await bridge.enqueue(item("q3"));
      expect(await ids("relay", { session_ids: ["s1", "s3"] })).toEqual(["q1"]);
      expect(await ids("relay", { session_ids: ["", " "] })).toEqual(["q1", "q2", "q3"]);
      expect(await ids("relay", { session_ids: ["s3"] })).toEqual([]);
    });

    it("replaces an item of the same client in its place", async () => {
      await bridge.enqueue(item("q1", { session_id: "s1" }));
      await bridge.enqueue(item("q2"));
      await bridge.enqueue(item("q1", { content: "Newer\0" }));
      expect(await bridge.pending("relay")).toMatchObject([
        { queue_id: "q1", content: "Newer", session_id: null },
        { queue_id: "q2" },
      ]);
      expect(await ids("relay", { session_ids: ["s1"] })).toEqual([]);
    });

    it("refuses to replace an item of another client", async () => {
      await bridge.enqueue(item("q1"));
      const theft = bridge.enqueue(item("q1", { client_id: "thief" }));
      await expect(theft).rejects.toMatchObject({
        code: "bridge_item_foreign",
        detail: expect.stringMatching("another client"),
      });
      expect(await ids("thief")).toEqual([]);
      expect(await bridge.pending("relay")).toMatchObject([{ queue_id: "q1", content: "Hello" }]);
    });

    it("refuses what is no item, and keeps nothing of it", async () => {
      await expect(bridge.enqueue(item("q1", { role: "user" }))).rejects.toMatchObject({
        code: "invalid_agent_bridge_queue_item",
      });
      expect(await ids("relay")).toEqual([]);
    });

    it("removes what its own client acknowledges, and nothing else", async () => {
      for (const id of ["q1", "q2"]) await bridge.enqueue(item(id));
      await bridge.enqueue(item("q3", { client_id: "other" }));
      expect(await bridge.ack("Relay", ["q1", "q3", "zz", " q1 "])).toBe(1);
      expect(await ids("relay")).toEqual(["q2"]);
      expect(await ids("other")).toEqual(["q3"]);
      expect(await bridge.ack("relay", ["q1"])).toBe(0);
      expect(await bridge.ack("relay", [])).toBe(0);
    });

    it("counts each item for one of those who acknowledge it at the same time", async () => {
      const far = (await opened.openSecond?.())?.stores.bridge ?? bridge;
      const all = Array.from({ length: 20 }, (_, index) => `q${index}`);
      for (const id of all) await bridge.enqueue(item(id));
      const counts = await Promise.all([
        bridge.ack("relay", all),
        far.ack("relay", all.toReversed()),
        bridge.ack("relay", all),
      ]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(all.length);
      expect(await ids("relay")).toEqual([]);
    });

    it("gives an id that two clients queue under at the same time to one of them", async () => {
      const far = (await opened.openSecond?.())?.stores.bridge ?? bridge;
      const queued = await Promise.allSettled([
        bridge.enqueue(item("q1", { client_id: "one" })),
        far.enqueue(item("q1", { client_id: "two" })),
      ]);
      expect(queued.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect([...(await ids("one")), ...(await ids("two"))]).toEqual(["q1"]);
    });
  });
}
