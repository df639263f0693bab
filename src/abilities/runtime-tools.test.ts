import { describe, expect, it } from "vitest";
import type { Continuation } from "../contracts/tools/runtime-tool-lifecycle.ts";
import { createMemoryRuntimeToolStore, type RuntimeToolStore } from "../contracts/tools/runtime-tool-store.ts";
import * as runtimeTools from "./runtime-tools.ts";

const newStore = () =>
  createMemoryRuntimeToolStore([
    { request_id: "q", tool_name: "client/lookup", tool_call_id: "call-1", run_id: "run-1" },
    { request_id: "w", tool_name: "client/pick", tool_call_id: "call-2", run_id: "run-2" },
  ]);

describe("runtime tool operations", () => {
  it("lists with a trimmed query and ignores a limit that is none", async () => {
    const host = { store: newStore() };
    expect(await runtimeTools.list({ run_id: " run-2 ", limit: 0 }, host)).toMatchObject({
      count: 1,
      requests: [{ request_id: "w" }],
    });
    expect(await runtimeTools.list({ limit: "1" }, host)).toMatchObject({ count: 1 });
    expect(await runtimeTools.list("nonsense", host)).toMatchObject({ count: 2 });
  });

  it("resumes only when asked to", async () => {
    const store = newStore();
    const resumed: string[] = [];
    const continuation: Continuation = ({ request_id }) => ({ seen: resumed.push(request_id) });
    await runtimeTools.submit({ request_id: "q", result: 1 }, { store, continuation });
    const answer = await runtimeTools.cancel({ request_id: "w", resume: true }, { store, continuation });
    expect(resumed).toEqual(["w"]);
    expect(answer).toMatchObject({ cancelled: true, continuation_result: { seen: 1 } });
  });

  it("refuses with the code of what was wrong", async () => {
    const store = newStore();
    const continuation = "no function" as unknown as Continuation;
    const cyclic: Record<string, unknown> = { request_id: "q" };
    cyclic.result = cyclic;
    expect(await runtimeTools.submit({}, { store })).toMatchObject({ code: "agents_runtime_tool_invalid_result" });
    expect(await runtimeTools.submit(cyclic, { store })).toMatchObject({ code: "agents_runtime_tool_invalid_request" });
    expect(await runtimeTools.timeout({ request_id: "q", resume: true }, { store, continuation })).toMatchObject({
      code: "agents_runtime_tool_invalid_continuation",
    });
    expect(await runtimeTools.list({}, { store: {} as RuntimeToolStore })).toMatchObject({
      code: "agents_runtime_tool_request_store_unavailable",
    });
  });

  it("lets the failure of a store through", async () => {
    const get = () => Promise.reject(new Error("disk full"));
    await expect(runtimeTools.get({ request_id: "q" }, { store: { ...newStore(), get } })).rejects.toThrow("disk full");
  });
});
