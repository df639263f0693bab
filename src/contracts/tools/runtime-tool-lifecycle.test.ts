import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import * as lifecycle from "./runtime-tool-lifecycle.ts";
import { createMemoryRuntimeToolStore, type RuntimeToolStore } from "./runtime-tool-store.ts";

const lookup = { request_id: "q", tool_name: "client/lookup", tool_call_id: "call-1", metadata: { turn_count: 2 } };

async function waiting(): Promise<RuntimeToolStore> {
  const store = createMemoryRuntimeToolStore();
  await lifecycle.createPendingRequest(store, lookup);
  return store;
}

describe("runtime tool lifecycle", () => {
  it("gives the first of two racing results to both who submitted one", async () => {
    const store = await waiting();
    const [first, second] = await Promise.all([
      lifecycle.submitResult(store, { request_id: "q", result: { from: "first" } }),
      lifecycle.submitResult(store, { request_id: "q", result: { from: "second" } }),
    ]);
    expect(first).toMatchObject({ duplicate: false, result: { result: { from: "first" } } });
    expect(second).toMatchObject({ duplicate: true, result: { result: { from: "first" } } });
  });

  it("keeps a result even when the continuation turns out to be unusable", async () => {
    const store = await waiting();
    const returnsNothing = (() => undefined) as unknown as lifecycle.Continuation;
    await expect(lifecycle.submitResult(store, { request_id: "q" }, returnsNothing)).rejects.toThrow(
      "invalid_runtime_tool_continuation",
    );
    expect(await store.get("q")).toMatchObject({ status: "runtime_tool_completed" });
  });

  it("refuses a continuation that cannot be called", async () => {
    const store = await waiting();
    const notCallable = { resume: true } as unknown as lifecycle.Continuation;
    await expect(lifecycle.timeoutRequest(store, "q", notCallable)).rejects.toThrow(
      "invalid_runtime_tool_continuation",
    );
    expect(await store.get("q")).toMatchObject({ status: "runtime_tool_timeout" });
  });

  it("tells each step with the caller's context, and nothing on a replay", async () => {
    const store = createMemoryRuntimeToolStore();
    const hooks = createHooks();
    const told: unknown[] = [];
    hooks.on("runtimeToolRequestCreated", (_request, context) => told.push(["created", context]));
    hooks.on("runtimeToolRequestTimedOut", (request, _result, context) => told.push([request.status, context]));
    hooks.on("runtimeToolRequestResumed", (_request, _result, continued) => told.push(["resumed", continued]));
    const resume = () => ({ resumed: true });

    await lifecycle.createPendingRequest(store, lookup, { from: "loop" }, hooks);
    await lifecycle.timeoutRequest(store, " q ", resume, { from: "timer" }, hooks);
    await lifecycle.timeoutRequest(store, "q", resume, { from: "timer" }, hooks);

    expect(told).toEqual([
      ["created", { from: "loop" }],
      ["runtime_tool_timeout", { from: "timer" }],
      ["resumed", { resumed: true }],
    ]);
  });

  it("replays an ended request without a result as a failure that names its status", async () => {
    const store = createMemoryRuntimeToolStore([{ ...lookup, status: "runtime_tool_completed" }]);
    const replayed = await lifecycle.timeoutRequest(store, "q");
    expect(replayed).toMatchObject({
      status: "runtime_tool_completed",
      duplicate: true,
      result: { success: false, metadata: { status: "runtime_tool_completed" } },
    });
    await expect(lifecycle.submitResult(store, { request_id: "q" })).rejects.toThrow("request is not pending");
  });

  it("reads again after a lost race and returns what won", async () => {
    const store = await waiting();
    const timeout = async (id: string) => {
      await lifecycle.submitResult(store, { request_id: id, result: { from: "client" } });
      return false;
    };
    const late = await lifecycle.timeoutRequest({ ...store, timeout }, "q");
    expect(late).toMatchObject({ status: "runtime_tool_completed", result: { success: true } });
  });

  it("refuses a store that cannot move a request atomically", async () => {
    const { complete, ...incomplete } = await waiting();
    await expect(lifecycle.submitResult(incomplete as RuntimeToolStore, { request_id: "q" })).rejects.toThrow(
      "invalid_runtime_tool_store: complete",
    );
  });
});
