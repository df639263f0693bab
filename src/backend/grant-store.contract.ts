// What every store of grants promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { GrantStore, NewGrant } from "./grant-store.ts";

function aGrant(parts: Partial<NewGrant> = {}): NewGrant {
  return {
    ...{ agent_id: "writer", user_id: 7, audience_id: null, role: "viewer", workspace_id: null },
    ...{ granted_by_user_id: 1, metadata: '{"why":"colleague"}' },
    ...parts,
  };
}

export function describeGrantStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`grant store on ${name}`, () => {
    let world: StoresInTest;
    let grants: GrantStore;

    beforeEach(async () => {
      world = await open();
      ({ grants } = world.stores);
    });

    it("gives a grant as it was given", async () => {
      const grant = await grants.grant(aGrant());
      expect(grant).toEqual({ ...aGrant(), grant_id: expect.any(Number), granted_at: expect.any(Number) });
      expect(await grants.get("writer", { user_id: 7 }, null)).toEqual(grant);
    });

    it("keeps one for each agent, holder and workspace, and replaces it in its place", async () => {
      const { grant_id } = await grants.grant(aGrant());
      await grants.grant(aGrant({ role: "admin", granted_by_user_id: null, metadata: "{}" }));
      expect(await grants.ofAgent("writer")).toMatchObject([
        { grant_id, role: "admin", granted_by_user_id: null, metadata: "{}" },
      ]);
    });

    it.each([
      ["another agent", aGrant({ agent_id: "editor" })],
      ["another user", aGrant({ user_id: 8 })],
      ["an audience", aGrant({ user_id: 0, audience_id: "7" })],
      ["a workspace", aGrant({ workspace_id: "w1" })],
      ["a workspace without a name", aGrant({ workspace_id: "" })],
      ["names that look like a key", aGrant({ agent_id: 'writer","user",7,null]' })],
    ])("does not take a grant for that of %s", async (_, other) => {
      await grants.grant(other);
      expect(await grants.get("writer", { user_id: 7 }, null)).toBeUndefined();
      expect(await grants.revoke("writer", { user_id: 7 }, null)).toBe(false);
      expect(await grants.ofAgent(other.agent_id)).toHaveLength(1);
    });

    it("finds the grant of an audience, and takes one that names a user too for the user's", async () => {
      await grants.grant(aGrant({ user_id: 0, audience_id: "staff", role: "operator" }));
      expect(await grants.get("writer", { audience_id: "staff" }, null)).toMatchObject({ role: "operator" });
      await grants.grant(aGrant({ agent_id: "editor", audience_id: "staff", role: "admin" }));
      expect(await grants.get("editor", { audience_id: "staff" }, null)).toBeUndefined();
      expect(await grants.get("editor", { user_id: 7 }, null)).toMatchObject({ role: "admin" });
    });

    it("lists the grants of a holder and of an agent, in the order they were first given", async () => {
      await grants.grant(aGrant({ agent_id: "b" }));
      await grants.grant(aGrant({ agent_id: "a", workspace_id: "w1" }));
      await grants.grant(aGrant({ agent_id: "a", user_id: 0, audience_id: "staff" }));
      await grants.grant(aGrant({ agent_id: "b", role: "admin" }));
      const agents = (all: readonly { agent_id: string }[]) => all.map(({ agent_id }) => agent_id);
      expect(agents(await grants.ofHolder({ user_id: 7 }))).toEqual(["b", "a"]);
      expect(agents(await grants.ofHolder({ audience_id: "staff" }))).toEqual(["a"]);
      expect(await grants.ofHolder({ user_id: 0 })).toEqual([]);
      expect((await grants.ofAgent("a")).map(({ user_id }) => user_id)).toEqual([7, 0]);
    });

    it("revokes a grant, once", async () => {
      await grants.grant(aGrant());
      expect(await grants.revoke("writer", { user_id: 7 }, "w1")).toBe(false);
      expect(await grants.revoke("writer", { user_id: 7 }, null)).toBe(true);
      expect(await grants.revoke("writer", { user_id: 7 }, null)).toBe(false);
      expect(await grants.get("writer", { user_id: 7 }, null)).toBeUndefined();
    });

    it("keeps one grant of those that are given at the same time", async () => {
      const others = (await world.openSecond?.())?.stores.grants ?? grants;
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? grants : others).grant(aGrant({ role: "operator" })),
        ),
      );
      expect(await grants.ofAgent("writer")).toHaveLength(1);
    });

    it.each(losses)("gives and revokes once when a commit loses %s", async (loss) => {
      const driver = losingDriver(world.driver);
      const losing = (await world.storesOn(driver)).grants;
      driver.loseNext(loss);
      expect(await losing.grant(aGrant())).toMatchObject({ role: "viewer" });
      driver.loseNext(loss);
      expect(await losing.revoke("writer", { user_id: 7 }, null)).toBe(true);
      expect(await grants.ofAgent("writer")).toEqual([]);
    });
  });
}
