// An answer as OpenAI's chat completions stream it.
import { inHalves, inWords, type Reply } from "./provider-server-reply.ts";

export function openaiEvents({ reasoning, text, calls = [], usage, finish }: Reply): readonly string[] {
  const deltas = [
    { role: "assistant", content: "" },
    ...inWords(reasoning).map((reasoning_content) => ({ reasoning_content })),
    ...inWords(text).map((content) => ({ content })),
    ...calls.flatMap(({ id, name, input }, index) => [
      { tool_calls: [{ index, id: id ?? `call_${index + 1}`, type: "function", function: { name, arguments: "" } }] },
      ...inHalves(input).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
  const reason = finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  return [
    ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
    ...(usage ? [chunk({ choices: [], usage: counted(usage) })] : []),
    "data: [DONE]\n\n",
  ];
}

export function openaiError(type: string, message: string) {
  return { error: { message, type, param: null, code: null } };
}

function chunk(fields: object): string {
  const about = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "test-model" };
  return `data: ${JSON.stringify({ ...about, ...fields })}\n\n`;
}

function counted({ input, output, cached }: NonNullable<Reply["usage"]>) {
  const details = cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...details };
}
