// What a client of OpenAI asks for. The agent was declared here, with its model, its instructions and its tools: a request
// that wants to decide about those is refused, because taking no notice of it would look like obedience.
import { z } from "zod";
import type { UnknownMap } from "../../contracts/json.ts";
import { invalidInput } from "../chat/refused.ts";

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional();

const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content,
  tool_call_id: z.string().optional(),
});

const completionRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  n: z.number().nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
});

export type CompletionMessage = z.output<typeof message>;
export type CompletionRequest = z.output<typeof completionRequest>;

/** Throws `Refused`. */
export function readCompletionRequest(body: UnknownMap): CompletionRequest {
  const read = completionRequest.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const param = issue?.path.map(String).join(".") ?? "";
    throw invalidInput(`${param || "The body"}: ${issue?.message ?? "cannot be read"}`, param);
  }
  const { n, response_format } = read.data;
  if ((n ?? 1) !== 1) throw invalidInput("An agent gives one answer.", "n");
  if (response_format && response_format.type !== "text") {
    throw invalidInput("What an agent answers with is declared with the agent.", "response_format");
  }
  for (const field of ["functions", "function_call", "audio", "logprobs"]) {
    if (body[field] != null && body[field] !== false) throw invalidInput(`Agents take no ${field}.`, field);
  }
  return read.data;
}

/**
 * Tools run where they were declared, and whoever sends a request is nobody who declares any. Those that the client runs
 * for this agent may be named, because its library wants them named. `known`: the tools of the agent.
 */
export function checkTools({ tools }: CompletionRequest, known: Iterable<string>): void {
  const offered = new Set(
    [...known].filter((name) => name.startsWith("client/")).flatMap((name) => [name, wireName(name)]),
  );
  for (const [index, { function: declared }] of (tools ?? []).entries()) {
    if (declared && offered.has(declared.name)) continue;
    const name = declared?.name ?? "";
    throw invalidInput(
      `The agent has no tool "${name}" that a client runs; tools are declared with the agent.`,
      `tools.${index}`,
    );
  }
}

/** The name of a client's tool as it fits the names of functions. */
export function wireName(toolName: string): string {
  return toolName.replace(/^client\//, "");
}

/** The words of a message; what is neither words nor nothing is refused. */
export function wordsOf({ content: said }: CompletionMessage, index: number): string {
  if (typeof said === "string") return said;
  const words = (said ?? []).map((part) => {
    if (part.type === "text" && typeof part.text === "string") return part.text;
    throw invalidInput("Only words are taken here; files go to the thread.", `messages.${index}.content`);
  });
  return words.join("\n");
}
