import { describe, expect, it } from "vitest";
import { can } from "./authorization.ts";
import { isAutonomous, resolveCeiling } from "./autonomous-policy.ts";
import * as principal from "./principal.ts";

const on = { enabled: true };
const token = (capability_ceiling?: unknown) => principal.agentToken(7, "writer", 5, { capability_ceiling });

describe("the careful default for autonomous principals", () => {
  it("denies nothing unless it is asked for", () => {
    expect(resolveCeiling(principal.system("writer"))).toBeNull();
    expect(resolveCeiling(token({ user_id: 3 }))).toMatchObject({ user_id: 3, denied_capabilities: null });
  });

  it("keeps a token without restrictions from changing content, whatever its owner may", () => {
    const careful = { ...token({ user_id: 7 }), capability_ceiling: resolveCeiling(token({ user_id: 7 }), on) };
    expect(can(careful, "edit_posts", {}, () => true)).toBe(false);
    expect(can(careful, "read", {}, () => true)).toBe(true);
    expect(careful.capability_ceiling?.denied_capabilities).toHaveLength(27);
  });

  it("gives way to whatever restriction is declared, even to an empty one", () => {
    for (const declared of [{ allowed_capabilities: [] }, { denied_capabilities: [] }]) {
      const given = token({ user_id: 3, ...declared });
      expect(resolveCeiling(given, on)).toBe(given.capability_ceiling);
    }
  });

  it("leaves whoever acts for somebody as he is", () => {
    expect(resolveCeiling(principal.userSession(7, "writer"), on)).toBeNull();
    const audience = principal.audience("audience:public", "writer");
    expect([isAutonomous(audience), resolveCeiling(audience, on)]).toEqual([false, null]);
  });

  it("takes a host's lists as they are meant, and his word as the last", () => {
    const listed = { ...on, authSources: [" user ", "", 5, null], deniedCapabilities: [" ban ", "ban", "", 5, ["x"]] };
    const user = principal.userSession(7, "writer");
    expect(resolveCeiling(user, listed)).toMatchObject({ user_id: 7, denied_capabilities: ["ban", "5"] });
    expect(isAutonomous(principal.system("writer"), listed)).toBe(false);
    expect(
      isAutonomous(user, { isAutonomous: (autonomous, { acting_user_id }) => !autonomous && acting_user_id === 7 }),
    ).toBe(true);
  });
});
