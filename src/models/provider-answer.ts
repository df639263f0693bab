// What a model answered, in the shape of a provider turn result.
import { wholeNumber } from "../contracts/coerce.ts";
import { type StructuredOutputRequest, validate } from "../contracts/conversation/structured-output.ts";
import { type Json, type JsonMap, snapshot, type UnknownMap } from "../contracts/json.ts";
import type { ProviderCall } from "./provider-call.ts";

export type ProviderAnswer = {
  readonly text?: string;
  readonly tool_calls?: readonly unknown[];
  readonly usage?: UnknownMap;
};

/** The turn's result; a failure alone when the text is not the structured output that was asked for. */
export function turnResult(answer: ProviderAnswer, call: ProviderCall): UnknownMap {
  const content = typeof answer.text === "string" ? answer.text : "";
  const output = call.structured_output && readOutput(content, call.structured_output);
  if (output?.failure) return Object.freeze(output);
  return Object.freeze({
    content,
    tool_calls: answer.tool_calls ?? [],
    usage: usageOf(answer.usage),
    request_metadata: Object.freeze({ provider_id: call.provider_id, model_id: call.model_id }),
    ...output,
  });
}

type Output =
  | { failure?: never; structured_output: JsonMap }
  | { failure: { type: string; message: string }; provider_diagnostics: JsonMap };

function readOutput(text: string, { schema, strict }: StructuredOutputRequest): Output {
  let parsed: Json;
  try {
    parsed = snapshot(JSON.parse(text));
  } catch {
    return {
      failure: { type: "structured_output_invalid_json", message: "The model's answer is not JSON." },
      provider_diagnostics: { structured_output: { status: "invalid_json" } },
    };
  }
  const code = strict ? validate(schema, parsed) : null;
  if (code === null) return { structured_output: { parsed, diagnostics: { status: "parsed" } } };
  return {
    failure: {
      type: "structured_output_schema_mismatch",
      message: `The model's answer does not match the schema: ${code}.`,
    },
    provider_diagnostics: { structured_output: { status: "schema_mismatch", code } },
  };
}

function usageOf(usage: UnknownMap | undefined): JsonMap {
  const prompt = wholeNumber(usage?.prompt_tokens, 0) ?? 0;
  const completion = wholeNumber(usage?.completion_tokens, 0) ?? 0;
  const total = wholeNumber(usage?.total_tokens, 0) ?? prompt + completion;
  return Object.freeze({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total });
}
