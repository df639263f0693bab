import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";

const [ann, ben] = [person(7), person(8)];

describe("the operations on what threads wait for", () => {
  it("list, show and answer what the caller's own threads wait for, and let the thread go on", async () => {
    const { call, wish } = await openShop();
    const { thread, request_id } = await wish("where", ann);
    await wish("where", ben);

    expect(await call(ann, "holdfast/list-requests")).toMatchObject({
      requests: [{ id: request_id, thread_id: thread.id, run: 1, kind: "client_tool", status: "pending" }],
      has_more: false,
    });
    expect(await call(admin, "holdfast/list-requests", { limit: "1" })).toMatchObject({
      requests: [{ id: request_id }],
      has_more: true,
    });
    const answer = { request_id, result: { city: "Rome" } };
    expect(await call(ann, "holdfast/submit-request", answer)).toMatchObject({
      outcome: "submitted",
      request: { status: "answered", answer: { result: { city: "Rome" } } },
    });
    expect(await thread.wait()).toMatchObject({ final_content: "Done." });
    expect(await call(ann, "holdfast/submit-request", answer)).toMatchObject({ outcome: "repeated" });
    expect(await call(ann, "holdfast/submit-request", { request_id, error: "No." })).toMatchObject({
      code: "request_answered",
    });
    expect(await call(ann, "holdfast/list-requests", { thread_id: thread.id, status: "pending" })).toMatchObject({
      requests: [],
    });
  });

  it("show the secrets of a call to whoever runs the tool, and to nobody who only looks", async () => {
    const { call, wish } = await openShop();
    const { request_id } = await wish("where", ann);
    const shown = await call(ann, "holdfast/get-request", { request_id });
    expect(shown).toMatchObject({
      shown: { parameters: { near: 7, card: "[redacted]" } },
      whole: { parameters: { near: 7, card: "4111-secret" } },
    });
    const looks = limited(7, "threads.read");
    expect(JSON.stringify(await call(looks, "holdfast/get-request", { request_id }))).not.toContain("4111-secret");
    const listed = await call(ann, "holdfast/list-requests");
    expect(JSON.stringify(listed)).not.toContain("4111-secret");
  });

  it("do not know what the threads of others wait for", async () => {
    const { call, wish } = await openShop();
    const { thread, request_id } = await wish("where", ann);
    expect(await call(ben, "holdfast/list-requests")).toEqual({ requests: [], has_more: false });
    expect(await call(ben, "holdfast/list-requests", { thread_id: thread.id })).toMatchObject({
      code: "thread_not_found",
    });
    const unknown = { code: "request_not_found", message: `There is no request "${request_id}".` };
    expect(await call(ben, "holdfast/get-request", { request_id })).toEqual(unknown);
    expect(await call(ben, "holdfast/submit-request", { request_id, result: 1 })).toEqual(unknown);
    expect(await call(admin, "holdfast/get-request", { request_id })).toMatchObject({ id: request_id });
  });

  it("are refused to whoever has not the capability, and a decision takes one of its own", async () => {
    const { call, wish, refunded } = await openShop();
    const { request_id } = await wish("refund", ann);
    const answers = limited(7, "threads.read", "requests.answer");
    const accepted = { request_id, decision: "accepted" };
    for (const caller of [limited(7, "threads.read"), answers]) {
      expect(await call(caller, "holdfast/submit-request", accepted)).toMatchObject({ code: "ability_forbidden" });
    }
    expect(await call(limited(7), "holdfast/list-requests")).toMatchObject({ code: "ability_forbidden" });
    expect(refunded).toEqual([]);
    expect(await call(ann, "holdfast/submit-request", { request_id, result: 1 })).toMatchObject({
      code: "invalid_answer",
    });
    expect(await call(ann, "holdfast/submit-request", accepted)).toMatchObject({ outcome: "submitted" });
  });
});
