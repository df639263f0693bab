// What a deletion promises that is signed, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { tombstoneStatement } from "../../contracts/audit/tombstone.ts";
import type { AuditStore } from "../audit-store.ts";
import { aCommit } from "../contract/a-commit.ts";
import { openChild } from "../contract/a-write.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import { heldThread, openThread, type StoresInTest } from "../contract/stores-in-test.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { signedDeletion } from "./signed-deletion.ts";
import { createThreadStore } from "./threads.ts";

export function describeSignedDeletion(name: string, open: () => Promise<StoresInTest>): void {
  describe(`a deletion that is signed on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let audit: AuditStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ audit } = stores);
    });

    const sign = (text: string) => `signed ${text}`;
    const signedFor = async (...ids: readonly string[]) =>
      (await audit.tombstones()).filter(
        ({ thread, signature, ...rest }) =>
          ids.includes(thread) && signature === sign(tombstoneStatement({ thread, ...rest })),
      );

    /** A driver that lets something happen right before its next batch. */
    function meddled(meddle: () => Promise<unknown>) {
      let isMeddled = false;
      const driver: SqlDriver = {
        ...world.driver,
        async batch(statements) {
          if (!isMeddled && statements.some(({ sql }) => sql.includes("audit_tombstones"))) {
            isMeddled = true;
            await meddle();
          }
          return await world.driver.batch(statements);
        },
      };
      return signedDeletion(driver, createThreadStore(driver), sign);
    }

    it("signs what stays of a thread and of all that descend from it", async () => {
      for (const id of ["a", "b"]) await openThread(stores, { id });
      await openChild(stores, "a", { id: "child of a" });
      const remove = signedDeletion(world.driver, stores.threads, sign);
      expect([...(await remove("a", "retention"))].sort()).toEqual(["a", "child of a"]);
      expect(await signedFor("a", "child of a")).toMatchObject([{ reason: "retention" }, { reason: "retention" }]);
      expect(await remove("a")).toEqual([]);
      expect(await stores.threads.get("b")).toBeDefined();
    });

    it("signs anew for a thread that goes on meanwhile, and for one that has come to descend from it", async () => {
      const held = await heldThread(stores, { id: "a" });
      const commit = aCommit(held, { event: { hash: "hash 0" } });
      expect(await meddled(() => stores.threads.commit(commit))("a")).toEqual(["a"]);
      expect(await signedFor("a")).toMatchObject([{ seq: 0, hash: "hash 0" }]);
      await openThread(stores, { id: "b" });
      const deleted = await meddled(() => openChild(stores, "b", { id: "child of b" }))("b");
      expect([...deleted].sort()).toEqual(["b", "child of b"]);
      expect(await signedFor("b", "child of b")).toHaveLength(2);
    });

    it("counts what a thread has set aside of a budget by then, and not what it had when it was looked at", async () => {
      await stores.budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const held = await heldThread(stores, { id: "a", budget: "team" });
      const reserved = { tokens: 30, nanodollars: 0 };
      const budget_change = { name: "team", used: { tokens: 0, nanodollars: 0 }, reserved, reserves: true };
      const commit = aCommit(held, { budget_change, state: JSON.stringify({ reserved }) });
      expect(await meddled(() => stores.threads.commit(commit))("a")).toEqual(["a"]);
      expect(await stores.budgets.get("team")).toMatchObject({ used: { tokens: 30 }, reserved: { tokens: 0 } });
    });

    it("replaces what somebody else has left in the place of a tombstone", async () => {
      await openThread(stores, { id: "a" });
      await world.driver.batch([
        {
          sql: `insert into audit_tombstones (thread_id, seq, hash, reason, deleted_at, signature)
            values ('a', 7, 'forged', 'deleted', 1, 'forged')`,
          params: [],
        },
      ]);
      expect(await signedDeletion(world.driver, stores.threads, sign)("a")).toEqual(["a"]);
      expect(await signedFor("a")).toMatchObject([{ seq: -1, hash: "first hash" }]);
    });

    it.each(losses)("tells what it has deleted when it loses %s", async (loss) => {
      await openThread(stores, { id: "a" });
      const driver = losingDriver(world.driver);
      const lossy = await world.storesOn(driver);
      driver.loseNext(loss);
      expect(await signedDeletion(driver, lossy.threads, sign)("a")).toEqual(["a"]);
      expect(await signedFor("a")).toHaveLength(1);
    });

    it("deletes nothing that somebody came back to", async () => {
      await heldThread(stores, { id: "a" });
      const remove = signedDeletion(world.driver, stores.threads, sign);
      expect(await remove("a", "retention", 1)).toEqual([]);
      expect(await stores.threads.get("a")).toBeDefined();
      expect(await audit.tombstones()).toEqual([]);
    });
  });
}
