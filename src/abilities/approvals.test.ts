import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";
import * as principals from "../contracts/trust/principal.ts";

const [ann, ben, boss] = [person(7), person(8), person(12)];

describe("the operations on approvals", () => {
  it("show what is proposed without its secrets, and what was decided about it", async () => {
    const { call, wish, refunded } = await openShop();
    const { thread, request_id } = await wish("refund", ann);
    const listed = await call(ann, "holdfast/list-approvals");
    expect(listed).toMatchObject({
      approvals: [
        {
          ...{ request_id, thread_id: thread.id, agent: "shop", tool_name: "shop/refund", status: "pending" },
          ...{ creator: "user:7", parameters: { order: 7, card: "[redacted]" } },
        },
      ],
    });
    expect(JSON.stringify(await call(ann, "holdfast/get-approval", { request_id }))).not.toContain("4111-secret");

    const yes = { request_id, decision: "accepted", reason: "Fine." };
    expect(await call(ann, "holdfast/decide-approval", yes)).toMatchObject({
      outcome: "submitted",
      approval: { status: "accepted", resolver: "user:7", resolution: { reason: "Fine." } },
    });
    await thread.wait();
    expect(refunded).toEqual([7]);
    expect(await call(ann, "holdfast/decide-approval", yes)).toMatchObject({ outcome: "repeated" });
    expect(await call(ann, "holdfast/decide-approval", { request_id, decision: "rejected" })).toMatchObject({
      code: "request_answered",
    });
    expect(refunded).toEqual([7]);
    expect(await call(ann, "holdfast/list-approvals")).toEqual({ approvals: [], has_more: false });
    expect(await call(ann, "holdfast/list-approvals", { status: "decided" })).toMatchObject({
      approvals: [{ request_id }],
    });
  });

  it("do not know what the threads of others propose", async () => {
    const { call, wish, refunded } = await openShop();
    const { request_id } = await wish("refund", ann);
    expect(await call(ben, "holdfast/list-approvals")).toEqual({ approvals: [], has_more: false });
    expect(await call(ben, "holdfast/get-approval", { request_id })).toMatchObject({ code: "request_not_found" });
    expect(await call(ben, "holdfast/decide-approval", { request_id, decision: "accepted" })).toMatchObject({
      code: "request_not_found",
    });
    expect(await call(admin, "holdfast/list-approvals")).toMatchObject({ approvals: [{ request_id }] });
    expect(refunded).toEqual([]);
  });

  it("are for whom the rule names, whoever's thread it is, and for nobody else", async () => {
    const { call, wish, refunded } = await openShop({ approvers: { users: [12] } });
    const { thread, request_id } = await wish("refund", ann);
    const yes = { request_id, decision: "accepted" };
    expect(await call(ann, "holdfast/decide-approval", yes)).toMatchObject({ code: "approval_forbidden" });
    expect(await call(admin, "holdfast/decide-approval", yes)).toMatchObject({ code: "approval_forbidden" });
    expect(await call(ben, "holdfast/decide-approval", yes)).toMatchObject({ code: "request_not_found" });
    expect(await call(limited(12, "threads.read"), "holdfast/decide-approval", yes)).toMatchObject({
      code: "ability_forbidden",
    });
    const elsewhere = person(12, { workspace_id: "another" });
    expect(await call(elsewhere, "holdfast/decide-approval", yes)).toMatchObject({ code: "request_not_found" });
    expect(refunded).toEqual([]);

    expect(await call(boss, "holdfast/list-approvals")).toMatchObject({ approvals: [{ request_id }] });
    expect(await call(boss, "holdfast/list-requests", { kind: "client_tool" })).toMatchObject({ requests: [] });
    expect(await call(boss, "holdfast/decide-approval", yes)).toMatchObject({ outcome: "submitted" });
    await thread.wait();
    expect(refunded).toEqual([7]);
    expect(await call(boss, "holdfast/get-approval", { request_id })).toMatchObject({ resolver: "user:12" });
    expect(await call(boss, "holdfast/get-thread", { thread_id: thread.id })).toMatchObject({
      code: "thread_not_found",
    });
  });

  it("are opened to no stranger by a rule that only asks for a second person", async () => {
    const { call, wish } = await openShop({ approvers: { other_than_requester: true } });
    const { request_id } = await wish("refund", ann);
    const yes = { request_id, decision: "accepted" };
    expect(await call(ann, "holdfast/decide-approval", yes)).toMatchObject({ code: "approval_forbidden" });
    expect(await call(ben, "holdfast/list-approvals")).toMatchObject({ approvals: [] });
    expect(await call(ben, "holdfast/decide-approval", yes)).toMatchObject({ code: "request_not_found" });
    expect(await call(admin, "holdfast/decide-approval", yes)).toMatchObject({ outcome: "submitted" });
  });

  it("are refused to a token of the agent itself", async () => {
    const { call, wish, holdfast } = await openShop();
    const { token } = await holdfast.tokens.create({ agent: "shop", owner_user_id: 7 });
    const self = await holdfast.tokens.authenticate(token);
    expect(self).not.toBeNull();
    const holder = self ?? principals.system("shop");
    const { request_id } = await wish("refund", holder);
    expect(await call(holder, "holdfast/decide-approval", { request_id, decision: "accepted" })).toMatchObject({
      code: "approval_forbidden",
    });
  });

  it("list those that wait for a decision of the caller among the caller's own, in the order they were asked", async () => {
    const { call, wish } = await openShop({ approvers: { users: [12] } });
    const asked: string[] = [];
    for (const who of [ann, boss, ben]) asked.push((await wish("refund", who)).request_id);
    const ids = async (input: object) => {
      const { approvals } = await call(boss, "holdfast/list-approvals", input);
      return (approvals as { request_id: string }[]).map(({ request_id }) => request_id);
    };
    expect(await ids({})).toEqual(asked);
    expect(await ids({ limit: 2 })).toEqual(asked.slice(0, 2));
    expect(await ids({ after: asked[1] })).toEqual(asked.slice(2));
  });

  it("say no more than a door may: nothing that decides is offered to a model", async () => {
    const { holdfast } = await openShop();
    for (const door of ["mcp", "model"] as const) {
      expect(await holdfast.abilities.call("holdfast/decide-approval", {}, { principal: admin, door })).toMatchObject({
        code: "ability_not_found",
      });
    }
  });
});
