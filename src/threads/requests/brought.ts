// What a parked call goes on with: the answer that was submitted for its request, or that none came. An answer counts
// only if it was given to exactly this call, under the rules that still hold, and through us.
import type { StoredRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { Sealing } from "../secrets/sealing.ts";
import { answerMac, bindingOf, type Proposed } from "./binding.ts";

/** What the call is, and the version of the rules as they are now. */
export type About = { readonly proposed: Proposed; readonly policyVersion: string };

export function broughtFor(sealing: Sealing, request: StoredRequest | undefined, about: About): Outcome {
  if (!request) return { returned: refusal("Nobody knows of the request.", "request_mismatch") };
  const answer: JsonMap = request.answer === null ? {} : snapshotMap(JSON.parse(request.answer));
  const edited = answer.edited === true ? editedParameters(sealing, request) : undefined;
  const proposed = edited ? { ...about.proposed, parameters: edited } : about.proposed;
  if (request.binding !== bindingOf(sealing, request, proposed)) {
    return { returned: refusal("The request does not belong to this call.", "request_mismatch") };
  }
  if (request.answer === null) return { returned: nothingCame(request) };
  // What a child brings is part of the child's own commit, and nobody else can write it.
  if (request.kind !== "child" && request.answer_mac !== answerMac(sealing, request)) {
    return { returned: refusal("The answer was not submitted here.", "request_mismatch") };
  }
  // A no is one under any rules.
  const isYes = request.kind === "approval" && answer.decision !== "rejected";
  if (isYes && request.terms.policy_version !== about.policyVersion) {
    return { returned: refusal(OUTDATED, "approval_outdated") };
  }
  return { returned: edited ? { ...answer, parameters: edited } : answer };
}

const OUTDATED = "The rules under which it was asked have changed; ask again.";

function nothingCame({ kind }: StoredRequest) {
  return kind === "approval"
    ? { decision: "expired", reason: "Nobody decided in time." }
    : refusal("Nobody brought a result in time.", "runtime_tool_timeout");
}

/** What whoever accepted wants the call to run with; it is sealed like what was proposed. */
function editedParameters(sealing: Sealing, { id, sealed }: StoredRequest): JsonMap | undefined {
  if (sealed === null) return undefined;
  const whole = snapshotMap(JSON.parse(sealing.open(sealed, id)));
  const applied = isMap(whole.apply_input) ? whole.apply_input : {};
  return snapshotMap(applied.parameters);
}

/** Milliseconds until a time on the database's clock, both in microseconds. */
export function timeLeft(expiresAt: number, now: number): number {
  return Math.max(0, (expiresAt - now) / 1000);
}

/** Reads as a rejection where a decision is waited for, and as a failure where a result is. */
function refusal(error: string, error_type: string) {
  return { decision: "rejected", reason: error, success: false, error, error_type };
}
