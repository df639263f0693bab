import { describe, expect, it } from "vitest";
import { can } from "./authorization.ts";

const rights: Record<number, string[]> = { 3: ["read"], 7: ["read", "edit_posts"] };
const holds = (user: number, capability: string) => rights[user]?.includes(capability) ?? false;

describe("authorization", () => {
  it("is narrowed by a ceiling in the context, never widened", () => {
    const reader = { acting_user_id: 7, capability_ceiling: { user_id: 7, allowed_capabilities: ["read"] } };
    const anything = { capability_ceiling: { user_id: 7 } };
    const editing = { capability_ceiling: { user_id: 7, allowed_capabilities: ["edit_posts"] } };
    expect(can(reader, "read", anything, holds)).toBe(true);
    expect(can(reader, "edit_posts", anything, holds)).toBe(false);
    expect(can(reader, "read", editing, holds)).toBe(false);
    expect(can(reader, "edit_posts", editing, holds)).toBe(false);
  });

  it("asks for every user that a ceiling names, and for the acting one only without a ceiling", () => {
    const owned = { acting_user_id: 3, capability_ceiling: { user_id: 7 } };
    expect(can(owned, "edit_posts", {}, holds)).toBe(true);
    expect(can(owned, "edit_posts", { capability_ceiling: { user_id: 3 } }, holds)).toBe(false);
    expect(can({ acting_user_id: 7 }, "edit_posts", { capability_ceiling: null }, holds)).toBe(true);
  });

  it("refuses when a ceiling names nobody or cannot be read", () => {
    const everything = () => true;
    const unreadable = {
      get user_id() {
        throw new Error("no");
      },
    };
    for (const ceiling of [{}, { user_id: 0 }, { user_id: -1 }, "none", false, 0, [["read"]], unreadable]) {
      expect(can({ acting_user_id: 7, capability_ceiling: ceiling }, "read", {}, everything)).toBe(false);
      expect(can({ acting_user_id: 7 }, "read", { capability_ceiling: ceiling }, everything)).toBe(false);
    }
  });

  it("refuses those who are nobody", () => {
    const everything = () => true;
    for (const principal of [
      null,
      "admin",
      {},
      { acting_user_id: 0 },
      { acting_user_id: -7 },
      { acting_user_id: "7x" },
    ])
      expect(can(principal, "read", {}, everything)).toBe(false);
  });

  it("waits for a host that has to look, and takes nothing but true for a yes", async () => {
    const later = async (user: number, capability: string) => holds(user, capability);
    const both = { acting_user_id: 7, capability_ceiling: { user_id: 7 } };
    expect(await can(both, "read", { capability_ceiling: { user_id: 3 } }, later)).toBe(true);
    expect(await can(both, "edit_posts", { capability_ceiling: { user_id: 3 } }, later)).toBe(false);
    expect(can(both, "read", {}, () => "yes" as unknown as boolean)).toBe(false);
  });

  it("throws on what the host throws, so that nobody acts without its answer", () => {
    const failing = () => {
      throw new Error("The directory is down.");
    };
    expect(() => can({ acting_user_id: 7 }, "read", {}, failing)).toThrow("The directory is down.");
  });
});
