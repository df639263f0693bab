// What a user decided about a tool once and for all, so that nobody asks the same question twice. It is optional: without
// a memory every action that needs approval is asked for.
import type { ActionPolicy } from "../tools/action-policy.ts";
import type { Workspace } from "../workspace.ts";

/** Whose decision about which tool: it holds for this user, agent and workspace together, and for nobody else. */
export type ApprovalKey = {
  readonly workspace: Workspace;
  readonly user_id: number;
  readonly agent_id: string;
  readonly tool_name: string;
};

/** What the action policy asks of a memory. Any answer may be a promise; what is recalled has yet to be checked. */
export interface ApprovalMemory {
  /** The remembered policy, or null; or a map with the `policy` and what the log is to say of who `remembered` it. */
  recall(key: ApprovalKey): unknown;
  /** Remembers a policy in place of an earlier one. */
  remember(key: ApprovalKey, policy: ActionPolicy): unknown;
  forget(key: ApprovalKey): unknown;
}

/** The memory that remembers nothing. */
export const nullApprovalMemory: ApprovalMemory = Object.freeze({
  recall: () => null,
  remember: () => null,
  forget: () => null,
});

/** A memory that lasts as long as the process. */
export function createMemoryApprovalMemory(): ApprovalMemory {
  const policies = new Map<string, ActionPolicy>();
  return {
    recall: (key) => policies.get(nameOf(key)) ?? null,
    remember: (key, policy) => {
      policies.set(nameOf(key), policy);
    },
    forget: (key) => {
      policies.delete(nameOf(key));
    },
  };
}

// As a JSON list, because no separator is safe in ids that may hold any text.
function nameOf({ workspace, user_id, agent_id, tool_name }: ApprovalKey): string {
  return JSON.stringify([workspace.workspace_type, workspace.workspace_id, user_id, agent_id, tool_name]);
}
