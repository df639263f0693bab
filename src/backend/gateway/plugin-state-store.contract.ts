// What the store of plugin state promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aJobCommit, commitJob, heldJob } from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import type { StoresInTest } from "../contract/stores-in-test.ts";
import type { Stores } from "../stores.ts";
import type { PluginStateStore } from "./plugin-state-store.ts";

export function describePluginState(name: string, open: () => Promise<StoresInTest>): void {
  describe(`plugin state on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let states: PluginStateStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      states = stores.gateway.pluginState;
    });

    it("is replaced only by a caller who knows its revision", async () => {
      expect(await states.get("echo")).toBeUndefined();
      expect(await states.replace("echo", "one", 1)).toBe(false);
      expect([await states.replace("echo", "one", 0), await states.replace("echo", "two", 0)]).toEqual([true, false]);
      expect([await states.replace("echo", "two", 1), await states.replace("echo", "three", 1)]).toEqual([true, false]);
      expect(await states.get("echo")).toEqual({
        ...{ sealed_state: "two", sealed_owners: null, revision: 2, updated_at: expect.any(Number) },
      });
      expect(await states.get("echo\0")).toMatchObject({ revision: 2 });
    });

    it("says beside it for whom its runs were started", async () => {
      const state = { plugin: "agent", sealed_state: "one", sealed_owners: "owners", revision: 0 };
      await commitJob(stores, aJobCommit(await heldJob(stores), { state }));
      expect(await states.get("agent")).toMatchObject({ sealed_owners: "owners", revision: 1 });
      const next = { ...state, sealed_owners: "others", revision: 1 };
      await commitJob(stores, aJobCommit(await heldJob(stores), { state: next }));
      expect(await states.list()).toMatchObject([{ plugin: "agent", sealed_owners: "others" }]);
      await states.replace("agent", "two", 2, "again");
      expect(await states.get("agent")).toMatchObject({ sealed_state: "two", sealed_owners: "again" });
    });

    it("has facts beside it, in the order of their commits", async () => {
      for (const [plugin, fact_type, sealed_value] of [
        ["echo", "greeting", "one"],
        ["fetch", "page", "two"],
        ["echo", "farewell", "three"],
        ["echo", "greeting", "four"],
      ] as const) {
        const revision = (await states.get(plugin))?.revision ?? 0;
        const fact = { fact_type, command: "poll", sealed_value };
        const state = { plugin, sealed_state: "{}", revision, facts: [fact] };
        await commitJob(stores, aJobCommit(await heldJob(stores), { state }));
      }
      const facts = async (query: Partial<Parameters<PluginStateStore["facts"]>[0]> = {}) =>
        (await states.facts({ plugin: "echo", limit: 9, ...query })).map(
          ({ seq, sealed_value }) => `${seq} ${sealed_value}`,
        );
      expect(await facts()).toEqual(["1 one", "3 three", "4 four"]);
      expect(await facts({ fact_type: "greeting" })).toEqual(["1 one", "4 four"]);
      expect(await facts({ after: 1, limit: 1 })).toEqual(["3 three"]);
      expect(await facts({ plugin: "none" })).toEqual([]);
    });

    it.each(losses)("is replaced once when it loses %s", async (loss) => {
      const losing = losingDriver(world.driver);
      const shaky = (await world.storesOn(losing)).gateway.pluginState;
      losing.loseNext(loss);
      expect(await shaky.replace("echo", "one", 0)).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.replace("echo", "two", 1)).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.replace("echo", "three", 1)).toBe(false);
      expect(await states.get("echo")).toMatchObject({ sealed_state: "two", revision: 2 });
    });
  });
}
