// The approval memory in the database: what was decided once and for all is known to every process, can be listed, and is
// forgotten at a word.
import type { ApprovalMemoryStore, RememberedKey, StoredApproval } from "../backend/approval-memory-store.ts";
import type { JsonMap } from "../contracts/json.ts";
import { isIndexable, isStorable } from "../contracts/storable-name.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import type { ApprovalKey, ApprovalMemory } from "../contracts/trust/approval-memory.ts";
import { readFields } from "../contracts/trust/record-fields.ts";
import type { Workspace } from "../contracts/workspace.ts";
import { invalidArgument, readNumber, readOptions, readText } from "./check-input.ts";
import { type Bind, isGenuine, withMac } from "./remembered-mac.ts";

/** One remembered decision, with who made it and for which request, where that is known. */
export type RememberedDecision = ApprovalKey & {
  readonly policy: ActionPolicy;
  /** The rules under which it was decided, and with which it ends; null where a program remembered it. */
  readonly policy_version: string | null;
  readonly request_id: string | null;
  /** The safe part of the principal who decided. */
  readonly decided_by: JsonMap | null;
  readonly created_at: string;
};

/** Which decisions to list: those that match every field that is given. */
export type RememberedFilter = Partial<ApprovalKey>;

export interface StoredApprovalMemory extends ApprovalMemory {
  recall(key: ApprovalKey): Promise<ActionPolicy | null>;
  remember(key: ApprovalKey, policy: ActionPolicy): Promise<void>;
  /** From the next call on the tool is asked about again; false when nothing was remembered. */
  forget(key: ApprovalKey): Promise<boolean>;
  /** The latest first. */
  list(filter?: RememberedFilter): Promise<readonly RememberedDecision[]>;
}

export function createApprovalMemory(store: ApprovalMemoryStore, bind: Bind): StoredApprovalMemory {
  return {
    async recall(key) {
      const named = readKey(key);
      const known = isKept(named) ? await store.recall(named) : undefined;
      return known && isGenuine(bind, known) ? known.policy : null;
    },
    async remember(key, policy) {
      const named = readKey(key);
      if (!isKept(named)) throw invalidArgument("the key must hold whole characters without zeros, and not too many");
      if (!isPolicy(policy)) throw invalidArgument("policy must be direct, preview or forbidden");
      const decision = { ...named, policy, policy_version: null, request_id: null, decided_by: null };
      await store.remember(withMac(bind, decision));
    },
    async forget(key) {
      const named = readKey(key);
      return isKept(named) && (await store.forget(named));
    },
    async list(filter) {
      const named = readFilter(filter);
      const stored = isKept(named) ? await store.list(named) : [];
      return stored.filter((each) => isGenuine(bind, each)).map(decisionOf);
    },
  };
}

const KEY = ["workspace", "user_id", "agent_id", "tool_name"] as const satisfies readonly (keyof ApprovalKey)[];

/** A decision that was listed is a key too, so there may be more than the key. */
function readKey(value: unknown): RememberedKey {
  const { workspace, user_id, agent_id, tool_name } = readFields(value, unreadable);
  return {
    ...readWorkspace(workspace),
    user_id: readNumber("user_id", user_id, 0),
    agent_id: readText("agent_id", agent_id),
    tool_name: readText("tool_name", tool_name),
  };
}

function readFilter(value: unknown = {}): Partial<RememberedKey> {
  const { workspace, user_id, agent_id, tool_name } = readOptions(value, KEY);
  return {
    ...(workspace !== undefined && readWorkspace(workspace)),
    ...(user_id !== undefined && { user_id: readNumber("user_id", user_id, 0) }),
    ...(agent_id !== undefined && { agent_id: readText("agent_id", agent_id) }),
    ...(tool_name !== undefined && { tool_name: readText("tool_name", tool_name) }),
  };
}

function readWorkspace(value: unknown): Workspace {
  const { workspace_type, workspace_id } = readFields(value, unreadable);
  return {
    workspace_type: readText("workspace.workspace_type", workspace_type),
    workspace_id: readText("workspace.workspace_id", workspace_id),
  };
}

/** False for what nothing can have been remembered under. */
function isKept({ workspace_type = "", workspace_id = "", agent_id = "", tool_name = "" }: Partial<RememberedKey>) {
  const texts = [workspace_type, workspace_id, agent_id, tool_name];
  return texts.every(isStorable) && isIndexable(...texts);
}

function isPolicy(value: unknown): value is ActionPolicy {
  return value === "direct" || value === "preview" || value === "forbidden";
}

function unreadable(_: string, cause?: unknown) {
  return invalidArgument("the key and its workspace must be maps that can be read", cause);
}

function decisionOf({
  workspace_type,
  workspace_id,
  decided_by,
  created_at,
  mac: _,
  ...rest
}: StoredApproval): RememberedDecision {
  return {
    ...rest,
    workspace: { workspace_type, workspace_id },
    decided_by: decided_by === null ? null : (JSON.parse(decided_by) as JsonMap),
    created_at: new Date(created_at / 1_000).toISOString(),
  };
}
