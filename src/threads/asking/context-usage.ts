// How much of a model's context the thread takes up, kept as a value of the thread: for code that acts before it is full.
import type { Write } from "../../backend/write.ts";
import { isMap } from "../../contracts/json.ts";
import type { HeldThread } from "../held-thread.ts";
import type { ThreadRun } from "../thread-run.ts";

/** Under this key; it is written with the answer that it is about. */
const KEY = "context_usage";

/** Nothing where a provider has not counted, and for what a prompt is shown that speaks for a call. */
export function contextUsage({ attempted, cast, models }: ThreadRun, held: HeldThread, now: number): readonly Write[] {
  const usage = attempted?.usage;
  if (cast.agent.style !== "standard" || (held.state?.frames ?? []).length > 0) return [];
  if (!isMap(usage) || typeof usage.prompt_tokens !== "number") return [];
  const { capabilities } = models.find(({ name }) => name === attempted?.model) ?? {};
  const value = {
    inputTokens: usage.prompt_tokens,
    totalTokens: typeof usage.total_tokens === "number" ? usage.total_tokens : null,
    maxContextTokens: capabilities?.maxContextTokens ?? null,
    model: attempted?.model ?? null,
    at: now,
  };
  return [{ write: "value", thread_id: held.id, key: KEY, value: JSON.stringify(value) }];
}
