// What shows that a remembered decision was written by us: made with the installation's key over all of it, since a row of
// this table lets a call run unasked.
import type { RememberedApproval, StoredApproval } from "../backend/approval-memory-store.ts";
import type { Json } from "../contracts/json.ts";

/** The same letters for the same value about the same thing; nobody without the installation's key can make them. */
export type Bind = (value: Json, about: string) => string;

export function withMac(bind: Bind, decision: Omit<RememberedApproval, "mac">): RememberedApproval {
  return { ...decision, mac: macOf(bind, decision) };
}

/** False for what was written past us: it counts for nothing. */
export function isGenuine(bind: Bind, stored: StoredApproval): boolean {
  return stored.mac === macOf(bind, stored);
}

function macOf(bind: Bind, decision: Omit<RememberedApproval, "mac">): string {
  const { workspace_type, workspace_id, user_id, agent_id, tool_name } = decision;
  const { policy, policy_version, request_id, decided_by } = decision;
  const key = [workspace_type, workspace_id, user_id, agent_id, tool_name];
  return bind([key, policy, policy_version, request_id, decided_by], "remembered decision");
}
