import { describe, expect, it } from "vitest";
import * as token from "./token.ts";
import { authenticate } from "./token-authenticator.ts";

const kept = token.fromArray({
  ...{ token_id: 5, agent_id: "writer", owner_user_id: 7, token_prefix: "agt_", token_hash: token.hash("agt_secret") },
  ...{ allowed_capabilities: ["read"], expires_at: "2026-06-01" },
});

/** A store with one token, and what was asked of it. */
function storeOf(found: token.Token | null = kept) {
  const asked: string[] = [];
  return {
    asked,
    tokens: {
      resolveTokenHash: async (hash: string) => {
        asked.push(`resolve ${hash === kept.token_hash}`);
        return found;
      },
      touchToken: (id: number, usedAt: number) => asked.push(`touch ${id} ${usedAt}`),
    },
    now: () => Date.UTC(2026, 0, 1) / 1000,
  };
}

describe("authenticating a token", () => {
  it("looks it up, and notes its use last", async () => {
    const store = storeOf();
    const acting = await authenticate(" agt_secret\n", { metadata: { client_id: "spoof", ip: "::1" } }, store);
    expect(acting).toMatchObject({
      ...{ acting_user_id: 7, effective_agent_id: "writer", auth_source: "agent_token", token_id: 5 },
      capability_ceiling: { user_id: 7, allowed_capabilities: ["read"], metadata: { token_id: 5 } },
      request_metadata: { ip: "::1", client_id: null, has_capability_restrictions: true },
    });
    expect(store.asked).toEqual(["resolve true", `touch 5 ${Date.UTC(2026, 0, 1) / 1000}`]);
  });

  it.each([
    ["blank", "  ", {}, {}],
    ["no text", ["agt_secret"], {}, {}],
    ["of another prefix", "agt_secret", {}, { tokenPrefix: "live_" }],
  ])("looks up none that is %s", async (_what, raw, request, options) => {
    const store = storeOf();
    expect(await authenticate(raw, request, { ...store, ...options })).toBeNull();
    expect(store.asked).toEqual([]);
  });

  it.each([
    ["headers that name nobody", { headers: { "X-Agents-Api-Chain-Depth": "1" } }],
    [
      "headers that cannot be read",
      {
        headers: {
          get: () => {
            throw new Error("gone");
          },
        },
      },
    ],
    ["a chain that is too deep", { headers: { "X-Agents-Api-Chain-Depth": "17" } }],
    ["metadata that cannot be written", { metadata: { big: 1n } }],
    ["no context", { requestContext: "" }],
  ])("accepts no request with %s, and does not note a use", async (_what, request) => {
    const store = storeOf();
    expect(await authenticate("agt_secret", request, store)).toBeNull();
    expect(store.asked).toEqual(["resolve true"]);
  });

  it("accepts none that is expired or unknown, and none that the store mistook for it", async () => {
    const expired = { ...storeOf(), now: () => Date.UTC(2026, 5, 1) / 1000 };
    expect(await authenticate("agt_secret", {}, expired)).toBeNull();
    expect(await authenticate("agt_secret", {}, storeOf(null))).toBeNull();
    expect(await authenticate("agt_other", {}, storeOf())).toBeNull();
    expect(expired.asked).toEqual(["resolve true"]);
  });

  it("throws on what the store throws, because that says nothing about the token", async () => {
    const failing = { resolveTokenHash: () => Promise.reject(new Error("down")), touchToken: () => undefined };
    await expect(authenticate("agt_secret", {}, { ...storeOf(), tokens: failing })).rejects.toThrow("down");
  });
});
