import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";

/** User 5 manages tokens and grants, and administers the shop where he was given it. */
const clerk = person(5);
const trust = {
  administrators: [1],
  holdsCapability: (user: number, name: string) => user === 5 && name === "tokens.manage",
};
const forbidden = { code: "ability_forbidden" };

describe("the operations on grants", () => {
  it("give an agent, show who was given it, and take it back", async () => {
    const { call } = await openShop();
    const to = { agent: "shop", user_id: 7 };
    expect(await call(admin, "holdfast/grant-access", { ...to, role: "operator" })).toMatchObject({
      ...{ agent_id: "shop", user_id: 7, role: "operator", granted_by_user_id: 1, workspace_id: null },
    });
    expect(await call(person(7), "agents/can-access-agent", { agent: "shop", minimum_role: "operator" })).toMatchObject(
      {
        allowed: true,
      },
    );
    for (const of of [{ agent: "shop" }, { user_id: "7" }, to]) {
      expect(await call(admin, "holdfast/list-grants", of)).toMatchObject({ grants: [{ user_id: 7 }] });
    }
    expect(await call(admin, "holdfast/revoke-access", to)).toEqual({ revoked: true });
    expect(await call(admin, "holdfast/revoke-access", to)).toEqual({ revoked: false });
    expect(await call(person(7), "agents/can-access-agent", { agent: "shop" })).toMatchObject({ allowed: false });
  });

  it("are shown page by page", async () => {
    const { call } = await openShop();
    for (const user_id of [7, 8, 9]) await call(admin, "holdfast/grant-access", { agent: "books", user_id });
    const page = async (input: object) => {
      const { grants, has_more } = await call(admin, "holdfast/list-grants", { agent: "books", ...input });
      return { grants: grants as { grant_id: number; user_id: number }[], has_more };
    };
    const { grants: first, has_more } = await page({ limit: "2" });
    expect([first.map(({ user_id }) => user_id), has_more]).toEqual([[7, 8], true]);
    expect(await page({ after: first.at(-1)?.grant_id })).toMatchObject({ grants: [{ user_id: 9 }], has_more: false });
  });

  it("are refused to whoever does not hold the capability, and to a ceiling without it", async () => {
    const { call } = await openShop();
    for (const caller of [person(7), limited(1, "threads.read")]) {
      for (const name of ["grant-access", "list-grants", "revoke-access"]) {
        expect(await call(caller, `holdfast/${name}`, { agent: "shop", user_id: 7 })).toMatchObject(forbidden);
      }
    }
  });

  it("let nobody give a role that he does not have there himself", async () => {
    const { call, holdfast } = await openShop({ trust });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "operator" });
    const to = { agent: "shop", user_id: 7 };
    expect(await call(clerk, "holdfast/grant-access", { ...to, role: "operator" })).toMatchObject({ user_id: 7 });
    expect(await call(clerk, "holdfast/grant-access", { ...to, role: "admin" })).toMatchObject(forbidden);
    expect(await call(clerk, "holdfast/grant-access", { agent: "shop", user_id: 5, role: "admin" })).toMatchObject(
      forbidden,
    );
    expect(await call(clerk, "holdfast/grant-access", { ...to, workspace_id: "w" })).toMatchObject(forbidden);
    expect(await call(clerk, "holdfast/grant-access", { agent: "books", user_id: 7 })).toMatchObject(forbidden);
    // Which agents there are is nobody's to find out here.
    expect(await call(clerk, "holdfast/grant-access", { agent: "none", user_id: 7 })).toMatchObject(forbidden);
    const bound = person(1, { workspace_id: "w" });
    expect(await call(bound, "holdfast/grant-access", { ...to, workspace_id: "v" })).toMatchObject(forbidden);
    expect(await call(bound, "holdfast/grant-access", to)).toMatchObject({ workspace_id: "w" });
  });

  it("show and take back what is the caller's to see, and nothing else", async () => {
    const { call, holdfast } = await openShop({ trust });
    await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "admin" });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "viewer" });
    expect(await call(clerk, "holdfast/list-grants", { agent: "shop" })).toMatchObject({ grants: [{ user_id: 5 }] });
    expect(await call(clerk, "holdfast/revoke-access", { agent: "shop", user_id: 7 })).toEqual({ revoked: false });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "admin" });
    expect(await call(clerk, "holdfast/revoke-access", { agent: "shop", user_id: 7 })).toEqual({ revoked: true });
  });

  it("let nobody give less in the place of what he could not take back", async () => {
    const { call, holdfast } = await openShop({ trust });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "operator" });
    await holdfast.grants.grant({ agent: "shop", user_id: 7, role: "operator" });
    const to = { agent: "shop", user_id: 7 };
    expect(await call(clerk, "holdfast/grant-access", { ...to, role: "viewer" })).toMatchObject(forbidden);
    expect(await call(clerk, "holdfast/grant-access", { ...to, role: "operator" })).toMatchObject({ role: "operator" });
    expect(await call(clerk, "holdfast/grant-access", { ...to, user_id: 5 })).toMatchObject({ role: "viewer" });
    await holdfast.grants.grant({ agent: "shop", user_id: 5, role: "admin" });
    expect(await call(clerk, "holdfast/grant-access", { ...to, role: "viewer" })).toMatchObject({ role: "viewer" });
  });

  it("take a user or an audience, and an agent that there is", async () => {
    const { call } = await openShop();
    const invalid = { code: "invalid_input" };
    expect(await call(admin, "holdfast/grant-access", { agent: "shop" })).toMatchObject(invalid);
    const both = { agent: "shop", user_id: 7, audience_id: "staff" };
    expect(await call(admin, "holdfast/grant-access", both)).toMatchObject(invalid);
    expect(await call(admin, "holdfast/list-grants")).toMatchObject(invalid);
    expect(await call(admin, "holdfast/grant-access", { agent: "none", user_id: 7 })).toMatchObject({
      code: "agent_not_found",
    });
    expect(await call(admin, "holdfast/grant-access", { agent: "shop", audience_id: "staff" })).toMatchObject({
      ...{ audience_id: "staff", user_id: 0, role: "viewer" },
    });
  });
});
