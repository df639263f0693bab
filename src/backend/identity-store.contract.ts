// What every store of identities promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { withConfig, withMeta } from "../contracts/agents/identity.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { IdentityStore } from "./identity-store.ts";

export function describeIdentityStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`identity store on ${name}`, () => {
    let identities: IdentityStore;
    let opened: StoresInTest;

    beforeEach(async () => {
      opened = await open();
      identities = opened.stores.identities;
    });

    it("makes an identity once, and finds it by any spelling of its scope", async () => {
      expect(await identities.resolve({ agent_slug: "writer" })).toBeUndefined();
      const scope = { agent_slug: "Writer", owner_user_id: 7, instance_key: "Site:1" };
      const made = await identities.materialize(scope, { config: { a: 1 } });
      expect(made).toEqual({
        ...{ id: expect.any(Number), agent_slug: "writer", owner_user_id: 7, instance_key: "site:1" },
        ...{ config: { a: 1 }, meta: {}, created_at: expect.any(Number), updated_at: expect.any(Number) },
      });
      const again = { ...scope, agent_slug: "WRITER", instance_key: " site:1" };
      expect(await identities.materialize(again, { config: { a: 2 }, meta: { late: true } })).toEqual(made);
      expect(await identities.resolve(again)).toEqual(made);
      expect(await identities.get(made.id)).toEqual(made);
      expect(await identities.resolve({ ...scope, owner_user_id: 8 })).toBeUndefined();
      expect(await identities.get(made.id + 1)).toBeUndefined();
      expect(await identities.get(Number.NaN)).toBeUndefined();
    });

    it("gives one identity to all who ask for it at the same time", async () => {
      const far = (await opened.openSecond?.())?.stores.identities ?? identities;
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? identities : far).materialize({ agent_slug: "writer" }, { config: { index } }),
        ),
      );
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(new Set(made.map(({ config }) => config.index)).size).toBe(1);
    });

    it("replaces what is configured and noted", async () => {
      const made = await identities.materialize({ agent_slug: "writer" }, { config: { a: 1, b: 2 }, meta: { m: 1 } });
      const updated = await identities.update(withMeta(withConfig(made, { a: 3 }), { n: 1 }));
      expect(updated).toMatchObject({ id: made.id, config: { a: 3 }, meta: { n: 1 } });
      expect(updated?.config).not.toHaveProperty("b");
      expect(await identities.get(made.id)).toEqual(updated);
    });

    it("is deleted however often, and its number belongs to nobody else", async () => {
      const made = await identities.materialize({ agent_slug: "writer" });
      expect(await identities.delete({ agent_slug: "Writer" })).toBe(true);
      expect(await identities.delete({ agent_slug: "writer" })).toBe(true);
      expect(await identities.get(made.id)).toBeUndefined();
      expect(await identities.update(made)).toBeUndefined();
      expect((await identities.materialize({ agent_slug: "writer" })).id).toBeGreaterThan(made.id);
    });

    it("refuses a scope that is none", async () => {
      await expect(identities.resolve({ agent_slug: "!!" })).rejects.toMatchObject({
        code: "invalid_agent_identity_scope",
      });
    });
  });
}
