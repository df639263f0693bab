// What a tool of ours answers an MCP client with: the same in values and in words, and a refusal as one that a model can
// read and do something about.
import type { CallToolResult } from "@modelcontextprotocol/server";
import { hintOf } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { OperationError } from "../../contracts/operation-error.ts";
import { toldRefusal } from "../problem.ts";

/** `words`: in place of the values as JSON. */
export function toolAnswer(answer: unknown, words?: string): CallToolResult {
  const value: unknown = JSON.parse(JSON.stringify(answer ?? null));
  const text = words ?? JSON.stringify(value, null, 2);
  return {
    content: [{ type: "text", text }],
    ...(isMap(value) && { structuredContent: value }),
  };
}

export function toolRefusal(refusal: OperationError): CallToolResult {
  const { code, message, data } = toldRefusal(refusal);
  const hint = hintOf(code);
  return {
    isError: true,
    content: [{ type: "text", text: `${code}: ${message}${hint === undefined ? "" : `\n${hint}`}` }],
    structuredContent: { code, message, ...(hint !== undefined && { hint }), ...(data && { data }) },
  };
}
