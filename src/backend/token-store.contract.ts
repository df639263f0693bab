// What every store of tokens promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import { everything, type StoresInTest } from "./contract/stores-in-test.ts";
import type { NewToken, TokenStore, TokensQuery } from "./token-store.ts";

const MINUTE = 60_000_000;

let made = 0;

function aToken(parts: Partial<NewToken> = {}): NewToken {
  return {
    ...{ agent_id: "writer", owner_user_id: 7, token_hash: `hash ${++made}`, token_prefix: "hf_abc", label: "CI" },
    ...{ allowed_capabilities: '["read"]', expires_at: "2030-01-01", client_id: "ci", workspace_id: "" },
    ...{ metadata: '{"b":1,"a":2}', by_grant: false },
    ...parts,
  };
}

export function describeTokenStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`token store on ${name}`, () => {
    let world: StoresInTest;
    let tokens: TokenStore;

    beforeEach(async () => {
      world = await open();
      ({ tokens } = world.stores);
    });

    it("gives a token as it was made, by its hash and by its number", async () => {
      const given = aToken();
      const token = await tokens.create(given);
      expect(token).toEqual({
        ...given,
        ...{ token_id: expect.any(Number), created_at: expect.any(Number), last_used_at: null, revoked_at: null },
      });
      expect(await tokens.find(given.token_hash)).toEqual(token);
      expect(await tokens.get(token.token_id)).toEqual(token);
      expect(await tokens.find("another hash")).toBeUndefined();
      expect(await tokens.get(token.token_id + 1)).toBeUndefined();
      const bare = { allowed_capabilities: null, expires_at: null, workspace_id: null, by_grant: true };
      expect(await tokens.create(aToken(bare))).toMatchObject(bare);
    });

    it("tells whether anybody holds a token, or ever has", async () => {
      const told = async () => [await tokens.exist({ revoked: false }), await tokens.exist({ revoked: true })];
      expect(await told()).toEqual([false, false]);
      const { token_id, agent_id } = await tokens.create(aToken());
      expect(await told()).toEqual([true, true]);
      await tokens.revoke(token_id, agent_id);
      expect(await told()).toEqual([false, true]);
    });

    it("lists the tokens of an agent in the order of their creation", async () => {
      const first = await tokens.create(aToken());
      await tokens.create(aToken({ agent_id: "editor" }));
      const second = await tokens.create(aToken());
      expect(await tokens.list("writer")).toEqual([first, second]);
      expect(second.token_id).toBeGreaterThan(first.token_id);
    });

    it("shows the tokens of all agents page by page, and only those that are wanted", async () => {
      const first = await tokens.create(aToken({ owner_user_id: 7, workspace_id: "w" }));
      const second = await tokens.create(aToken({ agent_id: "editor", owner_user_id: 8, workspace_id: null }));
      const third = await tokens.create(aToken({ owner_user_id: 8, workspace_id: "w" }));
      await tokens.revoke(third.token_id, "writer");
      const page = async (query: Partial<TokensQuery>) =>
        (await tokens.page({ revoked: true, after: 0, limit: 10, ...query })).map(({ token_id }) => token_id);
      expect(await page({})).toEqual([first.token_id, second.token_id, third.token_id]);
      expect(await page({ revoked: false })).toEqual([first.token_id, second.token_id]);
      expect(await page({ limit: 1 })).toEqual([first.token_id]);
      expect(await page({ after: first.token_id, limit: 1 })).toEqual([second.token_id]);
      expect(await page({ agent_id: "editor" })).toEqual([second.token_id]);
      expect(await page({ owner_user_id: 8 })).toEqual([second.token_id, third.token_id]);
      expect(await page({ owner_user_id: 8, workspace_id: "w" })).toEqual([third.token_id]);
    });

    it("gives no two tokens one hash", async () => {
      const { token_hash } = await tokens.create(aToken());
      await expect(tokens.create(aToken({ token_hash: token_hash ?? "" }))).rejects.toThrow("Another token");
    });

    it("finds a revoked token by nothing but its number, in every process at once", async () => {
      const { token_id, token_hash } = await tokens.create(aToken());
      const second = (await world.openSecond?.())?.stores.tokens ?? tokens;
      expect(await second.find(token_hash ?? "")).toMatchObject({ token_id });
      expect(await tokens.revoke(token_id, "writer")).toBe(true);
      expect(await second.find(token_hash ?? "")).toBeUndefined();
      expect(await second.get(token_id)).toMatchObject({ token_hash: null, revoked_at: expect.any(Number) });
      expect(JSON.stringify(await everything(world.driver))).not.toContain(token_hash);
    });

    it("revokes a token of the agent that it belongs to, once", async () => {
      const { token_id } = await tokens.create(aToken());
      expect(await tokens.revoke(token_id, "editor")).toBe(false);
      expect(await tokens.revoke(token_id, "writer")).toBe(true);
      expect(await tokens.revoke(token_id, "writer")).toBe(false);
    });

    it("revokes all tokens of an agent and counts those that were not", async () => {
      const { token_id } = await tokens.create(aToken());
      await tokens.create(aToken());
      await tokens.create(aToken());
      const other = await tokens.create(aToken({ agent_id: "editor" }));
      await tokens.revoke(token_id, "writer");
      expect(await tokens.revokeAll("writer")).toBe(2);
      expect(await tokens.revokeAll("writer")).toBe(0);
      expect(await tokens.find(other.token_hash ?? "")).toEqual(other);
    });

    it("never gives a number twice, not even that of the last token there was", async () => {
      const { token_id } = await tokens.create(aToken());
      await world.driver.batch([{ sql: "delete from tokens where token_id = $1", params: [token_id] }]);
      expect((await tokens.create(aToken())).token_id).toBeGreaterThan(token_id);
    });

    it("notes a use when the last one is older than that, and only then", async () => {
      const { token_id } = await tokens.create(aToken());
      const used = async () => (await tokens.get(token_id))?.last_used_at;
      const noon = 1_800_000_000_000_000;
      await tokens.touch(token_id, noon, MINUTE);
      expect(await used()).toBe(noon);
      await tokens.touch(token_id, noon + MINUTE, MINUTE);
      expect(await used()).toBe(noon);
      await tokens.touch(token_id, noon + MINUTE + 1, MINUTE);
      expect(await used()).toBe(noon + MINUTE + 1);
      await tokens.touch(token_id, noon, MINUTE);
      expect(await used()).toBe(noon + MINUTE + 1);
    });

    it.each(losses)("makes and revokes a token once when a commit loses %s", async (loss) => {
      const driver = losingDriver(world.driver);
      const losing = (await world.storesOn(driver)).tokens;
      driver.loseNext(loss);
      const { token_id } = await losing.create(aToken());
      expect(await tokens.list("writer")).toHaveLength(1);
      driver.loseNext(loss);
      expect(await losing.revoke(token_id, "writer")).toBe(true);
      await losing.create(aToken());
      driver.loseNext(loss);
      expect(await losing.revokeAll("writer")).toBe(1);
    });
  });
}
