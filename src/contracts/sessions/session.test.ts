import { describe, expect, it } from "vitest";
import { full, owned, ownerOf } from "./session.ts";
import { nullSessionLock } from "./session-lock.ts";

const site = { workspace_type: "site", workspace_id: "1" };
const user = { type: "user", key: "7" };

describe("a session", () => {
  it("has every field that clients rely on, and keeps what else there is", () => {
    expect(full({ session_id: "s1", provider_response_id: "r", own: [1] })).toEqual({
      ...{ session_id: "s1", workspace_type: "", workspace_id: "", owner_type: "", owner_key: "", agent_slug: "" },
      ...{ title: "", provider: "", model: "", context: "", user_id: 0, messages: [], metadata: {} },
      ...{ provider_response_id: "r", own: [1] },
    });
    expect(full({ workspace_id: 1, user_id: "7", messages: "none", metadata: [1], title: {} })).toMatchObject({
      ...{ workspace_id: "1", user_id: 7, messages: [], metadata: {}, title: "" },
    });
    expect(full(null)).toMatchObject({ session_id: "" });
  });

  it("belongs to one owner in one workspace", () => {
    const row = { ...site, owner_type: "user", owner_key: "7" };
    expect(owned(row, site, user)).toBe(true);
    expect(owned({ ...row, owner_key: 7, workspace_id: 1 }, site, user)).toBe(true);
    expect(owned(row, site, { ...user, key: "8" })).toBe(false);
    expect(owned(row, site, { ...user, type: "browser" })).toBe(false);
    expect(owned(row, { ...site, workspace_id: "2" }, user)).toBe(false);
    expect(owned(row, { ...site, workspace_type: "repo" }, user)).toBe(false);
    expect(owned(null, site, user)).toBe(false);
  });

  it("may name its owner by other names, or a user by number alone", () => {
    const browser = { type: "browser", key: "k" };
    expect(owned({ ...site, principal_owner_type: "browser", principal_owner_key: "k" }, site, browser)).toBe(true);
    expect(owned({ ...site, user_id: "7" }, site, user)).toBe(true);
    expect(owned({ ...site, user_id: 7 }, site, { type: "browser", key: "7" })).toBe(false);
    expect(owned(site, site, { type: "user", key: "0" })).toBe(false);
  });

  it("that names half an owner belongs to nobody", () => {
    expect(owned({ ...site, owner_key: "7", user_id: 7 }, site, user)).toBe(false);
    expect(owned({ ...site, owner_type: "user", user_id: 7 }, site, user)).toBe(false);
  });

  it("belongs to a user unless another owner is given, and to nobody without a key", () => {
    expect(ownerOf({ type: "browser", key: 7 })).toEqual({ type: "browser", key: "7" });
    expect(ownerOf({ key: "7" })).toEqual(user);
    expect(ownerOf({ type: "", key: "7" })).toEqual(user);
    expect(ownerOf(null)).toEqual({ type: "user", key: "0" });
  });
});

describe("the null lock", () => {
  it("is never held", async () => {
    expect(await nullSessionLock.acquireLock("s")).toBeNull();
    expect(await nullSessionLock.releaseLock("s", "token")).toBe(false);
  });
});
