import { describe, expect, it } from "vitest";
import * as toolCall from "./call.ts";
import { chatExecutor } from "./chat-executor.ts";
import type { ToolDeclaration } from "./declaration.ts";

const ran: string[] = [];
const execute = chatExecutor((call) => ran.push(call.tool_name));
const clientTool = {
  name: "client/pick",
  description: "Lets the user pick",
  executor: "client",
  runtime: { environment: "runtime_local", api_key: "k" },
} as unknown as ToolDeclaration;

describe("chat executor", () => {
  it("asks the client instead of the host, without the declaration's secrets", () => {
    const call = toolCall.normalize({ tool_name: "client/pick", id: "call-1", parameters: { from: [1, 2] } });
    expect(execute(call, clientTool, { run_id: "run-1", runtime_tool_timeout_at: "noon" })).toMatchObject({
      success: false,
      status: "runtime_tool_pending",
      runtime_tool_request: {
        tool_call_id: "call-1",
        run_id: "run-1",
        timeout_at: "noon",
        runtime: { environment: "runtime_local", api_key: "[redacted]" },
      },
    });
    expect(ran).toEqual([]);
  });

  it("refuses a client call that no result could be matched to", () => {
    const call = toolCall.normalize({ tool_name: "client/pick" });
    expect(() => execute(call, clientTool, {})).toThrow("invalid_runtime_tool_request: tool_call_id");
  });
});
