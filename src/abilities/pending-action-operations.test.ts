import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";

const [ann, ben] = [person(7), person(8)];

const install = pendingAction.fromArray({
  ...{ action_id: "install-1", kind: "install", summary: "Install it.", preview: {}, apply_input: { key: "4222" } },
  created_at: "2026-01-01T00:00:00Z",
});

const nothing = { actions: [], has_more: false };

describe("the operations on pending actions", () => {
  it("list, count and show what the caller's threads propose, without what applying it takes", async () => {
    const { call, wish } = await openShop();
    const { request_id } = await wish("refund", ann);
    await wish("refund", ben);
    const listed = await call(ann, "agents/list-pending-actions");
    expect(listed).toMatchObject({ actions: [{ action_id: request_id, agent: "shop", status: "pending" }] });
    const shown = await call(ann, "agents/get-pending-action", { action_id: ` ${request_id} ` });
    expect(shown).toMatchObject({ action: { action_id: request_id, apply_input: "[redacted]" } });
    expect(JSON.stringify([listed, shown])).not.toContain("4111-secret");
    expect(await call(ann, "agents/summary-pending-actions")).toEqual({
      ...{ total: 1, by_status: { pending: 1 }, by_kind: { tool_call: 1 } },
    });
    expect(await call(ann, "agents/list-pending-actions", { filters: { agent: "books" } })).toEqual(nothing);
    expect(await call(ann, "agents/list-pending-actions", { filters: { offset: 1 } })).toEqual(nothing);
    expect(await call(admin, "agents/summary-pending-actions")).toMatchObject({ total: 2 });
  });

  it("are listed page by page, also for who manages threads", async () => {
    const { call, wish } = await openShop();
    const asked: string[] = [];
    for (const _ of [1, 2, 3]) asked.push((await wish("refund", ann)).request_id);
    for (const caller of [ann, admin]) {
      const ids = async (filters: object) => {
        const { actions } = await call(caller, "agents/list-pending-actions", { filters });
        return (actions as { action_id: string }[]).map(({ action_id }) => action_id);
      };
      expect(await ids({ limit: 2 })).toEqual(asked.slice(0, 2));
      expect(await ids({ limit: 2, offset: 2 })).toEqual(asked.slice(2));
      expect(await ids({ limit: 10_000 })).toEqual(asked);
      expect(await ids({ limit: 0 })).toEqual([]);
    }
  });

  it("are gone through from where the page before ended, whoever does", async () => {
    const { call, wish, holdfast } = await openShop();
    const asked: string[] = [];
    for (const _ of [1, 2, 3, 4, 5]) asked.push((await wish("refund", ann)).request_id);
    for (const caller of [ann, admin]) {
      const pages: string[][] = [];
      for (let after: unknown; pages.length < 5; ) {
        const page = await call(caller, "agents/list-pending-actions", { filters: { limit: 2 }, after });
        pages.push((page.actions as { action_id: string }[]).map(({ action_id }) => action_id));
        after = page.next;
        expect(page.has_more).toBe(after !== undefined);
        if (after === undefined) break;
      }
      expect(pages).toEqual([asked.slice(0, 2), asked.slice(2, 4), asked.slice(4)]);
      const filters = { limit: 5 };
      expect(await call(caller, "agents/list-pending-actions", { filters })).toMatchObject({ has_more: false });
      expect(await call(caller, "agents/list-pending-actions", { after: "nowhere" })).toEqual(nothing);
    }
    await holdfast.approvals.store(install);
    const last = (await wish("refund", ann)).request_id;
    const first = await call(admin, "agents/list-pending-actions", { filters: { limit: 1, offset: 4 } });
    expect(first).toMatchObject({ actions: [{ action_id: asked[4] }], has_more: true });
    // The rest, however many there were to leave out at first and whatever was decided since.
    await holdfast.approvals.resolve(asked[0] ?? "", { decision: "rejected", resolver: "user:9" });
    for (const offset of [0, 4]) {
      const filters = { status: "pending", limit: 2, offset };
      expect(await call(admin, "agents/list-pending-actions", { filters, after: first.next })).toMatchObject({
        ...{ actions: [{ action_id: "install-1" }, { action_id: last }], has_more: false },
      });
    }
  });

  it("decide as whoever calls, once", async () => {
    const { call, wish, refunded } = await openShop();
    const { thread, request_id: action_id } = await wish("refund", ann);
    const decided = {
      ...{ action_id, decision: " accepted ", resolver: "user:1", payload: { reason: "Fine." } },
      context: { principal: { ...admin } },
    };
    for (const _ of [1, 2]) {
      expect(await call(ann, "agents/resolve-pending-action", decided)).toMatchObject({
        ...{ action_id, decision: "accepted", result: { request_id: action_id } },
      });
      await thread.wait();
    }
    expect(refunded).toEqual([7]);
    expect(await call(ann, "agents/get-pending-action", { action_id })).toEqual({ action: null });
    expect(await call(ann, "agents/get-pending-action", { action_id, include_resolved: true })).toMatchObject({
      action: { status: "accepted", resolver: "user:7", resolution_metadata: { by: { acting_user_id: 7 } } },
    });
  });

  it("do not know what the threads of others propose, nor what no thread does", async () => {
    const { call, wish, holdfast } = await openShop();
    const { request_id } = await wish("refund", ann);
    await holdfast.approvals.store(install);
    for (const action_id of [request_id, "install-1", "none"]) {
      expect(await call(ben, "agents/get-pending-action", { action_id })).toEqual({ action: null });
      expect(await call(ben, "agents/resolve-pending-action", { action_id, decision: "accepted" })).toMatchObject({
        code: "pending_action_not_found",
      });
    }
    expect(await call(ben, "agents/list-pending-actions")).toEqual(nothing);
    expect(await call(admin, "agents/get-pending-action", { action_id: "install-1" })).toMatchObject({
      action: { kind: "install", apply_input: "[redacted]" },
    });
  });

  it("ask the rule about who decides, and the handler of what no thread proposes", async () => {
    const resolvers: string[] = [];
    const { call, wish, holdfast } = await openShop({
      approvers: { users: [12] },
      trust: {
        actionHandlers: {
          install: {
            canResolve: (_, { resolver }) => resolvers.push(resolver) > 1,
            handle: () => ({ installed: true }),
          },
        },
      },
    });
    const { request_id: action_id } = await wish("refund", ann);
    const decided = { action_id, decision: "rejected" };
    expect(await call(ann, "agents/resolve-pending-action", decided)).toMatchObject({ code: "approval_forbidden" });
    expect(await call(limited(7, "threads.read"), "agents/resolve-pending-action", decided)).toMatchObject({
      code: "ability_forbidden",
    });
    expect(await call(person(12), "agents/list-pending-actions")).toMatchObject({ actions: [{ action_id }] });
    expect(await call(person(12), "agents/resolve-pending-action", decided)).toMatchObject({ decision: "rejected" });

    await holdfast.approvals.store(install);
    const wanted = { action_id: "install-1", decision: "accepted", resolver: "user:99" };
    expect(await call(admin, "agents/resolve-pending-action", wanted)).toMatchObject({ code: "pending_action_denied" });
    expect(await call(admin, "agents/resolve-pending-action", wanted)).toMatchObject({ result: { installed: true } });
    expect(resolvers).toEqual(["user:1", "user:1"]);
  });

  it("refuse in the words of the contract", async () => {
    const { call } = await openShop();
    const refusal = (name: string) => ({ code: `agents_pending_action_${name}` });
    expect(await call(ann, "agents/get-pending-action")).toMatchObject(refusal("missing_action_id"));
    expect(await call(ann, "agents/resolve-pending-action", { action_id: "a", decision: "yes" })).toMatchObject(
      refusal("invalid_decision"),
    );
  });
});
