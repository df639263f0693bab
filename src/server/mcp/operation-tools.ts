// The operations that are offered to MCP clients, as tools: their schemas and annotations are the operations' own.
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { Desk } from "../../abilities/desk.ts";
import type { Operation } from "../../abilities/operation.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import type { McpCaller } from "./caller.ts";
import { toolAnswer, toolRefusal } from "./tool-answer.ts";

/** By the names that MCP clients accept: `holdfast/list-threads` is `holdfast_list_threads`. */
export function operationsByTool(desk: Desk): ReadonlyMap<string, Operation> {
  // What is answered in pieces is no answer to a call.
  const offered = desk.list("mcp").filter(({ output }) => output.type !== "custom");
  return new Map(offered.map((operation) => [toolName(operation.name), operation]));
}

export function shownTool(operation: Operation): Tool {
  const { name, title, description, effect, annotations, inputSchema, outputSchema } = operation;
  return {
    name: toolName(name),
    title,
    ...(description !== undefined && { description }),
    inputSchema: inputSchema as Tool["inputSchema"],
    // Clients of the older protocol know maps only.
    ...(outputSchema?.type === "object" && { outputSchema: outputSchema as NonNullable<Tool["outputSchema"]> }),
    annotations: {
      title,
      readOnlyHint: effect === "read",
      destructiveHint: effect === "destroy",
      idempotentHint: annotations?.idempotent === true,
      openWorldHint: false,
    },
  };
}

export async function callOperation(
  desk: Desk,
  operation: Operation,
  input: unknown,
  { principal, key, signal }: McpCaller,
): Promise<CallToolResult> {
  // A read takes no key: there is nothing to repeat.
  const keyed = key !== undefined && operation.effect !== "read" ? { key } : {};
  const answer = await desk.call(operation.name, input, { principal, door: "mcp", signal, ...keyed });
  return isOperationError(answer) ? toolRefusal(answer) : toolAnswer(answer);
}

function toolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]+/g, "_");
}
