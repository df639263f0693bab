// The MCP server for one caller: operations and agents as tools, threads as resources. It keeps nothing between requests,
// so that it can be made anew for every one of them, in any process.
import { readFileSync } from "node:fs";
import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Holdfast } from "../../holdfast.ts";
import { agentTools, askAgent, askedAgent } from "./agent-tools.ts";
import { callerOf } from "./caller.ts";
import { callOperation, operationsByTool, shownTool } from "./operation-tools.ts";
import { listResources, readResource, resourceTemplates } from "./thread-resources.ts";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const INSTRUCTIONS =
  "Durable agents. ask_<agent> says something to an agent and answers with its reply and the id of the thread; pass that " +
  "id to go on. What waits for a person's approval is decided elsewhere. Threads are resources: holdfast://threads.";

/** What is allowed is decided by the operations; whoever the caller is was found out before. */
export function createMcpServer({ abilities: desk }: Holdfast, principal: Principal): Server {
  const operations = operationsByTool(desk);
  const server = new Server(
    { name: "holdfast", title: "Holdfast", version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );

  server.setRequestHandler("tools/list", async () => ({
    tools: [...[...operations.values()].map(shownTool), ...(await agentTools(desk, principal))],
  }));
  server.setRequestHandler("tools/call", async ({ params }, context): Promise<CallToolResult> => {
    const { name, arguments: input = {} } = params;
    const caller = callerOf(principal, context);
    const operation = operations.get(name);
    if (operation) return await callOperation(desk, operation, input, caller);
    const agent = askedAgent(name);
    if (agent !== undefined) return await askAgent(desk, agent, input, caller);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}".`);
  });
  server.setRequestHandler("resources/list", ({ params }) => listResources(desk, principal, params?.cursor));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler("resources/read", ({ params }) => readResource(desk, principal, params.uri));
  return server;
}
