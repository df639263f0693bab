// What an MCP server answered a call with, as the result of a tool. It was written by somebody else: none of it is taken
// for more than words and values, and there is an end to it.
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { isMap, type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import { inWords } from "../schemas/in-words.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { DeclaredTool } from "./declared-tool.ts";
import { remoteProblems } from "./remote-schema.ts";

/** The result of a tool in the form in which nothing in it means anything to the run. */
export type RemoteResult =
  | { readonly success: true; readonly tool_name: string; readonly result: Json }
  | {
      readonly success: false;
      readonly tool_name: string;
      readonly error: string;
      readonly metadata: { readonly error_type: string };
    };

export type ResultOptions = {
  /** The name under which the tool is declared here. */
  readonly toolName: string;
  readonly declared: DeclaredTool;
  readonly secrets: KnownSecrets;
  readonly maxOutputCharacters: number;
};

export function remoteResult(answer: CallToolResult, options: ResultOptions): RemoteResult {
  const { toolName, declared, secrets, maxOutputCharacters: most } = options;
  const text = capped(secrets.clean(answer.content.map(inText).join("\n")), most);
  if (answer.isError) {
    const error = text === "" ? "The tool failed without saying why." : text;
    return failed(toolName, error, { error_type: "mcp_tool_error" });
  }
  const problem = outputProblem(answer, declared);
  if (problem !== undefined) {
    const error = `'${toolName}' ran, but what it returned is not valid: ${problem}`;
    return failed(toolName, error, { error_type: "invalid_result" });
  }
  return { success: true, tool_name: toolName, result: withStructure(answer, text, options) };
}

export function failed(
  toolName: string,
  error: string,
  metadata: { readonly error_type: string },
): Extract<RemoteResult, { success: false }> {
  return { success: false, tool_name: toolName, error, metadata };
}

/** Values stand one level down, so that none of them is taken for a request to the run itself. */
function withStructure({ structuredContent }: CallToolResult, text: string, options: ResultOptions): Json {
  if (structuredContent === undefined) return text;
  const values = hideSecrets(snapshot(structuredContent), options.secrets);
  const written = JSON.stringify(values);
  if (written.length > options.maxOutputCharacters)
    return text === "" ? capped(written, options.maxOutputCharacters) : text;
  // Most servers say the same again in words.
  const isSame = text === "" || isSameJson(text, values);
  return { ...(!isSame && { text }), structured_content: values };
}

function isSameJson(text: string, values: Json): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(values);
  } catch {
    return false;
  }
}

function outputProblem({ structuredContent }: CallToolResult, { outputSchema }: DeclaredTool): string | undefined {
  if (!outputSchema) return undefined;
  if (structuredContent === undefined) return "it must have structured content";
  const problems = remoteProblems(outputSchema, structuredContent);
  return problems.length === 0 ? undefined : inWords(problems);
}

function capped(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not in the middle of a character.
  const end = /[\uD800-\uDBFF]/.test(text[most - 1] ?? "") ? most - 1 : most;
  return `${text.slice(0, end)}\n[cut: ${end} of ${text.length} characters]`;
}

/** What is neither text nor a link is named: models are given words. */
function inText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[${block.resource.uri}, not text]`;
    case "image":
    case "audio":
      return `[${block.type} of type ${block.mimeType}, not shown]`;
    default:
      return `[${isMap(block) ? String((block as JsonMap).type) : "something"}, not shown]`;
  }
}
