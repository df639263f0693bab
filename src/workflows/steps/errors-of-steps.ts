// What is kept of an error of a step: words that are JSON, whatever was returned or thrown, and its wish about another attempt.
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type JsonMap, snapshot, type UnknownMap } from "../../contracts/json.ts";
import type { OperationError } from "../../contracts/operation-error.ts";

/** The error of a step whose handler has refused. It throws where the data of the refusal is no JSON. */
export function errorOfRefusal({ code, message, data }: OperationError): JsonMap {
  const kept = snapshot(data ?? null);
  const { retryable, retry_after }: UnknownMap = isMap(kept) ? kept : {};
  return { code, message, data: kept, ...retryWish(retryable, retry_after) };
}

/** The error of a step whose handler has thrown. It never throws itself, whatever was thrown. */
export function errorOfThrown(thrown: unknown): JsonMap {
  return {
    code: "handler_exception",
    error_type: "handler_exception",
    message: errorMessage(thrown),
    data: { exception: nameOf(thrown) },
    ...wishOf(thrown),
  };
}

function nameOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.name) : typeof thrown;
  } catch {
    return typeof thrown;
  }
}

function wishOf(thrown: unknown): JsonMap {
  try {
    return isMap(thrown) ? retryWish(thrown.retryable, thrown.retryAfter) : {};
  } catch {
    return {};
  }
}

const LONGEST_SECONDS = 24 * 3_600;

/** `retryable: false`, or the seconds to wait for another attempt: a day at most. */
function retryWish(retryable: unknown, after: unknown): JsonMap {
  const isTime = typeof after === "number" && Number.isFinite(after) && after >= 0;
  return {
    ...(typeof retryable === "boolean" && { retryable }),
    ...(isTime && { retry_after: Math.min(after, LONGEST_SECONDS) }),
  };
}
