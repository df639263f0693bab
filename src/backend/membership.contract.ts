// What every database promises about workers: which of them are alive, and what becomes of what the others had leased.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, MINUTE } from "./contract/a-commit.ts";
import { claim, dueThread, heardOn, heldThread, type StoresInTest, WORKER } from "./contract/stores-in-test.ts";
import type { Engine } from "./engine.ts";
import type { MembershipStore } from "./membership.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";

export function describeMembership(name: string, open: () => Promise<StoresInTest>): void {
  describe(`membership on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let engine: Engine;
    let membership: MembershipStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      world = await open();
      ({ stores, driver } = world);
      ({ engine, membership } = stores);
    });

    const other = { worker: "worker 2" };
    const ids = (threads: readonly { readonly id: string }[]) => threads.map(({ id }) => id).sort();

    describe("releasing", () => {
      it("gives everything back that the worker holds, due now", async () => {
        const held = [await heldThread(stores), await heldThread(stores)];
        const foreign = await dueThread(stores);
        await claim(stores, other);
        const heard = await heardOn(driver);
        await membership.release(WORKER);
        expect(await heard.all()).toEqual([""]);
        expect(await engine.renew(WORKER, ids(held), MINUTE)).toEqual([]);
        expect(ids(await engine.renew("worker 2", [foreign], MINUTE))).toEqual([foreign]);
        expect(ids(await claim(stores, { worker: "worker 3" }))).toEqual(ids(held));
      });

      it("does not count the claim", async () => {
        const id = await dueThread(stores);
        for (let count = 0; count < 5; count++) {
          expect(await claim(stores)).toEqual([{ id, epoch: count + 1, claims: 1 }]);
          await membership.release(WORKER);
        }
        const [held] = await claim(stores);
        await stores.threads.commit(aCommit({ id, epoch: held?.epoch ?? 0 }));
        await membership.release(WORKER);
        expect(await claim(stores)).toMatchObject([{ claims: 1 }]);
      });
    });

    describe("workers", () => {
      it("that have left are not looked for", async () => {
        await membership.register(WORKER);
        await membership.leave(WORKER);
        expect((await membership.reap("worker 2")).workers).toBe(0);
      });

      it("never take themselves for dead", async () => {
        await membership.register(WORKER);
        const held = await heldThread(stores);
        expect((await membership.reap(WORKER)).workers).toBe(0);
        expect(ids(await engine.renew(WORKER, [held.id], MINUTE))).toEqual([held.id]);
      });

      it("that are gone leave their threads to the others at once", async () => {
        const gone = (await world.openSecond?.()) ?? world;
        // A name is held until its process ends, and the first process serves all tests: no other test takes this one.
        const worker = "gone with its process";
        await gone.stores.membership.register(worker);
        const id = await dueThread(stores);
        await claim(gone.stores, { worker });
        const own = await heldThread(stores);
        if (gone !== world) await gone.driver.close();

        expect(await claim(stores, other)).toEqual([]);
        // On a shared database the second look decides: a connection may be cut off and come back.
        expect([await membership.reap(WORKER), await membership.reap(WORKER)]).toContainEqual({
          workers: 1,
          freed: expect.objectContaining({ threads: 1 }),
        });
        expect(await claim(stores, other)).toEqual([{ id, epoch: 2, claims: 2 }]);
        expect(ids(await engine.renew(WORKER, [own.id, id], MINUTE))).toEqual([own.id]);
        expect((await membership.reap(WORKER)).workers).toBe(0);
      });

      it("that live keep their threads", async () => {
        const second = await world.openSecond?.();
        // Where one process has the database to itself, nobody else can be alive.
        if (!second) return;
        const worker = "alive in its process";
        await second.stores.membership.register(worker);
        await dueThread(stores);
        await claim(second.stores, { worker });
        for (const _ of [1, 2, 3]) expect((await membership.reap(WORKER)).workers).toBe(0);
        expect(await claim(stores, other)).toEqual([]);
      });

      it("that were only cut off for a moment keep their threads", async () => {
        const second = await world.openSecond?.();
        if (!second) return;
        await membership.register("cut off");
        const id = await dueThread(stores);
        await claim(stores, { worker: "cut off" });
        const session = { isSessionHeld: false };
        const blind = await second.storesOn({ ...second.driver, isSessionHeld: async () => session.isSessionHeld });
        expect((await blind.membership.reap(WORKER)).workers).toBe(0);
        session.isSessionHeld = true;
        expect((await blind.membership.reap(WORKER)).workers).toBe(0);
        session.isSessionHeld = false;
        expect((await blind.membership.reap(WORKER)).workers).toBe(0);
        expect(ids(await engine.renew("cut off", [id], MINUTE))).toEqual([id]);
      });

      it("that were taken for dead by mistake are known again with their next beat", async () => {
        await membership.register(WORKER);
        expect((await membership.reap("worker 2")).workers).toBe(driver.isShared ? 0 : 1);
        await membership.leave(WORKER);
        await engine.renew(WORKER, [], MINUTE);
        expect(await driver.all("select id from workers")).toEqual([{ id: WORKER }]);
      });
    });
  });
}
