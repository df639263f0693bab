// providerTurn.retry: the default adapter over scripted attempts; the last one repeats. Nobody really waits.
import * as providerTurn from "../../src/contracts/conversation/provider-turn.ts";
import { errorMessage } from "../../src/contracts/error.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { operationError } from "../../src/contracts/operation-error.ts";
import type { RetryOptions } from "../../src/models/provider-retry.ts";
import { createProviderTurnAdapter, type Dispatch } from "../../src/models/provider-turn-adapter.ts";

export type Script = {
  attempts: readonly { text?: string; throws?: string; code?: number; error?: string; data?: JsonMap }[];
  options?: RetryOptions;
  random?: number;
  emits_delta_on?: number;
  structured_output?: JsonMap;
};

export async function runRetry({ attempts, options, random = 0, emits_delta_on, structured_output }: Script) {
  let attempt = 0;
  const sleeps: number[] = [];
  const retry_events: unknown[] = [];

  const dispatch: Dispatch = async (_call, { onDelta }) => {
    const script = attempts[Math.min(attempt, attempts.length - 1)];
    attempt++;
    if (attempt === emits_delta_on) onDelta?.({ text: "…" });
    if (script?.throws !== undefined) throw Object.assign(new Error(script.throws), { code: script.code });
    if (script?.error !== undefined) return operationError("provider_error", script.error, script.data);
    return { text: script?.text ?? "" };
  };
  const adapter = createProviderTurnAdapter({
    ...options,
    dispatch,
    provider_id: "prov",
    model_id: "model-x",
    random: () => random,
    sleep: async (seconds) => void sleeps.push(seconds),
    onRetry: (retry) => retry_events.push(retry),
  });

  const request = providerTurn.request({ messages: [], ...(structured_output && { structured_output }) });
  const outcome = await adapter(request, { onDelta: () => undefined }).then(
    (value) => ({ value }),
    (thrown) => ({ error: errorMessage(thrown) }),
  );
  return { outcome, attempts: attempt, sleeps, retry_events };
}
