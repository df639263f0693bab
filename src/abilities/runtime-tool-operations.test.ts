import { describe, expect, it } from "vitest";
import { admin, limited, openShop, person } from "../../test/shop-desk.ts";

const [ann, ben] = [person(7), person(8)];

describe("the operations on what a client is to run", () => {
  it("hand the whole call to whoever runs it, and the result to the thread, once", async () => {
    const { call, wish } = await openShop();
    const { thread, request_id } = await wish("where", ann);
    const asked = {
      ...{ request_id, tool_name: "client/where", run_id: `${thread.id}:1`, status: "runtime_tool_pending" },
      parameters: { near: 7, card: "4111-secret" },
    };
    expect(await call(ann, "agents/list-runtime-tool-requests")).toMatchObject({ count: 1, requests: [asked] });
    expect(await call(ann, "agents/get-runtime-tool-request", { request_id })).toMatchObject({ request: asked });

    const handedIn = { request_id, result: { city: "Rome" } };
    expect(await call(ann, "agents/submit-runtime-tool-result", handedIn)).toMatchObject({
      ...{ status: "runtime_tool_submitted", duplicate: false, continuation_result: null },
      result: { success: true, result: { city: "Rome" } },
    });
    expect(await thread.wait()).toMatchObject({ final_content: "Done." });
    for (const again of [handedIn, { request_id, result: "Paris" }]) {
      expect(await call(ann, "agents/submit-runtime-tool-result", again)).toMatchObject({
        ...{ duplicate: true, result: { result: { city: "Rome" } } },
      });
    }
    const ended = await call(ann, "agents/get-runtime-tool-request", { request_id });
    expect(ended).toMatchObject({
      status: "runtime_tool_completed",
      request: { run_id: `${thread.id}:1`, result: { result: { city: "Rome" } } },
    });
    expect(JSON.stringify(ended)).not.toContain("4111-secret");
    expect(await call(ann, "agents/list-runtime-tool-requests")).toMatchObject({ count: 0 });
  });

  it("are the same requests that every other door answers", async () => {
    const { call, wish } = await openShop();
    const { request_id } = await wish("where", ann);
    await call(ann, "holdfast/submit-request", { request_id, error: "Nobody is there." });
    expect(await call(ann, "agents/submit-runtime-tool-result", { request_id, result: 1 })).toMatchObject({
      ...{ duplicate: true, result: { success: false, error: "Nobody is there." } },
    });
  });

  it("end a request without a result, and the thread goes on", async () => {
    const { call, wish } = await openShop();
    for (const [name, more] of [
      ["timeout", {}],
      ["cancel", { cancelled: true }],
    ] as const) {
      const { thread, request_id } = await wish("where", ann);
      const verb = `agents/${name}-runtime-tool-request`;
      const failed = { success: false, metadata: { status: "runtime_tool_timeout" } };
      expect(await call(ann, verb, { request_id })).toMatchObject({
        ...{ status: "runtime_tool_timeout", duplicate: false, result: failed, ...more },
      });
      expect(await thread.wait()).toMatchObject({ final_content: "Done." });
      expect(await call(ann, verb, { request_id })).toMatchObject({ status: "runtime_tool_timeout", duplicate: true });
      expect(await call(ann, "agents/submit-runtime-tool-result", { request_id, result: 1 })).toMatchObject({
        code: "agents_runtime_tool_invalid_result",
      });
    }
  });

  it("list by run, tool and place", async () => {
    const { call, wish } = await openShop();
    const asked = [await wish("where", ann), await wish("where", ann), await wish("where", ann)];
    const [first, second, third] = asked.map(({ request_id }) => request_id);
    const ids = async (input: object) => {
      const { requests } = await call(ann, "agents/list-runtime-tool-requests", input);
      return (requests as { request_id: string }[]).map(({ request_id }) => request_id);
    };
    expect(await ids({ run_id: `${asked[1]?.thread.id}:1` })).toEqual([second]);
    expect(await ids({ tool_name: "client/other" })).toEqual([]);
    expect(await ids({ after: first, before: third })).toEqual([second]);
    expect(await ids({ limit: "2" })).toEqual([first, second]);
  });

  it("know nothing of the threads of others, and nothing of approvals", async () => {
    const { call, wish } = await openShop();
    const { request_id } = await wish("where", ann);
    const approval = await wish("refund", ann);
    expect(await call(ben, "agents/list-runtime-tool-requests")).toMatchObject({ count: 0 });
    const unknown = { code: "agents_runtime_tool_request_not_found" };
    expect(await call(ben, "agents/get-runtime-tool-request", { request_id })).toMatchObject(unknown);
    expect(await call(ann, "agents/get-runtime-tool-request", { request_id: approval.request_id })).toMatchObject(
      unknown,
    );
    expect(await call(ben, "agents/submit-runtime-tool-result", { request_id, result: 1 })).toMatchObject({
      code: "agents_runtime_tool_invalid_result",
    });
    expect(await call(ben, "agents/cancel-runtime-tool-request", { request_id })).toMatchObject({
      code: "agents_runtime_tool_invalid_timeout",
    });
    expect(await call(limited(7, "threads.read"), "agents/list-runtime-tool-requests")).toMatchObject({
      code: "ability_forbidden",
    });
    expect(await call(admin, "agents/list-runtime-tool-requests")).toMatchObject({ count: 1 });
  });
});
