import { describe, expect, it } from "vitest";
import * as accessGrant from "./access-grant.ts";

const valid = { agent_id: "writer", user_id: 3 };

describe("an access grant", () => {
  it("has its fields in the order of the contract", () => {
    expect(Object.keys(accessGrant.fromArray(valid))).toEqual([
      ...["grant_id", "agent_id", "user_id", "role", "workspace_id", "granted_by_user_id", "granted_at", "metadata"],
      "audience_id",
    ]);
  });

  it.each([
    ["agent_id", { agent_id: " ", user_id: -1 }],
    ["user_id", { user_id: -1, audience_id: " " }],
    ["user_id", { user_id: true, role: "owner" }],
    ["audience_id", { user_id: 0, audience_id: " " }],
    ["grant_id", { grant_id: -1, role: "owner" }],
    ["granted_by_user_id", { granted_by_user_id: 0, role: "owner" }],
    ["role", { role: "Admin", metadata: { big: 1n } }],
    ["role", { role: "" }],
    ["role", { role: true }],
    ["metadata", { metadata: { not: Number.NaN } }],
  ])("is refused for %s when it is the first that is wrong: %o", (field, wrong) => {
    const given = { ...valid, ...wrong };
    expect(() => accessGrant.fromArray(given)).toThrow(`invalid_wp_agent_access_grant: ${field}`);
  });

  it("gives the least where no role is stated", () => {
    for (const role of [undefined, null, ["admin"], {}])
      expect(accessGrant.fromArray({ ...valid, role }).role).toBe("viewer");
  });

  it("reaches every role up to its own, and none that does not exist", () => {
    const reached = (role: string) => accessGrant.roles.filter((minimum) => accessGrant.roleMeets(role, minimum));
    expect(accessGrant.roles.map(reached)).toEqual([
      ["viewer"],
      ["viewer", "operator"],
      ["viewer", "operator", "admin"],
    ]);
    expect(reached("owner")).toEqual([]);
    expect(accessGrant.roleMeets("admin", "toString")).toBe(false);
  });
});
