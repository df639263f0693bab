// An answer as Anthropic's messages stream it.
import { inHalves, inWords, type Reply } from "./provider-server-reply.ts";

type Block = { readonly start: object; readonly deltas: readonly object[] };

export function anthropicEvents(reply: Reply): readonly string[] {
  const { calls = [], usage, finish } = reply;
  const { input, output, cached = 0 } = usage ?? { input: 0, output: 0 };
  const counted = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "test-model", content: [] };
  const reason = finish ?? (calls.length > 0 ? "tool_use" : "end_turn");
  return [
    event({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage: counted } }),
    event({ type: "ping" }),
    ...blocksOf(reply).flatMap(({ start, deltas }, index) => [
      event({ type: "content_block_start", index, content_block: start }),
      ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
      event({ type: "content_block_stop", index }),
    ]),
    event({
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: output },
    }),
    event({ type: "message_stop" }),
  ];
}

export function anthropicError(type: string, message: string) {
  return { type: "error", error: { type, message } };
}

function blocksOf({ reasoning, text, calls = [] }: Reply): Block[] {
  return [
    ...(reasoning ? [thinkingBlock(reasoning)] : []),
    ...(text ? [textBlock(text)] : []),
    ...calls.map(({ id, name, input }, index) => ({
      start: { type: "tool_use", id: id ?? `toolu_${index + 1}`, name, input: {} },
      deltas: inHalves(input).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    })),
  ];
}

function thinkingBlock(reasoning: string): Block {
  const deltas = inWords(reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
  const signature = { type: "signature_delta", signature: "signed-by-the-provider" };
  return { start: { type: "thinking", thinking: "", signature: "" }, deltas: [...deltas, signature] };
}

function textBlock(text: string): Block {
  return {
    start: { type: "text", text: "" },
    deltas: inWords(text).map((each) => ({ type: "text_delta", text: each })),
  };
}

function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
