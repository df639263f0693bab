import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";

const site = { workspace_type: "site", workspace_id: "1" };
const ann = person(7);
const key = { ...site, agent_id: "shop", tool_name: "shop/refund" };

async function remembering() {
  const shop = await openShop();
  const { thread, request_id } = await shop.wish("refund", ann, { workspace: site });
  await shop.call(ann, "holdfast/decide-approval", { request_id, decision: "accepted", remember: true });
  await thread.wait();
  return { ...shop, thread, request_id };
}

describe("the operations on remembered decisions", () => {
  it("show what the caller has decided for good, and take it back", async () => {
    const { call, thread, request_id } = await remembering();
    expect(await call(ann, "holdfast/list-remembered-approvals")).toMatchObject({
      remembered: [{ ...key, user_id: 7, policy: "direct", request_id }],
    });
    for (const [input, answer] of [
      [{ limit: "1" }, { remembered: [{ user_id: 7 }], has_more: false }],
      [{ offset: "1" }, { remembered: [], has_more: false }],
    ] as const) {
      expect(await call(ann, "holdfast/list-remembered-approvals", input)).toMatchObject(answer);
    }
    expect(await thread.send("refund")).toMatchObject({ final_content: "Done." });
    expect(await call(ann, "holdfast/forget-remembered-approval", key)).toEqual({ forgotten: true });
    expect(await call(ann, "holdfast/forget-remembered-approval", key)).toEqual({ forgotten: false });
    expect(await thread.send("refund")).toMatchObject({ status: "approval_required" });
  });

  it("leave those of others to who manages threads", async () => {
    const { call } = await remembering();
    for (const other of [person(8), person(7, { workspace_id: "2" })]) {
      expect(await call(other, "holdfast/list-remembered-approvals", { user_id: 7 })).toMatchObject({ remembered: [] });
      expect(await call(other, "holdfast/forget-remembered-approval", { ...key, user_id: 7 })).toEqual({
        forgotten: false,
      });
    }
    expect(await call(limited(7, "threads.read"), "holdfast/forget-remembered-approval", key)).toMatchObject({
      code: "ability_forbidden",
    });
    expect(await call(admin, "holdfast/list-remembered-approvals")).toMatchObject({ remembered: [{ user_id: 7 }] });
    expect(await call(admin, "holdfast/forget-remembered-approval", { ...key, user_id: "7" })).toEqual({
      forgotten: true,
    });
  });
});
