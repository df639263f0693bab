// What the gateway's event stream promises, as tests: ids rise in the order of commits, and a reader that follows misses nothing.
import { setImmediate as eventLoopGoesOn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { aJob, aJobCommit, claimJob, commitJob, queued } from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import type { StoresInTest } from "../contract/stores-in-test.ts";
import type { Stores } from "../stores.ts";
import type { GatewayEventStore } from "./gateway-event-store.ts";

const entry = (type: string) => ({ type, data: JSON.stringify({ type }), job_id: null });

export function describeGatewayEvents(name: string, open: () => Promise<StoresInTest>): void {
  describe(`event stream of the gateway on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let events: GatewayEventStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ events } = stores.gateway);
    });

    const types = async (after = 0, limit = 100) => (await events.read({ after, limit })).map(({ type }) => type);

    it("is read in order, from behind an id on", async () => {
      expect([await events.last(), await types()]).toEqual([0, []]);
      await events.append([entry("one"), entry("two")]);
      await events.append([]);
      await events.append([entry("three")]);
      expect(await events.read({ after: 0, limit: 1 })).toEqual([
        { id: 1, type: "one", data: '{"type":"one"}', job_id: null, at: expect.any(Number) },
      ]);
      expect(await types(1)).toEqual(["two", "three"]);
      expect(await types(0, 2)).toEqual(["one", "two"]);
      expect([await events.last(), await types(3)]).toEqual([3, []]);
    });

    it("gives no id twice, not even after its entry was pruned", async () => {
      await events.append([entry("one"), entry("two"), entry("three")]);
      expect(await events.prune(60_000_000, 9)).toBe(0);
      expect(await events.prune(0, 2)).toBe(2);
      expect([await types(), await events.last()]).toEqual([["three"], 3]);
      expect(await events.prune(0, 2)).toBe(1);
      await events.append([entry("four")]);
      expect(await events.read({ after: 0, limit: 9 })).toMatchObject([{ id: 4, type: "four" }]);
    });

    it("shows a reader that follows every entry in order, however many processes commit", async () => {
      const second = (await world.openSecond?.())?.stores ?? stores;
      await queued(stores, ...Array.from({ length: 20 }, () => aJob()));
      let writing = 4;
      const seen: number[] = [];
      const follow = async () => {
        for (let isLast = false; !isLast; ) {
          isLast = writing === 0;
          // Reads alone would not let the event loop go on.
          await eventLoopGoesOn();
          for (const { id } of await events.read({ after: seen.at(-1) ?? 0, limit: 7 })) {
            seen.push(id);
            isLast = false;
          }
        }
      };
      const write = async (own: Stores, worker: string) => {
        for (let count = 0; count < 10; count++) {
          await own.gateway.events.append([entry("one"), entry("two"), entry("three")]);
        }
        for (let job = await claimJob(own, { worker }); job; job = await claimJob(own, { worker })) {
          await commitJob(own, aJobCommit(job, { worker, stream: [entry("four"), entry("five")] }));
        }
        writing--;
      };
      await Promise.all([follow(), ...[stores, second, stores, second].map((own, index) => write(own, `${index}`))]);
      const expected = 4 * 10 * 3 + 20 * 3;
      expect(seen).toEqual(Array.from({ length: expected }, (_, index) => index + 1));
      expect(await events.last()).toBe(expected);
    });

    it.each(losses)("is written once when it loses %s", async (loss) => {
      const losing = losingDriver(world.driver);
      const shaky = (await world.storesOn(losing)).gateway.events;
      await events.append([entry("zero")]);
      losing.loseNext(loss);
      await shaky.append([entry("one"), entry("two")]);
      losing.loseNext(loss);
      await shaky.append([entry("three")]);
      expect(await types()).toEqual(["zero", "one", "two", "three"]);
    });
  });
}
