import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createGrantStore } from "../backend/sql/grants.ts";
import { migrate } from "../backend/sql/migrate.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import type { AgentRole } from "../contracts/trust/access-grant.ts";
import * as principal from "../contracts/trust/principal.ts";
import { createGrants, type Grants } from "./grants.ts";

const ada = principal.userSession(7, "home");
const adaInShop = principal.userSession(7, "home", { workspace_id: "shop" });
const visitor = principal.audience("audience:public", "home");

describe("grants", () => {
  let driver: SqlDriver;
  let grants: Grants;

  beforeEach(async () => {
    driver = await sqlite(":memory:").open();
    onTestFinished(() => driver.close());
    await migrate(driver);
    grants = createGrants({ store: createGrantStore(driver) });
  });

  it("let a user use an agent in the role he was given, and in those below it", async () => {
    await grants.grant({ agent: "writer", user_id: 7, role: "operator" });
    const may = (role: string) => grants.canAccess(ada, "writer", role);
    expect(await Promise.all(["viewer", "operator", "admin", "owner"].map(may))).toEqual([true, true, false, false]);
    expect(await grants.canAccess(ada, "editor")).toBe(false);
    expect(await grants.canAccess(ada, "home", "admin")).toBe(true);
  });

  it("count in their own workspace and in no other", async () => {
    await grants.grant({ agent: "writer", user_id: 7, workspace_id: "shop" });
    expect([await grants.canAccess(ada, "writer"), await grants.canAccess(adaInShop, "writer")]).toEqual([false, true]);
  });

  it("reach everybody through an audience, unless that is left out", async () => {
    await grants.grant({ agent: "writer", audience_id: "audience:public", role: "viewer" });
    expect(await grants.canAccess(visitor, "writer")).toBe(true);
    expect(await grants.canAccess(ada, "writer")).toBe(true);
    expect(await grants.canAccess(ada, "writer", "viewer", { include_public_audience: false })).toBe(false);
  });

  it("give the greater of a user's role and his audience's", async () => {
    const member = principal.fromArray({ ...ada, audience_id: "staff" });
    await grants.grant({ agent: "writer", user_id: 7, role: "viewer" });
    await grants.grant({ agent: "writer", audience_id: "staff", role: "admin" });
    expect(await grants.canAccess(member, "writer", "admin")).toBe(true);
    expect(await grants.canAccess(ada, "writer", "admin")).toBe(false);
  });

  it("are held in a role by those who were given it, and by nobody for whom it is his own agent", async () => {
    const home = principal.userSession(7, "writer");
    const has = (role: AgentRole, who = home) => grants.hasGrant(who, "writer", role);
    expect(await has("viewer")).toBe(false);
    await grants.grant({ agent: "writer", user_id: 7, role: "operator" });
    expect(await Promise.all((["viewer", "operator", "admin"] as const).map((role) => has(role)))).toEqual([
      true,
      true,
      false,
    ]);
    expect(await has("viewer", principal.userSession(7, "writer", { workspace_id: "shop" }))).toBe(false);
    expect(await has("viewer", principal.userSession(8, "writer"))).toBe(false);
    expect(await has("owner" as AgentRole)).toBe(false);
    await grants.grant({ agent: "writer", audience_id: "staff", role: "admin" });
    expect(await has("admin", principal.fromArray({ ...home, audience_id: "staff" }))).toBe(true);
  });

  it("end when they are revoked", async () => {
    const granted = await grants.grant({
      agent: "writer",
      user_id: 7,
      granted_by_user_id: 1,
      metadata: { why: "new" },
    });
    expect(await grants.get("writer", { user_id: 7 })).toEqual(granted);
    expect(granted).toMatchObject({ grant_id: 1, role: "viewer", granted_by_user_id: 1, metadata: { why: "new" } });
    expect(await grants.revoke("writer", { user_id: 7 })).toBe(true);
    expect(await grants.revoke("writer", { user_id: 7 })).toBe(false);
    expect(await grants.get("writer", { user_id: 7 })).toBeNull();
    expect(await grants.canAccess(ada, "writer")).toBe(false);
  });

  it("say which agents somebody may use: his own first, and none with too low a role", async () => {
    await grants.grant({ agent: "writer", user_id: 7, role: "admin" });
    await grants.grant({ agent: "reader", user_id: 7 });
    await grants.grant({ agent: "reader", audience_id: "audience:public" });
    await grants.grant({ agent: "shopkeeper", user_id: 7, workspace_id: "shop" });
    await grants.grant({ agent: "secret", user_id: 8, role: "admin" });
    expect(await grants.accessibleAgents(ada)).toEqual(["home", "writer", "reader"]);
    expect(await grants.accessibleAgents(ada, "operator")).toEqual(["home", "writer"]);
    expect(await grants.accessibleAgents(ada, "owner")).toEqual([]);
    expect(await grants.accessibleAgents(visitor)).toEqual(["home", "reader"]);
    expect((await grants.list({ user_id: 7 })).map(({ agent_id }) => agent_id)).toEqual([
      "writer",
      "reader",
      "shopkeeper",
    ]);
    expect((await grants.list({ agent: "reader" })).map(({ user_id }) => user_id)).toEqual([7, 0]);
  });

  it("leave the last word to the host", async () => {
    const strict = createGrants({ store: createGrantStore(driver), decideAccess: (_, __, agent) => agent === "open" });
    await grants.grant({ agent: "writer", user_id: 7 });
    expect(await strict.canAccess(ada, "writer")).toBe(false);
    expect(await strict.canAccess(ada, "open")).toBe(true);
    expect(await strict.accessibleAgents(ada)).toEqual([]);
  });

  it("are not made for nobody, nor in a role that there is not", async () => {
    await expect(grants.grant({ agent: "writer" })).rejects.toThrow("invalid_wp_agent_access_grant: user_id");
    await expect(grants.grant({ agent: "writer", user_id: 7, role: "owner" as "admin" })).rejects.toThrow("role");
  });
});
