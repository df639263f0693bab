// Whether a failed request to a provider is worth another try, and how long to wait before it.
import { numeric } from "../contracts/coerce.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { OperationError } from "../contracts/operation-error.ts";

/** How often and how patiently to try; delays are in seconds. A value that makes no sense leaves the default. */
export type RetryOptions = {
  readonly retry_max_attempts?: number;
  readonly retry_base_delay?: number;
  readonly retry_max_delay?: number;
};

export type RetryPolicy = {
  readonly max_attempts: number;
  readonly base_delay_seconds: number;
  readonly max_delay_seconds: number;
};

/** Five attempts, from 2 seconds up to a minute apart, unless the options say otherwise. */
export function retryPolicy(options: RetryOptions): RetryPolicy {
  const attempts = Math.trunc(numeric(options.retry_max_attempts) ?? 0);
  const base = numeric(options.retry_base_delay) ?? -1;
  const max = numeric(options.retry_max_delay) ?? 0;
  return {
    max_attempts: attempts >= 1 ? attempts : 5,
    base_delay_seconds: base >= 0 ? base : 2,
    max_delay_seconds: max > 0 ? max : 60,
  };
}

/** What a failure says about itself: the HTTP status and the wait the provider asks for, where it has them. */
export type ProviderFailure = {
  readonly status: number | null;
  readonly retry_after: number | null;
  readonly message: string;
};

/** Reads what a provider client threw; clients put the status under different names. */
export function readThrown(thrown: unknown): ProviderFailure {
  const error = isMap(thrown) ? thrown : {};
  const data = isMap(error.data) ? error.data : {};
  const status = [error.code, error.status, error.statusCode, data.status]
    .map(numeric)
    .find((one) => one !== undefined && one >= 100 && one <= 599);
  return { status: status ?? null, retry_after: positive(data.retry_after), message: errorMessage(thrown) };
}

/** Reads an error that was returned instead of thrown. */
export function readError({ message, data }: OperationError): ProviderFailure {
  return { status: numeric(data?.status) ?? null, retry_after: positive(data?.retry_after), message };
}

/** True when the same request may well succeed later: too many requests, or trouble on the provider's side. */
export function isTransient({ status }: ProviderFailure): boolean {
  return status === 429 || (status !== null && status >= 500 && status <= 599);
}

/**
 * Seconds to wait after a failed attempt, counted from 1: what the provider asked for, or else twice as long each time
 * plus a random share of that (0 to 1), so that clients which failed together do not return together.
 */
export function delayAfter(
  attempt: number,
  { retry_after }: ProviderFailure,
  policy: RetryPolicy,
  random: number,
): number {
  const { base_delay_seconds: base, max_delay_seconds: max } = policy;
  if (retry_after !== null) return Math.min(retry_after, max);
  // The exponent is held back because zero times infinity is not a delay.
  const floor = Math.min(base * 2 ** Math.min(attempt - 1, 100), max);
  return Math.min(floor + floor * Math.min(Math.max(random, 0), 1), max);
}

function positive(value: unknown): number | null {
  const number = numeric(value) ?? 0;
  return number > 0 ? number : null;
}
