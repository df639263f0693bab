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

/** What somebody proposes who says himself when that was. */
const proposed = (id: string, created_at: string) =>
  pendingAction.fromArray({
    ...{
      action_id: id,
      kind: "install",
      summary: "Install it.",
      preview: {},
      apply_input: { key: "secret-of-install" },
    },
    ...{ workspace: site, agent: "packages", created_at },
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
    // In the same millisecond, as far as it says: it is second because it was stored second.
    const { created_at } = (await approvals.get(asked)) ?? { created_at: "" };
    expect(await approvals.store(proposed("install-1", created_at))).toBe(true);

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

  it("stands in the order in which it was stored, whatever time whoever proposes it gives", async () => {
    const world = await newWorld();
    const { approvals, threads } = await world.open(desk().agent);
    const times = ["2999-01-01T00:00:00Z", "some day", "1999-01-01T00:00:00Z", "2999-01-01T00:00:00Z"];
    const stored: string[] = [];
    for (const [index, time] of times.entries()) {
      const thread = await threads.open(`t${index}`, { agent: "desk", principal: ann, workspace: site });
      const { waiting_for } = await thread.send("Refund.");
      // Against the order of their names.
      const install = `install-${9 - index}`;
      await approvals.store(proposed(install, time));
      stored.push(waiting_for?.request_id ?? "", install);
    }
    const ids = (actions: readonly { readonly action_id: string }[]) => actions.map(({ action_id }) => action_id);
    expect(ids(await approvals.list())).toEqual(stored);
    for (const offset of stored.keys()) {
      expect(ids(await approvals.list({ limit: 3, offset }))).toEqual(stored.slice(offset, offset + 3));
    }
    // A filter takes some away, and moves none of the others.
    const kinds = [...(await approvals.list({ kind: "install" })), ...(await approvals.list({ kind: "tool_call" }))];
    expect(ids(kinds)).toEqual([
      ...stored.filter((id) => id.startsWith("install")),
      ...stored.filter((id) => !id.startsWith("install")),
    ]);

    // Stored anew, an action keeps its place.
    await approvals.store(proposed("install-9", "2026-01-01T00:00:00Z"));
    expect(ids(await approvals.list())).toEqual(stored);
  });
});
