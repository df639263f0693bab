// What every store of switches promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import { heardOn, type StoresInTest } from "./contract/stores-in-test.ts";
import { SWITCHED, type SwitchStore } from "./switch-store.ts";

const refund = { kind: "tool", name: "shop/refund", off: true, reason: "Refunds twice.", set_by: "user:1" } as const;

export function describeSwitchStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`switch store on ${name}`, () => {
    let world: StoresInTest;
    let switches: SwitchStore;

    beforeEach(async () => {
      world = await open();
      ({ switches } = world.stores);
    });

    it("gives them as they were set last, a tool apart from an agent of the same name", async () => {
      await switches.set({ ...refund, name: "sales" });
      await switches.set({ ...refund, kind: "agent", name: "sales", reason: "" });
      await switches.set({ ...refund, name: "sales", off: false, reason: "Mended.", set_by: "user:2" });
      expect(await switches.list()).toEqual([
        { ...refund, kind: "agent", name: "sales", reason: "", set_at: expect.any(Number) },
        { ...refund, name: "sales", off: false, reason: "Mended.", set_by: "user:2", set_at: expect.any(Number) },
      ]);
    });

    it("tells everybody who listens", async () => {
      const second = (await world.openSecond?.()) ?? world;
      const heard = await heardOn(second.driver);
      await switches.set(refund);
      expect(await heard.all()).toEqual([SWITCHED]);
    });

    it.each(losses)("sets one when a commit loses %s", async (loss) => {
      const driver = losingDriver(world.driver);
      const losing = (await world.storesOn(driver)).switches;
      driver.loseNext(loss);
      await losing.set(refund);
      expect(await switches.list()).toMatchObject([refund]);
    });
  });
}
