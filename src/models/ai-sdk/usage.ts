// What an answer cost in tokens, as the loop counts them.
import type { LanguageModelV3Usage, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { JsonMap } from "../../contracts/json.ts";

/** Undefined when the provider has not counted. */
export function usageOf(usage: LanguageModelV3Usage | LanguageModelV4Usage | undefined): JsonMap | undefined {
  const { inputTokens, outputTokens } = usage ?? {};
  const prompt = inputTokens?.total;
  const completion = outputTokens?.total;
  if (!isCount(prompt) && !isCount(completion)) return undefined;
  const prompt_tokens = isCount(prompt) ? prompt : 0;
  const completion_tokens = isCount(completion) ? completion : 0;
  const cached = inputTokens?.cacheRead;
  const reasoning = outputTokens?.reasoning;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(isCount(cached) && { cached_tokens: cached }),
    ...(isCount(reasoning) && { reasoning_tokens: reasoning }),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
