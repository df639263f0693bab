// From the name of an operation to the function that performs it: the one place where vectors meet our exports. Where
// a vector describes callbacks or steps, scripts/ plays them.
import { channelOperations } from "./operations/channels.ts";
import { conversationOperations } from "./operations/conversation.ts";
import { gatewayOperations } from "./operations/gateway.ts";
import { gatewayAgentOperations } from "./operations/gateway-agent.ts";
import { memoryOperations } from "./operations/memory.ts";
import { runOperations } from "./operations/runs.ts";
import { toolOperations } from "./operations/tools.ts";
import { trustOperations } from "./operations/trust.ts";
import { workflowOperations } from "./operations/workflows.ts";

export const operations = {
  ...conversationOperations,
  ...runOperations,
  ...toolOperations,
  ...trustOperations,
  ...memoryOperations,
  ...channelOperations,
  ...gatewayOperations,
  ...gatewayAgentOperations,
  ...workflowOperations,
};
