// What the vectors about approvals and ceilings ask for in several questions at once, and the calls of
// pendingAction.lifecycle and pendingActionAbility.call against the queue in a database.
import { get, list, resolve, summary } from "../../src/abilities/pending-actions.ts";
import { createActionStore } from "../../src/backend/sql/actions.ts";
import { migrate } from "../../src/backend/sql/migrate.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import * as approvalDecision from "../../src/contracts/trust/approval-decision.ts";
import { type ApprovalKey, nullApprovalMemory } from "../../src/contracts/trust/approval-memory.ts";
import * as authorization from "../../src/contracts/trust/authorization.ts";
import * as capabilityCeiling from "../../src/contracts/trust/capability-ceiling.ts";
import type { PendingAction } from "../../src/contracts/trust/pending-action.ts";
import * as pendingAction from "../../src/contracts/trust/pending-action.ts";
import type { PendingActionFilters, PendingActionResolution } from "../../src/contracts/trust/pending-action-store.ts";
import * as principal from "../../src/contracts/trust/principal.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";
import { createPendingActions, type PendingActions } from "../../src/trust/pending-actions.ts";

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
  return authorization.can(principal.fromArray(given.principal), given.capability, given.context ?? {}, holds);
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

const sealing = createSealing(new Uint8Array(32));

/** An empty queue on a database of its own, for as long as it is used. */
async function withQueue<Value>(now: () => Date, use: (queue: PendingActions) => Promise<Value>): Promise<Value> {
  const driver = await sqlite(":memory:").open();
  try {
    await migrate(driver);
    const store = createActionStore(driver);
    // What these vectors list is the whole record.
    return await use(createPendingActions({ store, sealing, handlers: {}, now, opensLists: true }));
  } finally {
    await driver.close();
  }
}

export async function runPendingActions({ calls }: { calls: readonly Call[] }) {
  let now = Date.UTC(2026, 0, 1);
  const passed = (seconds: number) => {
    now += seconds * 1000;
  };
  return await withQueue(
    () => new Date(now),
    async (queue) => {
      const taken: unknown[] = [];
      for (const call of calls) taken.push(await take(call, queue, passed));
      return taken;
    },
  );
}

async function take(
  { do: verb, with: details = {} as Call["with"] }: Call,
  store: PendingActions,
  passed: (seconds: number) => void,
): Promise<unknown> {
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
      passed(details.seconds ?? 0);
      return null;
  }
}

function shortened(action: PendingAction | null | undefined) {
  if (!action) return null;
  const { action_id, status, resolver, resolution_result, resolution_error, resolution_metadata } = action;
  const resolved = action.resolved_at !== null;
  return { action_id, status, resolver, resolution_result, resolution_error, resolution_metadata, resolved };
}

const abilities = { list, summary, get, resolve };

export type AbilityCall = {
  readonly ability: keyof typeof abilities;
  readonly input: unknown;
  readonly actions?: readonly unknown[];
  readonly store?: boolean;
  readonly resolver?: boolean;
};

/** The resolver of these vectors says back what it was told. */
const echoing: Parameters<typeof resolve>[1]["resolver"] = {
  resolve: (actionId, { decision, resolver, payload, context }) => ({
    echo: [actionId, decision, resolver, payload, context],
  }),
};

export async function callPendingActionAbility(given: AbilityCall) {
  return await withQueue(
    () => new Date(Date.UTC(2026, 0, 1)),
    async (queue) => {
      for (const action of given.actions ?? []) await queue.store(pendingAction.fromArray(action));
      const answer = await abilities[given.ability](given.input, {
        store: given.store === false ? undefined : queue,
        resolver: given.resolver === false ? undefined : echoing,
      });
      return isOperationError(answer) ? { error: { code: answer.code } } : answer;
    },
  );
}
