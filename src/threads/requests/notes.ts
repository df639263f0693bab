// What the log keeps about approvals: that one was asked, under which terms, and who decided it how.
import type { NewRequest, StoredRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { Decided } from "../../loop/records.ts";

export function requestNote({ id, tool_name, binding, terms, expires_after }: NewRequest): JsonMap {
  return {
    type: "approval_requested",
    metadata: {
      request_id: id,
      tool_name,
      binding,
      policy_version: terms?.policy_version ?? "",
      approvers: terms?.approvers == null ? null : JSON.parse(terms.approvers),
      expires_after_ms: expires_after === null ? null : expires_after / 1000,
    },
  };
}

/** `outcome`: what the decision came to; one that does not count is a rejection with a reason. */
export function decidedIn(request: StoredRequest, outcome: Outcome): Decided {
  const came = "returned" in outcome && isMap(outcome.returned) ? outcome.returned : {};
  return {
    request_id: request.id,
    tool_name: request.tool_name,
    decision: typeof came.decision === "string" ? came.decision : "rejected",
    ...(typeof came.error_type === "string" && { refused: came.error_type }),
    resolver: request.resolver,
    by: request.decided_by === null ? null : JSON.parse(request.decided_by),
    policy_version: request.terms.policy_version,
    ...(came.edited === true && { edited: true }),
    ...(came.remember === true && { remembered: true }),
  };
}

/** The same for readers of the thread, with what ties it to its call. */
export function decisionNote({ binding }: StoredRequest, decided: Decided): JsonMap {
  const { edited = false, remembered = false } = decided;
  return { type: "approval_decided", metadata: { ...decided, edited, remembered, binding } };
}
