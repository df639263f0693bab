// What every engine promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, anEntry, MINUTE } from "./contract/a-commit.ts";
import {
  claim,
  dueThread,
  everything,
  heardOn,
  heldThread,
  nextDue,
  openThread,
  type StoresInTest,
  WORKER,
} from "./contract/stores-in-test.ts";
import type { Engine, Held } from "./engine.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";

export function describeEngine(name: string, open: () => Promise<StoresInTest>): void {
  describe(`engine on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let engine: Engine;
    let driver: SqlDriver;

    beforeEach(async () => {
      world = await open();
      ({ stores, driver } = world);
      ({ engine } = stores);
    });

    const other = { worker: "worker 2" };
    const ids = (threads: readonly { readonly id: string }[]) => threads.map(({ id }) => id).sort();

    /** Threads that are due so long after now; a negative time is one that has passed. */
    async function threadsDueAfter(times: Readonly<Record<string, number | null>>): Promise<void> {
      const held: Held[] = [];
      for (const id of Object.keys(times)) held.push(await heldThread(stores, { id }));
      for (const each of held) {
        const settle = { wake_rev: each.wake_rev, due_after: times[each.id] ?? null };
        await stores.threads.commit(aCommit(each, { drained: [1], settle }));
      }
    }

    describe("claiming", () => {
      it("takes what is due, and counts", async () => {
        await threadsDueAfter({ later: MINUTE });
        await openThread(stores);
        const id = await dueThread(stores);
        expect(await claim(stores, { lease_us: 0 })).toEqual([{ id, epoch: 1, claims: 1 }]);
        expect(await claim(stores, { ...other, lease_us: 0 })).toEqual([{ id, epoch: 2, claims: 2 }]);
        expect(await stores.threads.load(id)).toMatchObject({ epoch: 2, thread: { status: "idle", next_seq: 0 } });
      });

      it("leaves what somebody holds, until the lease is over", async () => {
        const id = await dueThread(stores);
        expect(ids(await claim(stores))).toEqual([id]);
        expect(await claim(stores, other)).toEqual([]);
        expect(await claim(stores)).toEqual([]);
        await engine.renew(WORKER, [id], 0);
        expect(ids(await claim(stores, other))).toEqual([id]);
      });

      it("passes over what the worker is at work on, though its lease seems to be over", async () => {
        const first = await dueThread(stores);
        const second = await dueThread(stores);
        await claim(stores, { lease_us: 0 });
        const third = await dueThread(stores);
        expect(ids(await claim(stores, { lease_us: 0, except: [first, second] }))).toEqual([third]);
        expect(await claim(stores, { except: [first, second, third] })).toEqual([]);
        // Without having been asked about, they are as they were.
        const agents = ["nobody", "support"];
        expect(await claim(stores, { ...other, agents, except: [third, "nobody", first] })).toEqual([
          { id: second, epoch: 2, claims: 2 },
        ]);
      });

      it("takes only the threads of agents that this process knows", async () => {
        await dueThread(stores, { id: "support", agent: "support" });
        await dueThread(stores, { id: "sales", agent: "sales" });
        await dueThread(stores, { id: "unknown", agent: "unknown" });
        expect(await claim(stores, { agents: [] })).toEqual([]);
        expect(await claim(stores, { agents: ["nobody"] })).toEqual([]);
        expect(ids(await claim(stores, { agents: ["nobody", "sales", "support"] }))).toEqual(["sales", "support"]);
      });

      it("takes only what this process can read", async () => {
        await dueThread(stores, { id: "old", state_version: 1 });
        await dueThread(stores, { id: "current", state_version: 2 });
        await dueThread(stores, { id: "new", state_version: 3 });
        expect(ids(await claim(stores, { state_version: 2 }))).toEqual(["current", "old"]);
        expect(ids(await claim(stores, { state_version: 3 }))).toEqual(["new"]);
      });

      it("takes those that are due the longest, up to the limit", async () => {
        await threadsDueAfter({
          third: -3 * MINUTE,
          first: -5 * MINUTE,
          fourth: -2 * MINUTE,
          fifth: -MINUTE,
          second: -4 * MINUTE,
        });
        expect(await claim(stores, { limit: 0 })).toEqual([]);
        expect(ids(await claim(stores, { limit: 1 }))).toEqual(["first"]);
        expect(ids(await claim(stores, { limit: 2 }))).toEqual(["second", "third"]);
        expect(ids(await claim(stores, { limit: 9 }))).toEqual(["fifth", "fourth"]);
      });

      it("never gives a thread to two who ask at the same time", async () => {
        const opened = await Promise.all(Array.from({ length: 200 }, () => dueThread(stores)));
        const second = world.openSecond;
        const processes = second
          ? [world, ...(await Promise.all(Array.from({ length: 3 }, () => second())))]
          : [world, world, world, world];
        const taken = await Promise.all(
          processes.map(async (process, index) => {
            const own: string[] = [];
            // Until one finds nothing; what another holds just now is passed over, so whoever comes last may get little.
            for (;;) {
              const claimed = await claim(process.stores, { worker: `worker ${index}`, limit: 7 });
              expect(claimed.length).toBeLessThanOrEqual(7);
              if (claimed.length === 0) return own;
              own.push(...claimed.map(({ id }) => id));
            }
          }),
        );
        const rest = await claim(stores, { worker: "worker 0", limit: 200 });
        expect([...taken.flat(), ...ids(rest)].sort()).toEqual(opened.sort());
        for (const [index, own] of taken.entries()) {
          const held = await engine.renew(`worker ${index}`, opened, MINUTE);
          expect(ids(held)).toEqual(index === 0 ? [...own, ...ids(rest)].sort() : own.sort());
        }
      });
    });

    describe("renewing", () => {
      it("tells what the worker holds, and whether it was woken", async () => {
        const first = await heldThread(stores);
        const second = await heldThread(stores);
        await stores.inbox.put(second.id, anEntry());
        const foreign = await dueThread(stores);
        await claim(stores, other);
        const held = await engine.renew(WORKER, [second.id, "nobody", first.id, foreign], MINUTE);
        const expected: Held[] = [first, { ...second, wake_rev: 2 }];
        const byId = (left: Held, right: Held) => (left.id < right.id ? -1 : 1);
        expect([...held].sort(byId)).toEqual(expected.sort(byId));
      });

      it("holds on to a thread whose lease was over, if nobody has taken it", async () => {
        const id = await dueThread(stores);
        await claim(stores, { lease_us: 0 });
        expect(ids(await engine.renew(WORKER, [id], MINUTE))).toEqual([id]);
        expect(await claim(stores, other)).toEqual([]);
      });

      it("leaves those that it is not asked for to run out", async () => {
        const first = await heldThread(stores);
        const second = await dueThread(stores);
        await claim(stores, { lease_us: 0 });
        expect(ids(await engine.renew(WORKER, [first.id], MINUTE))).toEqual([first.id]);
        expect(await engine.renew(WORKER, [], MINUTE)).toEqual([]);
        expect(ids(await claim(stores, other))).toEqual([second]);
      });

      it("says nothing of what somebody else has taken", async () => {
        const id = await dueThread(stores);
        await claim(stores, { lease_us: 0 });
        await claim(stores, other);
        expect(await engine.renew(WORKER, [id], MINUTE)).toEqual([]);
        expect(await engine.renew("worker 2", [id], MINUTE)).toMatchObject([{ id, epoch: 2 }]);
      });
    });

    describe("giving a thread back", () => {
      it("leaves it until it is woken when no time is given", async () => {
        const held = await heldThread(stores);
        await engine.giveBack(held, null);
        expect(await nextDue(stores)).toBeNull();
        expect(await engine.renew(WORKER, [held.id], MINUTE)).toEqual([]);
        await stores.inbox.put(held.id, anEntry());
        expect(ids(await claim(stores, other))).toEqual([held.id]);
      });

      it("makes it due after the time that is given", async () => {
        const held = await heldThread(stores);
        await engine.giveBack(held, MINUTE);
        const wait = await nextDue(stores);
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(MINUTE);
      });

      it.each([null, MINUTE])(
        "makes it due at once when it was woken meanwhile, whatever the time: %s",
        async (after) => {
          const held = await heldThread(stores);
          await stores.inbox.put(held.id, anEntry());
          await engine.giveBack(held, after);
          expect(ids(await claim(stores, other))).toEqual([held.id]);
        },
      );

      it("after a failure keeps to its time, woken or not", async () => {
        const held = await heldThread(stores);
        await stores.inbox.put(held.id, anEntry());
        await engine.giveBack({ ...held, wake_rev: null }, MINUTE);
        expect(await claim(stores, other)).toEqual([]);
        expect(await nextDue(stores)).toBeGreaterThan(0);
      });

      it("counts as a failure only when it is one", async () => {
        const { id, epoch, wake_rev } = await heldThread(stores);
        await engine.giveBack({ id, epoch, wake_rev: null }, 0);
        expect(await claim(stores)).toEqual([{ id, epoch: 2, claims: 2 }]);
        await engine.giveBack({ id, epoch: 2, wake_rev }, 0);
        expect(await claim(stores)).toEqual([{ id, epoch: 3, claims: 1 }]);
      });

      it("does nothing for one who has lost it", async () => {
        const id = await dueThread(stores);
        const [first] = await claim(stores, { lease_us: 0 });
        await claim(stores, other);
        const before = await everything(driver);
        await engine.giveBack({ id, epoch: first?.epoch ?? 0, wake_rev: 1 }, null);
        await engine.giveBack({ id: "nobody", epoch: 1, wake_rev: null }, null);
        expect(await everything(driver)).toEqual(before);
      });
    });

    describe("a stuck thread", () => {
      it("is left alone, also when it is woken, until it is to try again", async () => {
        const held = await heldThread(stores);
        await engine.markStuck(held.id, held.epoch);
        await stores.inbox.put(held.id, anEntry());
        expect(await stores.threads.get(held.id)).toMatchObject({ status: "stuck" });
        expect(await nextDue(stores)).toBeNull();
        expect(await claim(stores)).toEqual([]);
        expect(await engine.renew(WORKER, [held.id], MINUTE)).toEqual([]);

        const heard = await heardOn(driver);
        expect(await engine.retry(held.id)).toBe(true);
        expect(await heard.all()).toEqual([held.id]);
        expect(await stores.threads.get(held.id)).toMatchObject({ status: "idle" });
        expect(await claim(stores)).toEqual([{ id: held.id, epoch: 2, claims: 1 }]);
        expect(await stores.inbox.waiting(held.id)).toHaveLength(2);
      });

      it("is not made by one who has lost it", async () => {
        const id = await dueThread(stores);
        await claim(stores, { lease_us: 0 });
        await claim(stores, other);
        const before = await everything(driver);
        await engine.markStuck(id, 1);
        expect(await everything(driver)).toEqual(before);
      });

      it("tries again once; any other thread does not", async () => {
        const held = await heldThread(stores);
        const heard = await heardOn(driver);
        expect(await engine.retry(held.id)).toBe(false);
        expect(await engine.retry("nobody")).toBe(false);
        expect(await heard.all()).toEqual([]);
        await engine.markStuck(held.id, held.epoch);
        const outcomes = await Promise.all(Array.from({ length: 5 }, () => engine.retry(held.id)));
        expect(outcomes.filter(Boolean)).toHaveLength(1);
      });
    });

    describe("the next due thread", () => {
      const next = () => nextDue(stores, { agents: ["support", "sales"] });

      it("is none when there is nothing to do", async () => {
        expect(await next()).toBeNull();
        await openThread(stores);
        await threadsDueAfter({ waiting: null });
        expect(await next()).toBeNull();
      });

      it("is the earliest, of an agent that this process knows", async () => {
        await threadsDueAfter({ later: 3 * MINUTE, soon: MINUTE });
        const wait = await next();
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(MINUTE);
        await dueThread(stores, { agent: "unknown" });
        expect(await next()).toBeGreaterThan(0);
        expect(await nextDue(stores, { agents: [] })).toBeNull();
        await dueThread(stores, { agent: "sales" });
        expect(await next()).toBe(0);
      });

      it("is not one that this process cannot read", async () => {
        await dueThread(stores, { state_version: 2 });
        expect(await nextDue(stores, { state_version: 1 })).toBeNull();
        expect(await nextDue(stores, { state_version: 2 })).toBe(0);
      });

      it("is not one that somebody holds, until the lease is over", async () => {
        const { id } = await heldThread(stores);
        expect(await next()).toBeNull();
        await engine.renew(WORKER, [id], 0);
        expect(await next()).toBe(0);
      });
    });
  });
}
