// Whether a model that failed is asked again, which one instead, and when: the thread is laid down until then.
import { ModelFailure } from "../../models/model-failure.ts";
import { isNetworkError } from "../../models/network-error.ts";
import { isTransient, readThrown } from "../../models/provider-retry.ts";
import type { Agent } from "../agent.ts";

/** Milliseconds to wait, and the number of the model to ask then. */
export type NextAttempt = { readonly after: number; readonly model: number };

/** How often the model was put off that was asked last, its number, and how many models there are. */
export type Position = { readonly times: number; readonly model: number; readonly models: number };

/** Undefined when asking again would not help, or was tried often enough. */
export function nextAttempt(thrown: unknown, position: Position, retry: Agent["retry"]): NextAttempt | undefined {
  const { times, model, models } = position;
  const takesOver = model + 1 < models ? { after: 0, model: model + 1 } : undefined;
  const failure = read(thrown);
  // A stream that hangs is likely to hang again.
  if (failure.kind === "hopeless" || (failure.kind === "stalled" && takesOver)) return takesOver;
  if (times + 1 >= retry.attempts) return takesOver;
  const backoff = Math.min(retry.backoffMs * 2 ** times, retry.mostMs);
  // A provider that says when it is ready again knows better, though not for ever.
  return { after: Math.max(backoff, Math.min((failure.retryAfter ?? 0) * 1000, LONGEST_WAIT_MS)), model };
}

type Failure = { readonly kind: "passing" | "stalled" | "hopeless"; readonly retryAfter: number | null };

function read(thrown: unknown): Failure {
  if (thrown instanceof ModelFailure) {
    const { code, retryAfter } = thrown;
    const kind = code === "model_refused" ? "hopeless" : code === "model_stalled" ? "stalled" : "passing";
    return { kind, retryAfter };
  }
  const failure = readThrown(thrown);
  const isPassing = isTransient(failure) || isNetworkError(thrown);
  return { kind: isPassing ? "passing" : "hopeless", retryAfter: failure.retry_after };
}

const LONGEST_WAIT_MS = 3_600_000;
