import { describe, expect, it } from "vitest";
import * as accessGrant from "../contracts/trust/access-grant.ts";
import * as principal from "../contracts/trust/principal.ts";
import { canAccess, listAgents } from "./access.ts";

/** User 7 is an operator of `writer` in the workspace w1, and nobody is anything else. */
const host = {
  agents: () => [
    { slug: "reader" },
    { slug: "writer", label: "Writer", description: "Writes.", meta: { group: "text" } },
    { slug: "writer", label: "Another" },
  ],
  currentUserId: 7,
  store: {
    getAccess: (agentId: string, userId: number, workspaceId?: string | null) =>
      agentId === "writer" && userId === 7 && workspaceId === "w1"
        ? accessGrant.fromArray({ agent_id: agentId, user_id: userId, role: "operator" })
        : null,
  },
};
const here = { workspace_id: "w1" };

describe("asking for access to an agent", () => {
  it("names the agent by its slug and answers for the workspace that is asked about", async () => {
    const asked = { agent: " Writer! ", minimum_role: "operator" };
    expect(await canAccess({ ...asked, ...here }, host)).toEqual({
      ...{ allowed: true, agent: "writer", minimum_role: "operator" },
    });
    expect(await canAccess(asked, host)).toMatchObject({ allowed: false });
  });

  it("says no to a role that does not exist, and to what is no question", async () => {
    expect(await canAccess({ agent: "writer", minimum_role: ["admin"], ...here }, host)).toEqual({
      ...{ allowed: false, agent: "writer", minimum_role: "" },
    });
    for (const odd of [null, "writer", [], {}]) expect(await canAccess(odd, host)).toMatchObject({ allowed: false });
  });

  it("lists each agent once, with what may be told about it", async () => {
    expect(await listAgents(here, host)).toEqual({
      agents: [{ slug: "writer", label: "Writer", description: "Writes.", meta: { group: "text" } }],
    });
    expect(await listAgents({ ...here, minimum_role: "admin" }, host)).toEqual({ agents: [] });
    expect(await listAgents({ ...here, minimum_role: "boss" }, { ...host, decideAccess: () => true })).toEqual({
      agents: [],
    });
  });
});

describe("the principal that is asked for", () => {
  const claimed = { agent: "writer", ...here };

  it("is that of the call, and not one that the input names", async () => {
    const other = principal.userSession(8, "reader", here);
    const mine = principal.userSession(7, "reader", here);
    const ask = (input: object, currentUserId: number, context = {}) =>
      canAccess(input, { ...host, currentUserId }, context);
    expect(await ask({ ...claimed, principal: mine }, 8)).toMatchObject({ allowed: false });
    expect(await ask(claimed, 7, { principal: other })).toMatchObject({ allowed: false });
    expect(await ask(claimed, 8, { principal: mine })).toMatchObject({ allowed: true });
    expect(await ask(claimed, 0)).toMatchObject({ allowed: false });
  });
});
