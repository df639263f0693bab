// Whether a model that failed is asked again, and when: the thread is laid down until then.
import { isTransient, readThrown } from "../models/provider-retry.ts";
import type { Agent } from "./agent.ts";

/** Milliseconds to wait, doubled each time; undefined when asking again would not help, or was tried often enough. */
export function retryAfter(thrown: unknown, times: number, retry: Agent["retry"]): number | undefined {
  const failure = readThrown(thrown);
  if (times + 1 >= retry.attempts || !(isTransient(failure) || isNetworkError(thrown))) return undefined;
  const backoff = Math.min(retry.backoffMs * 2 ** times, retry.mostMs);
  // A provider that says when it is ready again knows better, though not for ever.
  return Math.max(backoff, Math.min((failure.retry_after ?? 0) * 1000, LONGEST_WAIT_MS));
}

/** The words of sockets, name servers and fetch for a connection that did not come about or did not last. */
const NETWORK_CODES =
  /^(ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EAI_AGAIN|UND_ERR_\w+)$/;

/** Clients wrap what the network said, often more than once. */
function isNetworkError(thrown: unknown, depth = 5): boolean {
  if (!(thrown instanceof Error) || depth === 0) return false;
  if ("code" in thrown && typeof thrown.code === "string" && NETWORK_CODES.test(thrown.code)) return true;
  return isNetworkError(thrown.cause, depth - 1);
}

const LONGEST_WAIT_MS = 3_600_000;
