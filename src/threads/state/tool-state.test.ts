import { beforeEach, expect, it } from "vitest";
import { directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import type { Execution } from "./thread-state.ts";
import { toolState } from "./tool-state.ts";

let host: Host;
let thread: Thread;

beforeEach(async () => {
  host = await hostInTest();
  thread = await openThread(host);
});

const limited = { name: "standard/outer", uses: ["inner", "shop/refund"], env: {} };
const echo = async (name: string, args: JsonMap) => ({ status: "success", result: { name, args } }) as const;

it("queues a tool with its parameters sealed", async () => {
  const scope = keptScope(host, thread);
  await toolState(host, scope).queueTool("shop/refund", { card: "4111-1111" });
  expect(scope.buffer.entries).toMatchObject([{ kind: "tool", operation: "queue_tool" }]);
  expect(JSON.stringify(scope.buffer.entries)).not.toContain("4111-1111");
  const { sealed } = JSON.parse(scope.buffer.entries[0]?.body ?? "");
  expect(JSON.parse(host.sealing.open(sealed, thread.id))).toMatchObject({
    ...{ name: "shop/refund", parameters: { card: "4111-1111" } },
  });
});

it("lets a tool use those that it names, by their plain names or the declared ones, and no others", async () => {
  const scope = keptScope(host, thread, { tool: limited, invoke: echo });
  const tools = toolState(host, scope);
  await tools.queueTool("standard/inner");
  await tools.queueTool("shop/refund");
  await expect(tools.queueTool("other")).rejects.toThrow(
    'tool_not_allowed: The tool "standard/outer" may not use "other".',
  );
  expect(scope.buffer.entries).toHaveLength(2);
  expect(await tools.invokeTool("inner")).toMatchObject({ status: "success" });
  expect(await tools.invokeTool("other")).toEqual({
    ...{ status: "error", error: 'The tool "standard/outer" may not use "other".' },
  });
});

it("invokes a tool and leaves nothing behind within a run", async () => {
  const scope = keptScope(host, thread, { invoke: echo, execution: {} as Execution });
  expect(await toolState(host, scope).invokeTool("inner", { a: 1 })).toEqual({
    ...{ status: "success", result: { name: "inner", args: { a: 1 } } },
  });
  expect(scope.buffer.entries).toEqual([]);
});

it("tells of an invocation outside of a run, without what the tool was given", async () => {
  const scope = keptScope(host, thread, { invoke: echo });
  await toolState(host, scope).invokeTool("inner", { token: "hunter2" });
  const [entry] = scope.buffer.entries;
  expect(JSON.parse(entry?.body ?? "").message).toMatchObject({
    role: "system",
    metadata: { silent: true, status_kind: "runtime_tool_invocation", tool_name: "inner", tool_status: "success" },
  });
  expect(entry?.body).not.toContain("hunter2");
});

it("says so where no tool can run", async () => {
  expect(await toolState(host, directScope(host, thread)).invokeTool("inner")).toMatchObject({ status: "error" });
});

it("refuses both once the thread is terminated", async () => {
  const tools = toolState(host, keptScope(host, thread, { invoke: echo }));
  await host.stores.threads.terminate(thread.id, createEntry.stop("Enough."));
  await expect(tools.queueTool("inner")).rejects.toThrow(/^thread_terminated: /);
  await expect(tools.invokeTool("inner")).rejects.toThrow(/^thread_terminated: /);
});
