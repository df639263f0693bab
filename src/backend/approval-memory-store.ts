// What people decided about a tool once and for all: how it may run for one user of one agent in one workspace.
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";

/** Whose decision about which tool. */
export type RememberedKey = {
  readonly workspace_type: string;
  readonly workspace_id: string;
  readonly user_id: number;
  readonly agent_id: string;
  readonly tool_name: string;
};

export type RememberedApproval = RememberedKey & {
  readonly policy: ActionPolicy;
  /** The rules under which it was decided: a yes under others is none. Null where a program remembered it. */
  readonly policy_version: string | null;
  /** The request that was decided, where one was. */
  readonly request_id: string | null;
  /** JSON of what may be shown of whoever decided. */
  readonly decided_by: string | null;
  /** Made over the rest by whoever remembers it: what was written past us does not have it. */
  readonly mac: string;
};

export type StoredApproval = RememberedApproval & { readonly created_at: number };

export interface ApprovalMemoryStore {
  recall(key: RememberedKey): Promise<StoredApproval | undefined>;
  /** In place of what was remembered before. */
  remember(approval: RememberedApproval): Promise<void>;
  /** False when nothing was remembered. */
  forget(key: RememberedKey): Promise<boolean>;
  /** Those that match every field that is given, the latest first. */
  list(filter: Partial<RememberedKey>): Promise<readonly StoredApproval[]>;
}
