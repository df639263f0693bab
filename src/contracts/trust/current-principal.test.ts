import { describe, expect, it } from "vitest";
import { currentPrincipal } from "./current-principal.ts";
import * as principal from "./principal.ts";

const stated = principal.userSession(3, "writer");

describe("who acts in a request without a token", () => {
  it("is whom the context states, then whom the host resolves, then who is signed in", async () => {
    const host = { currentUserId: 9, resolvePrincipal: async () => ({ ...stated, acting_user_id: 5 }) };
    expect(await currentPrincipal({ principal: stated }, host)).toBe(stated);
    expect(await currentPrincipal({ principal: "writer" }, host)).toMatchObject({ acting_user_id: 5 });
    expect(await currentPrincipal({}, { currentUserId: 9, resolvePrincipal: () => null })).toMatchObject({
      acting_user_id: 9,
      auth_source: "user",
    });
  });

  it("is one of everybody, unless nobody unknown is let in", async () => {
    expect(await currentPrincipal({ workspace_id: "w" })).toMatchObject({
      ...{ audience_id: "audience:public", effective_agent_id: "audience:public", workspace_id: "w" },
    });
    for (const falsy of [false, 0, null, ""])
      expect(await currentPrincipal({ allow_anonymous_audience: falsy })).toBeNull();
    expect(await currentPrincipal({ allow_anonymous_audience: 1 })).not.toBeNull();
    expect(await currentPrincipal({ allow_anonymous_audience: false }, { currentUserId: 9 })).not.toBeNull();
  });

  it("is nobody else when the host's answer is wrong", async () => {
    await expect(currentPrincipal({}, { currentUserId: 9, resolvePrincipal: () => false })).rejects.toThrow(
      "invalid_agent_execution_principal: principal",
    );
    await expect(currentPrincipal({ principal: {} }, { currentUserId: 9 })).rejects.toThrow(": effective_agent_id");
  });
});
