// "Do not ask me again": a decision that also holds for the next call of this tool, by this agent, for this user, here.
import type { RememberedApproval } from "../../backend/approval-memory-store.ts";
import type { StoredRequest } from "../../backend/request-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { ApproverRule } from "../../contracts/trust/approver-rule.ts";
import { withMac } from "../../trust/remembered-mac.ts";
import type { Host } from "../host.ts";
import { subjectOf } from "../subject.ts";
import { asksItself, toolAsked } from "./terms.ts";

/** Throws `invalid_answer` where nobody is known for whom it would be remembered. */
export async function rememberedPolicy(
  host: Host,
  request: StoredRequest,
  decision: unknown,
  decidedBy: string | null,
): Promise<RememberedApproval> {
  const { id, thread_id, tool_name, terms } = request;
  const rule = terms.approvers === null ? {} : (JSON.parse(terms.approvers) as ApproverRule);
  // Whoever sets off the next call would have decided about it, in effect.
  if (rule.other_than_requester && decision === "accepted") {
    throw holdfastError("invalid_answer", `Request "${id}" cannot be remembered: each call takes a second person.`);
  }
  const tool = toolAsked(host, request);
  if (!tool || !asksItself(tool)) {
    const why = "what asks for it is not the tool itself, but the policy of its agent";
    throw holdfastError("invalid_answer", `Request "${id}" cannot be remembered: ${why}.`);
  }
  const agent = host.agents.get(terms.agent);
  const subject = agent && subjectOf(agent, await host.stores.subjects.get(thread_id));
  const { workspace, principal } = subject ?? {};
  if (!workspace || !principal || principal.acting_user_id <= 0) {
    throw holdfastError("invalid_answer", `Request "${id}" cannot be remembered: its thread has no user or workspace.`);
  }
  return withMac(host.sealing.bind, {
    ...workspace,
    user_id: principal.acting_user_id,
    // The one whose next call looks for it: a thread may be handed to another agent than its user came to.
    agent_id: terms.agent,
    tool_name,
    policy: decision === "accepted" ? "direct" : "forbidden",
    policy_version: terms.policy_version,
    request_id: id,
    decided_by: decidedBy,
  });
}
