// The default way from a provider turn request to a model and back: sends it, and tries again when that makes sense.
// How a request is sent, how long a wait takes and what is random are passed in.
import { setTimeout } from "node:timers/promises";
import { numeric } from "../contracts/coerce.ts";
import type { ProviderTurnRequest } from "../contracts/conversation/provider-turn.ts";
import { holdfastError } from "../contracts/error.ts";
import type { Hooks } from "../contracts/hooks.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError } from "../contracts/operation-error.ts";
import { quietly } from "../contracts/when-ready.ts";
import { type ProviderAnswer, turnResult } from "./provider-answer.ts";
import { type ProviderCall, type ProviderDefaults, providerCall } from "./provider-call.ts";
import {
  delayAfter,
  isTransient,
  type ProviderFailure,
  type RetryOptions,
  readError,
  readThrown,
  retryPolicy,
} from "./provider-retry.ts";

const wait = (seconds: number, signal?: AbortSignal) => setTimeout(seconds * 1000, undefined, signal && { signal });

type Delta = (delta: unknown) => void;

/** Sends one request. `signal` fires when the caller aborts or the time is up; `onDelta` is there if streaming is wanted. */
export type Dispatch = (
  call: ProviderCall,
  options: { readonly signal: AbortSignal; readonly onDelta?: Delta },
) => Promise<ProviderAnswer | OperationError>;

/** Told before each wait. */
type ProviderTurnRetry = {
  readonly provider_id: string;
  readonly model_id: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly delay_seconds: number;
  readonly status: number | null;
  readonly retry_after: number | null;
  readonly message: string;
};

export type ProviderTurnAdapterOptions = RetryOptions &
  ProviderDefaults & {
    readonly dispatch: Dispatch;
    /** Seconds that one attempt may take; 600 by default. */
    readonly request_timeout?: number;
    readonly sleep?: (seconds: number, signal?: AbortSignal) => Promise<unknown>;
    /** A number from 0 to 1. */
    readonly random?: () => number;
    readonly onRetry?: (retry: ProviderTurnRetry) => void;
    /** Told of retries as `providerTurnRetried`. */
    readonly hooks?: Hooks;
  };

/** What the adapter may be told beside the request. */
type TurnOptions = { readonly onDelta?: Delta; readonly signal?: AbortSignal };

/**
 * An adapter that answers with `content`, `tool_calls`, `usage` and `request_metadata`, or with a `failure` when the
 * text is not the structured output that was asked for. Transient errors are tried again as long as nothing was
 * streamed; what the last attempt threw is thrown on unchanged, and an error it returned as `provider_turn_failed`.
 */
export function createProviderTurnAdapter(
  options: ProviderTurnAdapterOptions,
): (request: ProviderTurnRequest, options?: TurnOptions) => Promise<UnknownMap> {
  const { sleep = wait, random = Math.random, hooks } = options;
  const policy = retryPolicy(options);
  const timeout = timeoutMilliseconds(options.request_timeout);

  return async (request, { onDelta, signal } = {}) => {
    const call = providerCall(request, options);
    let hasStreamed = false;
    const sink: Delta | undefined =
      onDelta &&
      ((delta) => {
        hasStreamed = true;
        quietly(() => onDelta(delta));
      });

    for (let attempt = 1; ; attempt++) {
      if (signal?.aborted) throw aborted(signal);
      const { answer, failure, error } = await send(options.dispatch, call, attemptSignal(timeout, signal), sink);
      if (answer) return turnResult(answer, call);
      if (hasStreamed || attempt >= policy.max_attempts || !isTransient(failure)) throw error;
      const delay = delayAfter(attempt, failure, policy, random());
      const notice = retryNotice(call, failure, attempt, policy.max_attempts, delay);
      quietly(() => options.onRetry?.(notice));
      hooks?.emit("providerTurnRetried", notice);
      if (delay > 0) await sleep(delay, signal);
    }
  };
}

type Sent =
  | { answer: ProviderAnswer; failure?: never; error?: never }
  | { answer?: never; failure: ProviderFailure; error: unknown };

async function send(dispatch: Dispatch, call: ProviderCall, signal: AbortSignal, onDelta?: Delta): Promise<Sent> {
  try {
    const answer = await dispatch(call, onDelta === undefined ? { signal } : { signal, onDelta });
    if (isOperationError(answer)) {
      const error = holdfastError("provider_turn_failed", answer.message, answer);
      return { failure: readError(answer), error };
    }
    if (isMap(answer)) return { answer };
    throw holdfastError("provider_turn_failed", "The provider's answer is not a map.");
  } catch (thrown) {
    return { failure: readThrown(thrown), error: thrown };
  }
}

function retryNotice(
  { provider_id, model_id }: ProviderCall,
  { status, retry_after, message }: ProviderFailure,
  attempt: number,
  maxAttempts: number,
  delaySeconds: number,
): ProviderTurnRetry {
  return Object.freeze({
    provider_id,
    model_id,
    attempt,
    max_attempts: maxAttempts,
    delay_seconds: delaySeconds,
    status,
    retry_after,
    message,
  });
}

// A longer timer would overflow and fire at once.
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

function timeoutMilliseconds(seconds: unknown): number {
  const given = numeric(seconds) ?? 0;
  return Math.min(Math.ceil((given > 0 ? given : 600) * 1000), LONGEST_TIMER_MILLISECONDS);
}

function attemptSignal(timeout: number, signal: AbortSignal | undefined): AbortSignal {
  const timer = AbortSignal.timeout(timeout);
  return signal === undefined ? timer : AbortSignal.any([signal, timer]);
}

function aborted(signal: AbortSignal) {
  return holdfastError("aborted", "The turn was aborted before the provider was asked.", signal.reason);
}
