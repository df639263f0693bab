import { describe, expect, it } from "vitest";
import { request, result } from "./runtime-tool.ts";
import { createMemoryRuntimeToolStore, requireStore } from "./runtime-tool-store.ts";

const pending = (requestId: string, tool_name = "client/lookup") =>
  request({ request_id: requestId, tool_name, tool_call_id: requestId, run_id: "run-1" });
const answer = result({ request_id: "q", tool_name: "client/lookup", result: { found: true } });

describe("runtime tool store", () => {
  it("lets exactly one of several concurrent transitions win", async () => {
    const store = createMemoryRuntimeToolStore();
    await store.create(pending("q"));
    const wins = await Promise.all([store.complete("q", answer), store.timeout("q"), store.complete("q", answer)]);
    expect(wins).toEqual([true, false, false]);
    expect(await store.get("q")).toMatchObject({ status: "runtime_tool_completed", result: answer });
  });

  it("keeps what was answered when the same request is created again, and refuses its id to another", async () => {
    const store = createMemoryRuntimeToolStore();
    await store.create(pending("q"));
    await store.complete("q", answer);
    await store.create(pending("q"));
    expect(await store.get("q")).toMatchObject({ status: "runtime_tool_completed", result: answer });
    expect(() => store.create(pending("q", "client/other"))).toThrow("invalid_runtime_tool_request: request_id");
  });

  it("changes nothing for a request it does not know", async () => {
    const store = createMemoryRuntimeToolStore();
    expect(await store.complete("constructor", answer)).toBe(false);
    expect(await store.get("constructor")).toBeUndefined();
  });

  it("lists pending requests in the order they came, within the bounds of the query", async () => {
    const store = createMemoryRuntimeToolStore(["a", "b", "c", "d"].map((id) => pending(id)));
    await store.timeout("b");
    const ids = async (query: object) => (await store.recentPending(query)).map((row) => row.request_id);
    expect(await ids({})).toEqual(["a", "c", "d"]);
    expect(await ids({ after: "a", before: "d" })).toEqual(["c"]);
    expect(await ids({ limit: 2 })).toEqual(["a", "c"]);
    expect(await ids({ tool_name: "client/other" })).toEqual([]);
  });

  it("names what a value lacks to be a store", () => {
    const { complete, timeout, ...readOnly } = createMemoryRuntimeToolStore();
    expect(() => requireStore(readOnly)).toThrow("invalid_runtime_tool_store: complete, timeout");
    expect(() => requireStore(null)).toThrow("invalid_runtime_tool_store");
  });
});
