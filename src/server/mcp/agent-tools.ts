// The agents that a caller may use, as tools: one for each, which says something to it and answers with what it replied or
// what it waits for. Nothing is decided here that waits for a person.
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ASK_AGENT, type AskAnswer, type AskEvent, askAnswer, askInput } from "../../abilities/ask-agent.ts";
import type { Desk } from "../../abilities/desk.ts";
import { isMap } from "../../contracts/json.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { McpCaller } from "./caller.ts";
import { toolAnswer, toolRefusal } from "./tool-answer.ts";

const PREFIX = "ask_";

const inputSchema = z.toJSONSchema(askInput, { io: "input" }) as Tool["inputSchema"];
const outputSchema = z.toJSONSchema(askAnswer) as NonNullable<Tool["outputSchema"]>;

/** The slug of the agent that a tool asks. */
export function askedAgent(toolName: string): string | undefined {
  return toolName.startsWith(PREFIX) ? toolName.slice(PREFIX.length) : undefined;
}

export async function agentTools(desk: Desk, principal: Principal): Promise<readonly Tool[]> {
  const answer = await desk.call("holdfast/list-agents", {}, { principal, door: "mcp" });
  // Whoever may not even list them has none.
  if (isOperationError(answer) || !isMap(answer)) return [];
  const { agents } = answer as { agents: readonly { slug: string; title: string; description: string }[] };
  return agents.map(({ slug, title, description }) => ({
    name: `${PREFIX}${slug}`,
    title: `Ask ${title}`,
    description: `Says something to the agent "${title}" and answers with its reply.${description && ` ${description}`}`,
    inputSchema,
    outputSchema,
    annotations: { title: `Ask ${title}`, readOnlyHint: false, idempotentHint: false, openWorldHint: true },
  }));
}

export async function askAgent(
  desk: Desk,
  agent: string,
  input: Readonly<Record<string, unknown>>,
  caller: McpCaller,
): Promise<CallToolResult> {
  const { principal, key, signal } = caller;
  const called = { principal, door: "mcp", signal, ...(key !== undefined && { key }) } as const;
  const answer = await desk.call(ASK_AGENT, { ...input, agent }, called);
  if (isOperationError(answer)) return toolRefusal(answer);
  for await (const event of answer as AsyncIterable<AskEvent>) {
    switch (event.type) {
      case "began":
        caller.progress(`Thread ${event.thread_id} began.`);
        break;
      case "said":
        caller.progress(event.text);
        break;
      case "tool":
        caller.progress(`Tool call ${event.call} began.`);
        break;
      case "answered":
        return toolAnswer(event.answer, inWords(event.answer));
      case "refused":
        return toolRefusal(event.refusal);
      default:
        event satisfies never;
    }
  }
  return toolRefusal({ code: "aborted", message: "The wait was given up; the thread goes on." });
}

function inWords(answer: AskAnswer): string {
  const { thread_id, status, reply, waiting_for } = answer;
  const said = reply === "" ? [] : [reply];
  if (!waiting_for) return [...said, `(thread ${thread_id}, ${status})`].join("\n\n");
  const { kind, request_id } = waiting_for;
  const what =
    kind === "approval"
      ? `A person has to decide first (request ${request_id}). That cannot be done through MCP: it takes the approvals of the HTTP API or of the command line.`
      : `It waits for somebody to answer the request ${request_id}.`;
  return [...said, `${what} Nothing has been done that waits for this; read thread ${thread_id} later.`].join("\n\n");
}
