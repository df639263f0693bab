import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as principals from "../contracts/trust/principal.ts";
import { createAuthority } from "./authority.ts";

const none = async () => false;

describe("safe autonomy", () => {
  it("keeps to the user of the ceiling, though the ceiling lists nothing", async () => {
    const token = principals.fromArray({
      ...{ acting_user_id: 1, effective_agent_id: "shop", auth_source: "agent_token", request_context: "rest" },
      capability_ceiling: { user_id: 3 },
    });
    const holdsCapability = (user: number) => user === 1;
    for (const safeAutonomy of [false, true]) {
      const authority = createAuthority({ holdsCapability, safeAutonomy }, none);
      expect(await authority.allows(token, "read_orders")).toBe(false);
    }
  });

  it("denies what changes content to whoever acts on nobody's behalf, and nobody else", async () => {
    const authority = createAuthority({ holdsCapability: () => true, safeAutonomy: true }, none);
    const token = principals.agentToken(7, "shop", 4);
    expect(await authority.allows(token, "publish_posts")).toBe(false);
    expect(await authority.allows(token, "read")).toBe(true);
    expect(await authority.allows(principals.userSession(7, "shop"), "publish_posts")).toBe(true);
    const trusted = principals.fromArray({ ...token, capability_ceiling: { user_id: 7, denied_capabilities: [] } });
    expect(await authority.allows(trusted, "publish_posts")).toBe(true);
  });

  const capability = fc.constantFrom("read", "publish_posts");
  const user = fc.constantFrom(0, 1, 2);
  const list = fc.array(capability, { maxLength: 2 });
  const ceiling = fc.oneof(
    fc.constant(null),
    fc.record({ user_id: user }),
    fc.record({ user_id: user, allowed_capabilities: list }),
    fc.record({ user_id: user, denied_capabilities: list }),
  );

  it("never allows what would not be allowed without it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          acting_user_id: user,
          auth_source: fc.constantFrom("user", "agent_token", "system"),
          client_id: fc.constantFrom(null, "kiosk"),
          capability_ceiling: ceiling,
        }),
        fc.record({ ofContext: ceiling, ofClient: ceiling, wanted: capability, holders: fc.subarray([1, 2]) }),
        async (fields, { ofContext, ofClient, wanted, holders }) => {
          const principal = principals.fromArray({ effective_agent_id: "shop", request_context: "rest", ...fields });
          const options = {
            holdsCapability: (user: number) => holders.includes(user),
            clientCeiling: () => ofClient,
          };
          const asked = [principal, wanted, { capability_ceiling: ofContext }] as const;
          const isAllowed = await createAuthority(options, none).allows(...asked);
          if (await createAuthority({ ...options, safeAutonomy: true }, none).allows(...asked)) {
            expect(isAllowed).toBe(true);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("what narrows a principal", () => {
  const kiosk = { user_id: 7, allowed_capabilities: ["read"] };
  const clientCeiling = (id: string) => (id === "kiosk" ? kiosk : null);
  const limits = (principal: principals.Principal, options: object = {}) =>
    createAuthority({ clientCeiling, ...options }, none).limits(principal);
  const user = (scope: object = {}) => principals.userSession(7, "shop", scope);

  it("is its own ceiling and that of its client, told apart from others and found again in the same", async () => {
    expect(await limits(user())).toEqual(new Set());
    expect(await limits(user({ client_id: "web" }))).toEqual(new Set());
    const narrow = { user_id: 7, allowed_capabilities: ["read"] };
    const narrower = { user_id: 7, allowed_capabilities: [] };
    const own = await limits(user({ capability_ceiling: narrow }));
    expect(own.size).toBe(1);
    expect(await limits(user({ client_id: "kiosk" }))).toEqual(own);
    const both = await limits(user({ capability_ceiling: narrower, client_id: "kiosk" }));
    expect(both.size).toBe(2);
    expect(own.isSubsetOf(both)).toBe(true);
    expect(both.isSubsetOf(own)).toBe(false);
  });

  it("is also the careful default, and the client where the host decides", async () => {
    const token = principals.agentToken(7, "shop", 4);
    expect(await limits(token)).toEqual(new Set());
    expect((await limits(token, { safeAutonomy: true })).size).toBe(1);
    expect(await limits(user(), { safeAutonomy: true })).toEqual(new Set());
    const authorize = () => true;
    expect(await limits(user(), { authorize })).toEqual(new Set());
    expect((await limits(user({ client_id: "web" }), { authorize })).size).toBe(1);
  });
});
