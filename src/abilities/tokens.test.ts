import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { TokenOptions } from "../trust/tokens.ts";

type Shop = Awaited<ReturnType<typeof openShop>>;

/** User 5 manages tokens and nothing else. */
const clerk = person(5);
const trust = { holdsCapability: (user: number, name: string) => user === 5 && name === "tokens.manage" };

async function holder({ holdfast }: Shop, options: Partial<TokenOptions>): Promise<Principal> {
  const made = await holdfast.tokens.create({ agent: "console", owner_user_id: 1, ...options });
  const principal = await holdfast.tokens.authenticate(made.token);
  if (!principal) throw new Error("Nobody was let in.");
  return principal;
}

const forbidden = { code: "ability_forbidden" };

describe("the operations on tokens", () => {
  it("make one that is shown once, list it and revoke it", async () => {
    const { call, holdfast } = await openShop();
    const made = await call(admin, "holdfast/create-token", {
      agent: "shop",
      label: "CI",
      expires_at: "2099-01-01T00:00:00Z",
    });
    expect(made).toMatchObject({
      token: expect.stringMatching(/^hf_/),
      metadata: { agent_id: "shop", owner_user_id: 1, label: "CI", allowed_capabilities: null },
    });
    expect(await holdfast.tokens.authenticate(made.token)).toMatchObject({ acting_user_id: 1 });
    const { token_id } = made.metadata as { token_id: number };
    const listed = await call(admin, "holdfast/list-tokens");
    expect(listed).toMatchObject({ tokens: [{ token_id, revoked_at: null }] });
    expect(JSON.stringify(listed)).not.toMatch(/hash/);

    expect(await call(admin, "holdfast/revoke-token", { token_id: String(token_id) })).toEqual({ revoked: true });
    expect(await call(admin, "holdfast/revoke-token", { token_id })).toEqual({ revoked: false });
    expect(await holdfast.tokens.authenticate(made.token)).toBeNull();
    expect(await call(admin, "holdfast/list-tokens", { agent: "shop" })).toEqual({ tokens: [], has_more: false });
    expect(await call(admin, "holdfast/list-tokens", { agent: "shop", revoked: "true" })).toMatchObject({
      tokens: [{ token_id }],
    });
  });

  it("are refused to whoever does not hold the capability, and to a ceiling without it", async () => {
    const { call } = await openShop();
    for (const caller of [person(7), limited(1, "threads.read")]) {
      for (const [name, input] of [
        ["create-token", { agent: "shop" }],
        ["list-tokens", {}],
        ["revoke-token", { token_id: 1 }],
      ] as const) {
        expect(await call(caller, `holdfast/${name}`, input)).toMatchObject(forbidden);
      }
    }
  });

  it("never make a token with more than the token that makes it", async () => {
    const shop = await openShop();
    const narrow = await holder(shop, {
      allowed_capabilities: ["tokens.manage", "threads.read"],
      expires_at: "2090-01-01T00:00:00Z",
      client_id: "ci",
      workspace_id: "w",
    });
    const make = (input: object) => shop.call(narrow, "holdfast/create-token", { agent: "console", ...input });
    for (const more of [
      { allowed_capabilities: ["threads.read", "threads.manage"] },
      { expires_at: "2090-01-01T00:00:01Z" },
      { client_id: "another" },
      { workspace_id: "v" },
      { owner_user_id: 7 },
      { agent: "shop" },
    ]) {
      expect(await make(more)).toMatchObject(forbidden);
    }
    expect(await shop.call(admin, "holdfast/list-tokens", { agent: "shop" })).toMatchObject({ tokens: [] });
    expect(await make({})).toMatchObject({
      metadata: {
        ...{ allowed_capabilities: ["tokens.manage", "threads.read"], expires_at: "2090-01-01T00:00:00Z" },
        ...{ client_id: "ci", workspace_id: "w" },
      },
    });
    expect(await make({ allowed_capabilities: ["threads.read"], expires_at: "2080-01-01T00:00:00Z" })).toMatchObject({
      metadata: { allowed_capabilities: ["threads.read"], expires_at: "2080-01-01T00:00:00Z" },
    });
  });

  it("refuse what names nothing that there is, unless it is said to be meant so", async () => {
    const { call } = await openShop({ approvers: { capability: "refunds.decide" } });
    const make = (input: object) => call(admin, "holdfast/create-token", { agent: "shop", ...input });
    expect(await make({ agent: "nobody" })).toMatchObject({ code: "agent_not_found" });
    expect(await make({ allowed_capabilities: ["chat", "bogus"] })).toMatchObject({
      code: "capability_unknown",
      message: expect.stringContaining('"bogus"'),
    });
    expect(await call(admin, "holdfast/list-tokens")).toMatchObject({ tokens: [] });
    expect(await make({ allowed_capabilities: ["chat", "refunds.decide"] })).toHaveProperty("token");
    const meant = { agent: "elsewhere", allowed_capabilities: ["their.own"], unchecked: true };
    expect(await make(meant)).toMatchObject({
      metadata: { agent_id: "elsewhere", allowed_capabilities: ["their.own"] },
    });
    expect(await call(admin, "holdfast/revoke-token", { token_id: 99 })).toMatchObject({ code: "token_not_found" });
  });

  it("hand on what is denied by naming the rest", async () => {
    const { call } = await openShop();
    const capability_ceiling = { user_id: 1, denied_capabilities: ["threads.manage"] };
    const denied = person(1, { capability_ceiling });
    expect(await call(denied, "holdfast/create-token", { agent: "console" })).toMatchObject(forbidden);
    const named = { agent: "console", allowed_capabilities: ["threads.manage"] };
    expect(await call(denied, "holdfast/create-token", named)).toMatchObject(forbidden);
    const both = person(1, {
      capability_ceiling: { ...capability_ceiling, allowed_capabilities: ["tokens.manage", "threads.manage"] },
    });
    expect(await call(both, "holdfast/create-token", { agent: "console" })).toMatchObject({
      metadata: { allowed_capabilities: ["tokens.manage"] },
    });
  });

  it("let nobody become another user who may not do everything already", async () => {
    const { call } = await openShop({ trust: { administrators: [1], ...trust } });
    expect(await call(clerk, "holdfast/create-token", { agent: "console", owner_user_id: 1 })).toMatchObject(forbidden);
    expect(await call(clerk, "holdfast/create-token", { agent: "console" })).toMatchObject({
      metadata: { owner_user_id: 5 },
    });
    const given = await call(admin, "holdfast/create-token", { agent: "shop", owner_user_id: 7 });
    expect(given).toMatchObject({ metadata: { owner_user_id: 7 } });
    const { allowed_capabilities } = given.metadata as { allowed_capabilities: readonly string[] };
    expect(allowed_capabilities).toContain("threads.read");
    expect(allowed_capabilities).not.toContain("threads.manage");
  });

  it("let nobody in as a client or for a workspace that is not his", async () => {
    const { call, holdfast } = await openShop({ trust: { administrators: [1], ...trust } });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "operator" });
    const make = (caller: Principal, where: object) =>
      call(caller, "holdfast/create-token", { agent: "shop", ...where });
    for (const where of [{ client_id: "acme" }, { workspace_id: "w" }]) {
      expect(await make(clerk, where)).toMatchObject(forbidden);
      expect(await make(admin, where)).toMatchObject({ metadata: where });
    }
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "operator", workspace_id: "w" });
    expect(await make(clerk, { workspace_id: "w" })).toMatchObject({ metadata: { workspace_id: "w" } });
    expect(await make(clerk, { workspace_id: "w", client_id: "acme" })).toMatchObject(forbidden);
    expect(await make(person(5, { client_id: "own" }), { client_id: "own" })).toMatchObject({
      metadata: { client_id: "own" },
    });
  });

  it("let nobody in to an agent any longer than it was granted to who made them", async () => {
    const shop = await openShop({ trust: { administrators: [1], ...trust } });
    const { call, holdfast } = shop;
    const bearer = async (caller: Principal, input: object) => {
      const { token } = await call(caller, "holdfast/create-token", { agent: "shop", ...input });
      const found = await holdfast.tokens.authenticate(token);
      if (!found) throw new Error("Nobody was let in.");
      return found;
    };
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "operator" });
    const own = await bearer(clerk, {});
    const resting = [own, await bearer(own, {}), await bearer(clerk, { allowed_capabilities: ["threads.write"] })];
    // These rest on somebody's word, and not on a grant.
    const others = [
      await bearer(admin, { owner_user_id: 7 }),
      await bearer(admin, { allowed_capabilities: ["threads.write"] }),
      await holder(shop, { agent: "shop", owner_user_id: 5 }),
    ];
    const opened = (who: Principal) => call(who, "holdfast/open-thread", { agent: "shop" });
    for (const who of [...resting, ...others]) expect(await opened(who)).toMatchObject({ agent: "shop" });

    await holdfast.grants.revoke("shop", { user_id: 5 });
    for (const who of resting) expect(await opened(who)).toMatchObject({ code: "agent_not_found" });
    for (const who of others) expect(await opened(who)).toMatchObject({ agent: "shop" });
    expect(await call(own, "agents/chat", { agent: "shop", message: "Hello" })).toMatchObject({
      code: expect.stringMatching(/forbidden|not_found/),
    });
    expect(await call(own, "agents/can-access-agent", { agent: "shop" })).toMatchObject({ allowed: false });

    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "viewer" });
    expect(await opened(own)).toMatchObject({ code: "agent_not_found" });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "operator" });
    for (const who of resting) expect(await opened(who)).toMatchObject({ agent: "shop" });
  });

  it.each(["Acme", "acme_1", " acme", "acme!", "-"])(
    "make none for the client %j, which bridges know otherwise",
    async (client_id) => {
      const { call } = await openShop();
      expect(await call(admin, "holdfast/create-token", { agent: "shop", client_id })).toMatchObject({
        code: "invalid_input",
      });
    },
  );

  it("are listed page by page, of agents that nobody knows any more too", async () => {
    const shop = await openShop({ trust: { administrators: [1], ...trust } });
    for (const agent of ["console", "gone", "shop"]) await holder(shop, { agent });
    const { token_id } = await holder(shop, { agent: "gone", owner_user_id: 5 });
    const seen = async (caller: Principal, input: object) => {
      const { tokens, has_more } = await shop.call(caller, "holdfast/list-tokens", input);
      return [...(tokens as { agent_id: string }[]).map(({ agent_id }) => agent_id), ...(has_more ? ["…"] : [])];
    };
    expect(await seen(admin, {})).toEqual(["console", "gone", "shop", "gone"]);
    expect(await seen(admin, { limit: "2" })).toEqual(["console", "gone", "…"]);
    expect(await seen(admin, { limit: 2, after: "2" })).toEqual(["shop", "gone"]);
    expect(await seen(admin, { agent: "gone" })).toEqual(["gone", "gone"]);
    expect(await seen(clerk, {})).toEqual(["gone"]);
    expect(await seen(clerk, { after: token_id })).toEqual([]);
  });

  it("know nothing of the tokens of other users, nor of other workspaces", async () => {
    const shop = await openShop({ trust: { administrators: [1], ...trust } });
    const { token_id } = await holder(shop, { owner_user_id: 1 });
    const elsewhere = person(1, { workspace_id: "w" });
    for (const caller of [clerk, elsewhere]) {
      expect(await shop.call(caller, "holdfast/list-tokens", { agent: "console" })).toMatchObject({ tokens: [] });
      expect(await shop.call(caller, "holdfast/revoke-token", { token_id })).toMatchObject({ code: "token_not_found" });
    }
    expect(await shop.call(admin, "holdfast/list-tokens")).toMatchObject({ tokens: [{ token_id }] });
  });
});
