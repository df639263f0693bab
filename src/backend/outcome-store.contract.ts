// What every store of first outcomes promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import { everything, type StoresInTest } from "./contract/stores-in-test.ts";
import type { NewOutcome, OutcomeStore } from "./outcome-store.ts";

const MINUTE = 60_000_000;

let claims = 0;

function aWrite(parts: Partial<NewOutcome> = {}): NewOutcome {
  return {
    ...{ caller: "user 7", operation: "holdfast/open-thread", idempotency_key: "mail 12", payload_hash: "hash" },
    ...{ claim_id: `claim ${++claims}`, lease_us: MINUTE, keep_us: 10 * MINUTE },
    ...parts,
  };
}

export function describeOutcomeStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`outcome store on ${name}`, () => {
    let world: StoresInTest;
    let outcomes: OutcomeStore;

    beforeEach(async () => {
      world = await open();
      ({ outcomes } = world.stores);
    });

    it("lets one begin, and tells everybody else what it came to", async () => {
      const first = aWrite();
      expect(await outcomes.begin(first)).toEqual({ outcome: "begun" });
      expect(await outcomes.begin(aWrite())).toEqual({ outcome: "under_way" });
      expect(await outcomes.settle(first, "sealed", MINUTE)).toBe(true);
      expect(await outcomes.begin(aWrite())).toEqual({ outcome: "known", sealed: "sealed" });
    });

    it("lets one of many begin who come at the same time, from whatever process", async () => {
      const second = (await world.openSecond?.())?.stores.outcomes ?? outcomes;
      const begun = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? outcomes : second).begin(aWrite())),
      );
      expect(begun.filter(({ outcome }) => outcome === "begun")).toHaveLength(1);
      expect(begun.filter(({ outcome }) => outcome === "under_way")).toHaveLength(19);
    });

    it("refuses another payload under the same key, before it is settled and after", async () => {
      const first = aWrite({ lease_us: 0 });
      await outcomes.begin(first);
      expect(await outcomes.begin(aWrite({ payload_hash: "another" }))).toEqual({ outcome: "conflicting" });
      await outcomes.settle(first, "sealed", MINUTE);
      expect(await outcomes.begin(aWrite({ payload_hash: "another" }))).toEqual({ outcome: "conflicting" });
    });

    it.each([{ caller: "user 8" }, { operation: "holdfast/send-message" }, { idempotency_key: "mail 13" }])(
      "keeps the writes of %j apart from others",
      async (other) => {
        await outcomes.begin(aWrite());
        expect(await outcomes.begin(aWrite({ ...other, payload_hash: "another" }))).toEqual({ outcome: "begun" });
      },
    );

    it("lets another take over from one that was not heard of in time, whose outcome counts no more", async () => {
      const dead = aWrite({ lease_us: 0 });
      await outcomes.begin(dead);
      const next = aWrite();
      expect(await outcomes.begin(next)).toEqual({ outcome: "begun" });
      expect(await outcomes.prolong(dead, MINUTE)).toBe(false);
      expect(await outcomes.settle(dead, "late", MINUTE)).toBe(false);
      expect(await outcomes.settle(next, "sealed", MINUTE)).toBe(true);
      expect(await outcomes.settle(dead, "late", MINUTE)).toBe(false);
      await outcomes.abandon(dead);
      expect(await outcomes.begin(aWrite())).toEqual({ outcome: "known", sealed: "sealed" });
    });

    it("leaves one alone that is heard of, and frees it when nobody can be at work on it", async () => {
      const slow = aWrite({ lease_us: 0 });
      await outcomes.begin(slow);
      expect(await outcomes.prolong(slow, MINUTE)).toBe(true);
      expect(await outcomes.begin(aWrite())).toEqual({ outcome: "under_way" });
      await outcomes.free();
      expect(await outcomes.begin(aWrite())).toEqual({ outcome: "begun" });
    });

    it("says how a write stands without beginning it", async () => {
      const write = aWrite();
      expect(await outcomes.find(write)).toBe("never_begun");
      await outcomes.begin(write);
      expect(await outcomes.find(write)).toBe("under_way");
      await outcomes.settle(write, "sealed", MINUTE);
      expect(await outcomes.find(write)).toBe("known");
      expect(await outcomes.find({ ...write, caller: "user 8" })).toBe("never_begun");
    });

    it("says that a write is lost that was begun and whose process is gone", async () => {
      const dead = aWrite({ lease_us: 0 });
      await outcomes.begin(dead);
      expect(await outcomes.find(dead)).toBe("lost");
      await outcomes.abandon(dead);
      expect(await outcomes.find(dead)).toBe("never_begun");
    });

    it("forgets what was abandoned", async () => {
      const first = aWrite();
      await outcomes.begin(first);
      await outcomes.abandon(first);
      expect(await outcomes.begin(aWrite({ payload_hash: "another" }))).toEqual({ outcome: "begun" });
    });

    it("takes a key whose time is up for a new one, and removes it, unless somebody is at work on it", async () => {
      const old = aWrite();
      await outcomes.begin(old);
      await outcomes.settle(old, "sealed", 0);
      const fresh = aWrite({ payload_hash: "another", keep_us: 0 });
      expect(await outcomes.begin(fresh)).toEqual({ outcome: "begun" });
      await outcomes.expire();
      expect((await everything(world.driver)).outcomes).toHaveLength(1);
      await outcomes.settle(fresh, "sealed", 0);
      await outcomes.begin(aWrite({ idempotency_key: "mail 13" }));
      await outcomes.expire();
      expect((await everything(world.driver)).outcomes).toMatchObject([{ idempotency_key: "mail 13" }]);
    });

    it.each(losses)("begins and settles once when a commit loses %s", async (loss) => {
      const driver = losingDriver(world.driver);
      const losing = (await world.storesOn(driver)).outcomes;
      const write = aWrite();
      driver.loseNext(loss);
      expect(await losing.begin(write)).toEqual({ outcome: "begun" });
      driver.loseNext(loss);
      expect(await losing.settle(write, "sealed", MINUTE)).toBe(true);
      expect(await outcomes.begin(aWrite())).toEqual({ outcome: "known", sealed: "sealed" });
    });
  });
}
