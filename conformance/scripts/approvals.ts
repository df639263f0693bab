// What the vectors about approvals and ceilings ask for in several questions at once, and the calls of
// pendingAction.lifecycle against a store in memory.
import type { UnknownMap } from "../../src/contracts/json.ts";
import * as approvalDecision from "../../src/contracts/trust/approval-decision.ts";
import { type ApprovalKey, nullApprovalMemory } from "../../src/contracts/trust/approval-memory.ts";
import * as authorization from "../../src/contracts/trust/authorization.ts";
import * as capabilityCeiling from "../../src/contracts/trust/capability-ceiling.ts";
import type { PendingAction } from "../../src/contracts/trust/pending-action.ts";
import * as pendingAction from "../../src/contracts/trust/pending-action.ts";
import {
  createMemoryPendingActionStore,
  type PendingActionFilters,
  type PendingActionResolution,
} from "../../src/contracts/trust/pending-action-store.ts";

export function askStatus({ status }: { status: unknown }) {
  const normalized = pendingAction.normalizeStatus(status);
  return {
    normalized,
    terminal: pendingAction.isTerminal(normalized),
    valid_raw: pendingAction.isStatus(status),
  };
}

export function askDecision({ value, remember }: { value: unknown; remember?: boolean }) {
  const decision = approvalDecision.fromString(value, remember);
  return {
    ...decision,
    accepted: decision.value === "accepted",
    rejected: decision.value === "rejected",
    text: decision.value,
  };
}

export function askCeiling({ ceiling, capabilities }: { ceiling: unknown; capabilities: readonly unknown[] }) {
  const read = capabilityCeiling.fromArray(ceiling);
  return {
    restricted: read.allowed_capabilities !== null,
    denies: read.denied_capabilities !== null,
    allowed: capabilities.map((capability) => capabilityCeiling.allows(read, capability)),
  };
}

export function askAuthorization(given: {
  principal: unknown;
  capability: unknown;
  user_capabilities?: Readonly<Record<string, readonly string[]>>;
  context?: UnknownMap;
}) {
  const holds = (user: number, capability: string) =>
    given.user_capabilities?.[`u${user}`]?.includes(capability) ?? false;
  return authorization.can(given.principal, given.capability, given.context ?? {}, holds);
}

const key: ApprovalKey = {
  workspace: { workspace_type: "site", workspace_id: "1" },
  user_id: 1,
  agent_id: "writer",
  tool_name: "posts/publish",
};

const memoryCalls = {
  remember: () => nullApprovalMemory.remember(key, "direct"),
  recall: () => nullApprovalMemory.recall(key),
  forget: () => nullApprovalMemory.forget(key),
};

export function runApprovalMemory({ calls }: { calls: readonly { do: keyof typeof memoryCalls }[] }) {
  return calls.map((call) => memoryCalls[call.do]());
}

export type Call = {
  readonly do: "store" | "get" | "list" | "summary" | "record_resolution" | "expire" | "delete" | "advance";
  readonly with: Omit<PendingActionResolution, "error"> & {
    readonly action: unknown;
    readonly action_id: string;
    readonly include_resolved?: boolean;
    readonly filters?: PendingActionFilters;
    readonly error?: string;
    readonly before?: string;
    readonly seconds?: number;
  };
};

export async function runPendingActions({ calls }: { calls: readonly Call[] }) {
  let now = Date.UTC(2026, 0, 1);
  const store = createMemoryPendingActionStore({ now: () => new Date(now) });

  async function take({ do: verb, with: details = {} as Call["with"] }: Call): Promise<unknown> {
    const { action_id } = details;
    switch (verb) {
      case "store":
        return store.store(pendingAction.fromArray(details.action));
      case "get":
        return shortened(await store.get(action_id, details.include_resolved));
      case "list":
        return (await store.list(details.filters)).map((action) => action.action_id);
      case "summary":
        return store.summary(details.filters);
      case "record_resolution":
        return store.recordResolution(action_id, details);
      case "expire":
        return store.expire(details.before);
      case "delete":
        return store.delete(action_id);
      case "advance":
        now += (details.seconds ?? 0) * 1000;
        return null;
    }
  }

  const taken: unknown[] = [];
  for (const call of calls) taken.push(await take(call));
  return taken;
}

function shortened(action: PendingAction | null | undefined) {
  if (!action) return null;
  const { action_id, status, resolver, resolution_result, resolution_error, resolution_metadata } = action;
  const resolved = action.resolved_at !== null;
  return { action_id, status, resolver, resolution_result, resolution_error, resolution_metadata, resolved };
}
