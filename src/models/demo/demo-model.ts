// A model without a network, a key or chance: it picks tools by the words of the request and says so. It is there to
// try a program before a real model is named, and it never pretends to be one.
import type { Message } from "../../contracts/conversation/message.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import type { Model, ModelAnswer, ModelOptions } from "../model.ts";
import { describeResults } from "./describe-results.ts";
import { fillOutput } from "./fill-output.ts";
import { pickTool } from "./pick-tool.ts";
import { contentOf, readTurn } from "./read-turn.ts";
import { askFor, introduce, summarise } from "./words.ts";

type Said = { readonly content: string; readonly call?: { readonly name: string; readonly parameters: JsonMap } };

/** The same answer to the same messages, always. Words come word by word where somebody listens. */
export const demoModel: Model = (messages, _context, options): ModelAnswer => {
  options.signal?.throwIfAborted();
  const { content: whole, call } = answerTo(messages, options);
  const content = withinLimit(whole, options.maxOutputTokens);
  for (const text of content.match(/^\s*\S+\s*|\S+\s*/g) ?? []) options.onDelta?.({ type: "text", text });
  const id = `call-${(options.step ?? messages.length) + 1}-1`;
  const input = call ? JSON.stringify(call.parameters) : "";
  if (call) options.onDelta?.({ type: "tool_input", id, name: call.name, text: input });
  const finish_reason = call ? "tool_calls" : content === whole ? "stop" : "length";
  return {
    content,
    tool_calls: call ? [{ id, ...call }] : [],
    usage: usageOf(messages, options, content + input),
    request_metadata: { provider_id: "demo", model_id: "demo", finish_reason },
  };
};

function answerTo(messages: readonly Message[], { tools, output }: ModelOptions): Said {
  const { wish, results } = readTurn(messages);
  if (results.length === 0) {
    const picked = pickTool(wish, tools);
    if (picked?.missing.length === 0) {
      return { content: "", call: { name: picked.tool.name, parameters: picked.parameters } };
    }
    if (picked && !output) return { content: askFor(picked.tool, picked.missing) };
  }
  if (output) return { content: JSON.stringify(fillOutput(output.schema, wish, results.map(resultOf))) };
  if (results.length > 0) return { content: describeResults(results) };
  return { content: asksForSummary(wish) ? summarise(beginnings(messages)) : introduce(tools) };
}

function resultOf({ payload }: Message): Json {
  return payload.result ?? null;
}

/** Compaction asks every model for this, and what it gets takes the place of the messages. */
function asksForSummary(wish: string): boolean {
  return /\bsummar(?:y|i[sz]e)\b/i.test(wish);
}

const MOST_LINES = 30;
const LONGEST_LINE = 200;

/** The last messages before the request, in a line each. */
function beginnings(messages: readonly Message[]): readonly string[] {
  const spoken = messages
    .slice(0, -1)
    .map((message) => ({ message, words: contentOf(message).replace(/\s+/g, " ").trim() }));
  return spoken
    .filter(({ words }) => words !== "")
    .slice(-MOST_LINES)
    .map(
      ({ message: { role, type }, words }) =>
        `${type === "tool_result" ? "tool" : role}: ${words.slice(0, LONGEST_LINE)}`,
    );
}

/** Nobody counts tokens here; four characters a token is what texts in English come to. */
const CHARACTERS_PER_TOKEN = 4;

function usageOf(messages: readonly Message[], { tools, instructions = "" }: ModelOptions, said: string): JsonMap {
  const asked = messages.reduce(
    (sum, { content, payload }) => sum + lengthOf(content) + lengthOf(payload.parameters ?? ""),
    0,
  );
  const prompt_tokens = tokensIn(asked + instructions.length + lengthOf(tools));
  const completion_tokens = tokensIn(said.length);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function withinLimit(content: string, maxOutputTokens: number | undefined): string {
  return maxOutputTokens === undefined ? content : content.slice(0, maxOutputTokens * CHARACTERS_PER_TOKEN);
}
