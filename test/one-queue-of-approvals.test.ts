// Promise: whoever decides sees one queue, of what threads propose and of what anybody else does; each action is decided
// once, where it is kept, and stays there for audit.
import { expect, it } from "vitest";
import * as pendingAction from "../src/contracts/trust/pending-action.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

const ann = { acting_user_id: 7, effective_agent_id: "desk", auth_source: "user", request_context: "chat" };
const site = { workspace_type: "site", workspace_id: "1" };

function desk() {
  const refunded: unknown[] = [];
  const refund = tool({
    name: "shop/refund",
    description: "Refunds.",
    actionPolicy: "preview",
    sensitive: ["card"],
    execute: ({ order }) => {
      refunded.push(order);
      return "refunded";
    },
  });
  const model = scriptedModel([callsTool("shop/refund", { order: 7, card: "4111-secret" }), says("Done.")]);
  return { agent: agent({ slug: "desk", model, tools: [refund] }), refunded };
}

const proposed = (id: string) =>
  pendingAction.fromArray({
    ...{
      action_id: id,
      kind: "install",
      summary: "Install it.",
      preview: {},
      apply_input: { key: "secret-of-install" },
    },
    ...{ workspace: site, agent: "packages", created_at: new Date().toISOString() },
  });

eachDatabase((newWorld) => {
  it("lists, counts and decides both alike", async () => {
    const world = await newWorld();
    const { agent: one, refunded } = desk();
    const installed: unknown[] = [];
    const holdfast = await world.open(one, {
      trust: {
        actionHandlers: {
          install: {
            canResolve: (_action, { resolver }) => resolver === "user:9",
            handle: ({ apply_input }) => {
              installed.push(apply_input);
              return { installed: true };
            },
          },
        },
      },
    });
    const { approvals } = holdfast;
    const thread = await holdfast.threads.open("t", { agent: "desk", principal: ann, workspace: site });
    const { waiting_for } = await thread.send("Refund.");
    const asked = waiting_for?.request_id ?? "";
    expect(await approvals.store(proposed("install-1"))).toBe(true);

    const listed = await approvals.list({ status: "pending" });
    expect(listed).toMatchObject([
      { action_id: asked, kind: "tool_call", agent: "desk", creator: "user:7", workspace: site },
      { action_id: "install-1", kind: "install", agent: "packages" },
    ]);
    expect(JSON.stringify(listed[0])).not.toContain("4111-secret");
    expect(await approvals.list({ agent: "desk" })).toHaveLength(1);
    expect(await approvals.list({ limit: 1, offset: 1 })).toMatchObject([{ action_id: "install-1" }]);
    expect(await approvals.summary()).toEqual({
      total: 2,
      by_status: { pending: 2 },
      by_kind: { tool_call: 1, install: 1 },
    });
    expect(await world.everything()).not.toMatch(/4111-secret|secret-of-install/);

    await approvals.resolve(asked, { decision: "accepted", resolver: "user:9", payload: { reason: "Fine." } });
    expect(await thread.wait()).toMatchObject({ final_content: "Done." });
    await expect(approvals.resolve("install-1", { decision: "accepted", resolver: "user:1" })).rejects.toMatchObject({
      code: "pending_action_denied",
    });
    expect(await approvals.resolve("install-1", { decision: "accepted", resolver: "user:9" })).toEqual({
      installed: true,
    });

    expect(refunded).toEqual([7]);
    expect(installed).toEqual([{ key: "secret-of-install" }]);
    expect(await approvals.list({ status: "pending" })).toEqual([]);
    expect(await approvals.get(asked)).toBeNull();
    expect(await approvals.get(asked, true)).toMatchObject({
      status: "accepted",
      resolver: "user:9",
      resolution_metadata: { reason: "Fine." },
    });
    expect(await approvals.get("install-1", true)).toMatchObject({ status: "accepted", resolver: "user:9" });
    await expect(approvals.resolve(asked, { decision: "rejected", resolver: "user:9" })).rejects.toMatchObject({
      code: "request_answered",
    });
  });
});
