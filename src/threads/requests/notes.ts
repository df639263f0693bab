// What the record log keeps about approvals: that one was asked, under which terms, and who decided it how.
import type { NewRequest, StoredRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";

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
export function decisionNote(request: StoredRequest, outcome: Outcome): JsonMap {
  const came = "returned" in outcome && isMap(outcome.returned) ? outcome.returned : {};
  return {
    type: "approval_decided",
    metadata: {
      request_id: request.id,
      tool_name: request.tool_name,
      decision: typeof came.decision === "string" ? came.decision : "rejected",
      ...(typeof came.error_type === "string" && { refused: came.error_type }),
      resolver: request.resolver,
      by: request.decided_by === null ? null : JSON.parse(request.decided_by),
      edited: came.edited === true,
      binding: request.binding,
      policy_version: request.terms.policy_version,
    },
  };
}
