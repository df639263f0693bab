// The executor of a chat: a tool of the client cannot run here, so calling it asks the client and waits.
import type { ToolExecutor } from "./execution.ts";
import * as runtimeMetadata from "./runtime-metadata.ts";
import { requestFromCall } from "./runtime-tool.ts";

/**
 * An executor that answers a call of a client tool with a pending request and leaves every other call to the host's. A
 * client call without an id throws `invalid_runtime_tool_request`: its result could not be matched to it.
 */
export function chatExecutor(hostExecutor: ToolExecutor): ToolExecutor {
  return (call, declaration, context, options) => {
    if (declaration.executor !== "client") return hostExecutor(call, declaration, context, options);
    const { tool_name, parameters } = call;
    const tool_call_id = call.id ?? call.metadata?.tool_call_id;
    const runtime = runtimeMetadata.normalize(declaration.runtime);
    return {
      success: false,
      tool_name,
      error: `Tool '${tool_name}' is run by the client; its result is pending.`,
      status: "runtime_tool_pending",
      runtime_tool_request: requestFromCall({ tool_name, tool_call_id, parameters, context, runtime }),
    };
  };
}
