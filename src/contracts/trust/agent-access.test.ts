import { describe, expect, it } from "vitest";
import * as accessGrant from "./access-grant.ts";
import { canAccessAgent, principalsFor } from "./agent-access.ts";
import * as principal from "./principal.ts";

const user = principal.userSession(7, "mine", { workspace_id: "w1", request_metadata: { ip: "::1" } });
const granted = (role: string) => ({ getAccess: () => accessGrant.fromArray({ agent_id: "other", user_id: 7, role }) });
const nobody = { getAccess: () => null };

describe("access to an agent", () => {
  it("is always there to one's own, in every role that exists", async () => {
    expect(await canAccessAgent(user, "mine", "admin")).toBe(true);
    expect(await canAccessAgent(user, "mine", "owner")).toBe(false);
    expect(await canAccessAgent(user, "Mine")).toBe(false);
  });

  it("is asked for in the principal's own workspace", async () => {
    const asked: unknown[] = [];
    const getAccess = (...given: unknown[]) => {
      asked.push(given);
      return null;
    };
    const store = { getAccess };
    await canAccessAgent(user, "other", "viewer", { workspace_id: "w2" }, { store });
    expect(asked).toEqual([["other", 7, "w1"]]);
  });

  it("goes on to audiences where the user's own grant is not enough", async () => {
    const store = {
      ...granted("viewer"),
      getAccessForPrincipal: async (agent_id: string, { audience_id }: principal.Principal) =>
        audience_id === "audience:public" ? accessGrant.fromArray({ agent_id, audience_id, role: "operator" }) : null,
    };
    expect(await canAccessAgent(user, "other", "operator", {}, { store })).toBe(true);
    expect(await canAccessAgent(user, "other", "admin", {}, { store })).toBe(false);
    for (const falsy of [false, 0, "", "0", null, []]) {
      const context = { include_public_audience: falsy };
      expect(await canAccessAgent(user, "other", "operator", context, { store })).toBe(false);
    }
  });

  it("takes the context's store before the usual one, and nothing for a store that is none", async () => {
    const host = { store: nobody };
    expect(await canAccessAgent(user, "other", "viewer", { access_store: granted("viewer") }, host)).toBe(true);
    expect(await canAccessAgent(user, "other", "viewer", { access_store: "all" }, host)).toBe(false);
    expect(await canAccessAgent(user, "other")).toBe(false);
  });

  it("lets the host have the last word, and takes nothing but true for a yes", async () => {
    const decide = (answer: unknown) => ({ store: granted("admin"), decideAccess: () => answer as boolean });
    expect(await canAccessAgent(user, "other", "viewer", {}, decide(false))).toBe(false);
    expect(await canAccessAgent(user, "other", "viewer", {}, decide("yes"))).toBe(false);
    expect(await canAccessAgent(user, " ", "viewer", {}, decide(true))).toBe(true);
  });

  it("throws on what a store throws, so that nobody gets in or is kept out by chance", async () => {
    const store = { getAccess: () => Promise.reject(new Error("down")) };
    await expect(canAccessAgent(user, "other", "viewer", {}, { store })).rejects.toThrow("down");
  });
});

describe("the principals whose grants count", () => {
  it("keep the agent, the request and the scope of whoever asks, and nothing of who he is", async () => {
    const [own, everybody] = await principalsFor(user);
    expect(own).toBe(user);
    expect(everybody).toEqual(
      principal.audience("audience:public", "mine", { workspace_id: "w1", request_metadata: { ip: "::1" } }),
    );
    expect(everybody?.acting_user_id).toBe(0);
  });

  it("are those that the host says, each once, and the known ones where it answers nonsense", async () => {
    const audiences = async (answer: unknown) =>
      (await principalsFor(user, {}, () => answer as string[])).map(({ audience_id }) => audience_id);
    expect(await audiences([" staff ", "staff", "", null, {}, 5])).toEqual([null, "staff", "5"]);
    expect(await audiences("staff")).toEqual([null, "audience:public"]);
  });
});
