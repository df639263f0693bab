import { describe, expect, it } from "vitest";
import * as token from "./token.ts";

const hash = token.hash("agt_secret");
const valid = { token_id: 5, agent_id: "writer", owner_user_id: 7, token_hash: hash, token_prefix: "agt_" };

describe("a token's record", () => {
  it("is looked up by the hash as it is computed, and shown without it", () => {
    const made = token.fromArray({ ...valid, token_hash: hash.toUpperCase() });
    expect(made.token_hash).toBe(hash);
    expect(token.toMetadata(made)).not.toHaveProperty("token_hash");
    expect(JSON.stringify(token.toMetadata(made))).not.toContain(hash);
  });

  it("hashes bytes, not letters that look alike", () => {
    expect(token.hash("\u00e9")).not.toBe(token.hash("e\u0301"));
    expect(token.hash("\u00e9")).toBe("4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c");
  });

  it.each([
    ["token_id", { token_id: 1.5, agent_id: "" }],
    ["agent_id", { agent_id: "\t", owner_user_id: 0 }],
    ["owner_user_id", { owner_user_id: "x", token_hash: "" }],
    ["token_hash", { token_hash: `${hash}\n`, token_prefix: "" }],
    ["token_hash", { token_hash: hash.replace(/^./, "g") }],
    ["token_prefix", { token_prefix: [], allowed_capabilities: [""] }],
    ["allowed_capabilities", { allowed_capabilities: ["read", " "], metadata: { big: 1n } }],
    ["allowed_capabilities", { allowed_capabilities: [false] }],
    ["metadata", { metadata: { not: Number.NaN } }],
  ])("is refused for %s when it is the first that is wrong: %o", (field, wrong) => {
    expect(() => token.fromArray({ ...valid, ...wrong })).toThrow(`invalid_wp_agent_token: ${field}`);
  });

  it("tells no list of capabilities from an empty one", () => {
    const allowed = (given: unknown) => token.fromArray({ ...valid, allowed_capabilities: given }).allowed_capabilities;
    expect([allowed(null), allowed([]), allowed("read"), allowed(["read", 5, ["x"], null])]).toEqual([
      ...[null, [], []],
      ["read", "5"],
    ]);
  });
});

describe("a token's end", () => {
  const at = (time: string) => Date.parse(time) / 1000;

  it.each([
    "2026-01-01",
    "2026-01-01 00:00:00",
    "2026-01-01T00:00",
    "2026-01-01T00:00:00.900Z",
    "2026-01-01T01:00:00+01:00",
    "2025-12-31T19:00:00-0500",
    " 2026-01-01 00:00:00 UTC ",
  ])("is the same second however it is written, wherever this runs: %s", (expires_at) => {
    expect(token.isExpired({ expires_at }, at("2026-01-01T00:00:00Z"))).toBe(true);
    expect(token.isExpired({ expires_at }, at("2025-12-31T23:59:59Z"))).toBe(false);
  });

  // Each of these is a date in the far future to a lenient parser.
  it.each(["never 2099", "2099-13-01", "2099-01-01T25:00:00Z", "+99 years", "@9999999999", "   "])(
    "has come when nobody can tell it: %j",
    (expires_at) => {
      expect(token.isExpired({ expires_at }, 0)).toBe(true);
    },
  );
});
