// What a parked call goes on with: the answer that was submitted for its request, or that none came.
import type { StoredRequest } from "../../backend/request-store.ts";
import type { Outcome } from "../../contracts/outcome.ts";

/** `isGenuine`: the request belongs to exactly this call. What was decided about another call decides nothing here. */
export function broughtFor(request: StoredRequest | undefined, isGenuine: boolean): Outcome {
  if (!request || !isGenuine)
    return { returned: refusal("The request does not belong to this call.", "request_mismatch") };
  if (request.answer !== null) return { returned: JSON.parse(request.answer) };
  return request.kind === "approval"
    ? { returned: { decision: "expired", reason: "Nobody decided in time." } }
    : { returned: refusal("Nobody brought a result in time.", "runtime_tool_timeout") };
}

/** Milliseconds until a time on the database's clock, both in microseconds. */
export function timeLeft(expiresAt: number, now: number): number {
  return Math.max(0, (expiresAt - now) / 1000);
}

/** Reads as a rejection where a decision is waited for, and as a failure where a result is. */
function refusal(error: string, error_type: string) {
  return { decision: "rejected", reason: error, success: false, error, error_type };
}
