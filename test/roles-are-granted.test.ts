import { describe, expect, it } from "vitest";
import * as principals from "../src/contracts/trust/principal.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";

const ada = principals.userSession(7, "shop");
const bob = principals.userSession(8, "shop");
const accepted = { decision: "accepted" } as const;

/** A shop whose refunds wait for a yes, and what became of each decision about one. */
async function openShop(world: World, approvers?: { readonly role: "admin" }) {
  const refund = tool({
    ...{ name: "shop/refund", description: "Refunds.", actionPolicy: "preview", execute: () => "done" },
    ...(approvers && { approvers }),
  });
  const model = scriptedModel([callsTool("shop/refund"), says("Done.")]);
  const holdfast = await world.open(agent({ slug: "shop", model, tools: [refund] }));
  async function asked(principal?: principals.Principal): Promise<string> {
    const options = principal ? { principal: { ...principal } } : {};
    const thread = await holdfast.threads.open(crypto.randomUUID(), { agent: "shop", ...options });
    const { waiting_for } = await thread.send("Refund it.");
    return waiting_for?.request_id ?? "";
  }
  const decide = (id: string, by: principals.Principal) =>
    holdfast.requests.submit(id, accepted, { principal: { ...by } }).then(
      ({ outcome }) => outcome,
      ({ code }) => code,
    );
  return { ...holdfast, asked, decide };
}

eachDatabase((newWorld) => {
  it("the role that a rule asks for is one that was granted, and not that of whom the agent serves", async () => {
    const { grants, asked, decide } = await openShop(await newWorld(), { role: "admin" });
    const id = await asked(ada);
    expect(await decide(id, ada)).toBe("approval_forbidden");
    await grants.grant({ agent: "shop", user_id: 7, role: "operator" });
    expect(await decide(id, ada)).toBe("approval_forbidden");
    await grants.grant({ agent: "shop", user_id: 8, role: "admin", workspace_id: "elsewhere" });
    expect(await decide(id, bob)).toBe("approval_forbidden");
    await grants.grant({ agent: "shop", user_id: 8, role: "admin" });
    expect(await decide(id, bob)).toBe("submitted");
  });

  describe("an agent does not decide about what it has proposed", () => {
    it("through a token, however it came by one, nor as the system in its name", async () => {
      const { tokens, asked, decide } = await openShop(await newWorld());
      const id = await asked(ada);
      const { token } = await tokens.create({ agent: "shop", owner_user_id: 7 });
      const own = await tokens.authenticate(token);
      if (!own) throw new Error("The token lets nobody in.");
      expect(await decide(id, own)).toBe("approval_forbidden");
      expect(await decide(id, { ...own, effective_agent_id: " Shop" })).toBe("approval_forbidden");
      expect(await decide(id, principals.system("shop"))).toBe("approval_forbidden");
      expect(await decide(id, principals.system("console"))).toBe("submitted");
    });

    it("nor does the token of another agent that set it off", async () => {
      const { tokens, asked, decide } = await openShop(await newWorld());
      const { token } = await tokens.create({ agent: "planner", owner_user_id: 7 });
      const planner = await tokens.authenticate(token);
      if (!planner) throw new Error("The token lets nobody in.");
      const id = await asked(planner);
      expect(await decide(id, planner)).toBe("approval_forbidden");
      expect(await decide(id, bob)).toBe("submitted");
    });
  });
});
