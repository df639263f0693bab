// What every store of channels promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { ChannelStore } from "./channel-store.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { SqlDriver } from "./sql-driver.ts";

export function describeChannelStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`channel store on ${name}`, () => {
    let channels: ChannelStore;
    let driver: SqlDriver;
    let opened: StoresInTest;

    beforeEach(async () => {
      opened = await open();
      driver = opened.driver;
      channels = opened.stores.channels;
    });

    describe("an external conversation", () => {
      const conversation = { connector_id: "slack", external_conversation_id: "C1" };

      it("goes on in the session that was set last", async () => {
        expect(await channels.session(conversation)).toBeUndefined();
        await channels.setSession(conversation, "s1");
        await channels.setSession(conversation, "s2");
        expect(await channels.session(conversation)).toBe("s2");
        await channels.deleteSession(conversation);
        expect(await channels.session(conversation)).toBeUndefined();
        await channels.deleteSession(conversation);
      });

      it("has a session for each agent, and is known by any spelling of its connector", async () => {
        await channels.setSession({ ...conversation, connector_id: "Slack_Main", agent_slug: "A" }, "s1");
        const main = { ...conversation, connector_id: "slack-main" };
        expect(await channels.session({ ...main, agent_slug: "a" })).toBe("s1");
        expect(await channels.session({ ...main, agent_slug: "b" })).toBeUndefined();
        expect(await channels.session(main)).toBeUndefined();
        expect(await channels.session({ ...main, external_conversation_id: "c1", agent_slug: "a" })).toBeUndefined();
      });

      it("has no session when an empty one is set", async () => {
        await channels.setSession(conversation, "");
        expect(await channels.session(conversation)).toBeUndefined();
      });
    });

    describe("a message that came in", () => {
      const expire = () => driver.batch([{ sql: "update inbound_messages set expires_at = now_us()", params: [] }]);

      it("is known until its time is up, or it is forgotten", async () => {
        expect(await channels.seen("slack", "m1")).toBe(false);
        await channels.markSeen("slack", "m1", 60);
        expect(await channels.seen("Slack", " m1 ")).toBe(true);
        expect(await channels.seen("slack", "M1")).toBe(false);
        await channels.forget("slack", "m1");
        expect(await channels.seen("slack", "m1")).toBe(false);
        await channels.markSeen("slack", "m1", 60);
        await expire();
        expect(await channels.seen("slack", "m1")).toBe(false);
        await channels.markSeen("slack", "m1", 60);
        expect(await channels.seen("slack", "m1")).toBe(true);
      });

      it("is never known without an id or for less than a second", async () => {
        for (const [provider, id, ttl] of [
          [" ", "m", 60],
          ["p", " ", 60],
          ["p", "m", 0],
          ["p", "m", -5],
        ] as const) {
          await channels.markSeen(provider, id, ttl);
          expect(await channels.seen(provider, id)).toBe(false);
          expect(await channels.claim(provider, id, ttl)).toBe(true);
        }
        expect(await driver.all("select * from inbound_messages")).toEqual([]);
      });

      it("is handled by the first who claims it", async () => {
        expect(await channels.claim("slack", "m1", 60)).toBe(true);
        expect(await channels.claim("slack", "m1", 60)).toBe(false);
        expect(await channels.claim("slack", "m1", 0)).toBe(false);
        expect(await channels.seen("slack", "m1")).toBe(true);
        await expire();
        expect(await channels.claim("slack", "m1", 60)).toBe(true);
        await channels.forget("slack", "m1");
        expect(await channels.claim("slack", "m1", 60)).toBe(true);
        await channels.markSeen("slack", "m2", 60);
        expect(await channels.claim("slack", "m2", 60)).toBe(false);
      });

      it.each(["new", "known before"])("is handled by one of many who claim it at the same time: %s", async (which) => {
        const far = (await opened.openSecond?.())?.stores.channels ?? channels;
        if (which !== "new") {
          await channels.claim("slack", "m1", 60);
          await expire();
        }
        const claims = await Promise.all(
          Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? channels : far).claim("slack", "m1", 60)),
        );
        expect(claims.filter((won) => won)).toHaveLength(1);
      });

      it.each(losses)("is claimed when %s got lost", async (loss) => {
        const shaky = losingDriver(driver);
        const far = (await opened.storesOn(shaky)).channels;
        shaky.loseNext(loss);
        expect(await far.claim("slack", "m1", 60)).toBe(true);
        expect(await channels.claim("slack", "m1", 60)).toBe(false);
      });

      it("makes room for itself: those whose time is up are removed", async () => {
        for (const id of ["m1", "m2", "m3"]) await channels.markSeen("slack", id, 60);
        await expire();
        await channels.markSeen("slack", "m4", 60);
        expect(await driver.all("select * from inbound_messages")).toHaveLength(1);
      });
    });
  });
}
