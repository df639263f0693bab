// What the store of loaded configurations promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import type { StoresInTest } from "../contract/stores-in-test.ts";
import type { Stores } from "../stores.ts";
import type { ConfigurationStore } from "./configuration-store.ts";

export function describeConfigurations(name: string, open: () => Promise<StoresInTest>): void {
  describe(`loaded configurations on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let configurations: ConfigurationStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ configurations } = stores.gateway);
    });

    const old = { digest: "old", number: 1 };
    const fresh = { digest: "fresh", number: 2 };

    it("have numbers that rise, however many processes ask", async () => {
      const second = (await world.openSecond?.())?.stores.gateway.configurations ?? configurations;
      const asked = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? configurations : second).nextNumber());
      expect((await Promise.all(asked)).toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await configurations.nextNumber()).toBe(7);
    });

    it("count for as long as their worker is alive, the one with the highest number first", async () => {
      const { membership } = stores;
      expect(await configurations.newest()).toBeUndefined();
      await configurations.put("unknown", fresh);
      expect(await configurations.newest()).toBeUndefined();
      for (const worker of ["one", "two"]) await membership.register(worker);
      await configurations.put("one", fresh);
      await configurations.put("two", old);
      expect(await configurations.newest()).toEqual(fresh);
      await configurations.put("one", fresh);
      expect(await configurations.newest()).toEqual(fresh);
      await membership.leave("one");
      expect(await configurations.newest()).toEqual(old);
      await configurations.put("two", { digest: "reloaded", number: 3 });
      expect(await configurations.newest()).toEqual({ digest: "reloaded", number: 3 });
      await membership.leave("two");
      expect(await configurations.newest()).toBeUndefined();
    });

    it.each(losses)("have a number of their own when they lose %s", async (loss) => {
      const losing = losingDriver(world.driver);
      const shaky = (await world.storesOn(losing)).gateway.configurations;
      const before = await shaky.nextNumber();
      losing.loseNext(loss);
      const number = await shaky.nextNumber();
      expect(number).toBeGreaterThan(before);
      await stores.membership.register("one");
      losing.loseNext(loss);
      await shaky.put("one", { digest: "digest", number });
      expect(await configurations.newest()).toEqual({ digest: "digest", number });
      expect(await configurations.nextNumber()).toBeGreaterThan(number);
    });
  });
}
