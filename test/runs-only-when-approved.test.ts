// Promise: what needs a person's approval does not run without it, whatever a mediator, a filter or a store does meanwhile,
// and what was approved is what runs.
import { describe, expect, it } from "vitest";
import * as message from "../src/contracts/conversation/message.ts";
import * as toolPairs from "../src/contracts/conversation/tool-pairs.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import type { JsonMap } from "../src/contracts/json.ts";
import { createMemoryApprovalMemory } from "../src/contracts/trust/approval-memory.ts";
import type { PendingAction } from "../src/contracts/trust/pending-action.ts";
import { createMemoryPendingActionStore } from "../src/contracts/trust/pending-action-store.ts";
import { advance } from "../src/loop/advance.ts";
import type { MediationDecision } from "../src/loop/decision.ts";
import type { RunOptions, TurnRunner } from "../src/loop/options.ts";
import { runConversation } from "../src/loop/run-conversation.ts";
import { asked, brought, call, calls, machine, returned } from "./machine.ts";

const NAME = "desk/refund";
const SECRET = "4711-planted";
const parameters = { order: 7, pin: SECRET };
const toolDeclarations = [
  {
    ...{ name: NAME, source: "desk", description: "Refunds an order.", category: "money" },
    ...{ action_policy: "preview", sensitive_parameters: ["pin"] },
  },
];

/** A run in which the model asks for one refund. */
async function refund(options: RunOptions = {}) {
  const ran: JsonMap[] = [];
  const events: [string, JsonMap][] = [];
  const model: TurnRunner = () => ({ tool_calls: [{ id: "c1", name: NAME, parameters }] });
  const result = await runConversation([{ role: "user", content: "Refund order 7." }], model, {
    toolDeclarations,
    toolExecutor: ({ parameters: given }) => {
      ran.push(given);
      return { refunded: true };
    },
    onEvent: (event, payload) => events.push([event, payload]),
    ...options,
  });
  const [execution] = result.tool_execution_results;
  const { metadata } = (execution?.result ?? {}) as { metadata?: JsonMap };
  return { result, ran, events, error_type: metadata?.error_type, envelope: result.approval_required as JsonMap };
}

describe("a call that needs approval", () => {
  it("stops the run with a proposal, and the tool has not run", async () => {
    const { result, ran, events, envelope } = await refund();
    expect(ran).toEqual([]);
    expect([result.status, result.completed]).toEqual(["approval_required", false]);
    expect(envelope).toMatchObject({
      type: "approval_required",
      payload: {
        kind: "tool_call",
        status: "pending",
        apply_input: { tool_name: NAME, tool_call_id: "c1", parameters },
      },
    });
    const { action_id } = envelope.payload as JsonMap;
    expect(events.find(([event]) => event === "approval_required")?.[1]).toMatchObject({ tool_name: NAME, action_id });
  });

  it("shows its secrets to nobody but the caller and the store", async () => {
    const { result, events } = await refund();
    expect(JSON.stringify(result.messages)).not.toContain(SECRET);
    expect(JSON.stringify(events)).not.toContain(SECRET);
    expect(JSON.stringify((result.approval_required as { payload: JsonMap }).payload.preview)).not.toContain(SECRET);
  });

  it("is stored in full, with who asked and where", async () => {
    const store = createMemoryPendingActionStore({ now: () => new Date(0) });
    const { envelope } = await refund({
      pendingActionStore: store,
      principal: { acting_user_id: 5, effective_agent_id: "support" },
      workspace: { workspace_type: "shop", workspace_id: "9" },
      runId: "run-1",
      now: () => 1000,
    });
    const { action_id } = envelope.payload as { action_id: string };
    expect(await store.get(action_id)).toMatchObject({
      agent: "support",
      creator: "user:5",
      workspace: { workspace_type: "shop", workspace_id: "9" },
      created_at: "1970-01-01T00:00:01.000Z",
      apply_input: { parameters },
    });
    expect(envelope.metadata).not.toHaveProperty("staged");
  });

  it.each([
    ["throws", () => Promise.reject(new Error("disk full"))],
    ["refuses", () => false],
  ])("does not run when the store %s, and the proposal says that it is the only trace", async (_title, store) => {
    const failing = { ...createMemoryPendingActionStore({ now: () => new Date(0) }), store };
    const { ran, result, envelope } = await refund({ pendingActionStore: failing });
    expect(ran).toEqual([]);
    expect(result.status).toBe("approval_required");
    expect(envelope.metadata).toMatchObject({ staged: false });
  });

  it("is stored where a hook says when no store is passed", async () => {
    const store = createMemoryPendingActionStore({ now: () => new Date(0) });
    const hooks = createHooks();
    hooks.filter("pendingActionStore", () => store);
    const { envelope } = await refund({ hooks });
    expect(await store.get((envelope.payload as { action_id: string }).action_id)).not.toBeNull();
  });

  it("has an id of its own in every run, also under a run id that comes back", async () => {
    const idOf = async (options?: RunOptions) => ((await refund(options)).envelope.payload as JsonMap).action_id;
    const ids = await Promise.all([idOf({ runId: "r1" }), idOf({ runId: "r1" }), idOf(), idOf()]);
    expect(new Set(ids).size).toBe(4);
  });

  it("is proposed as it will run: with what was bound and filled in, and without what was overruled", async () => {
    const bound = {
      ...toolDeclarations[0],
      parameter_bindings: { account: { source: "context", path: "account", authoritative: true } },
      parameter_defaults: { euros: 50 },
    };
    const model: TurnRunner = () => ({
      tool_calls: [{ id: "c1", name: "desk__refund", parameters: { order: 7, account: "ATTACKER" } }],
    });
    const { result } = await refundWith(model, { toolDeclarations: [bound], context: { account: "CUSTOMER" } });
    const asItRuns = { order: 7, account: "CUSTOMER", euros: 50 };
    expect(result.approval_required).toMatchObject({
      payload: { preview: { parameters: asItRuns }, apply_input: { tool_name: NAME, parameters: asItRuns } },
    });
    expect(JSON.stringify(result.messages.at(-1))).not.toContain("CUSTOMER");
  });

  it("needs none when it is rejected or answered before it would run", async () => {
    const rejected = await refund({ preToolMediator: () => ({ action: "reject", error: "not now" }) });
    expect([rejected.result.status, rejected.error_type]).toEqual([undefined, "pre_tool_mediation_rejected"]);
    const replaced = await refund({
      preToolMediator: () => ({ action: "replace_result", result: { success: true, result: "known" } }),
    });
    expect([replaced.result.status, replaced.ran]).toEqual([undefined, []]);
  });

  it.each<[string, MediationDecision]>([
    ["a decision", { action: "pending" }],
    ["a replaced result", { action: "replace_result", result: { success: false, status: "runtime_tool_pending" } }],
    ["a rejection", { action: "reject", result: { success: false, tool_name: NAME, status: "runtime_tool_pending" } }],
  ])("is not handed to another runtime without it either, by %s", async (_title, decided) => {
    expect((await refund({ preToolMediator: () => decided })).result.status).toBe("approval_required");
  });

  it.each([
    ["that lacks a parameter", { ...toolDeclarations[0], parameters: { required: ["account"] } }, {}],
    ["that is hidden", toolDeclarations[0], { toolPolicy: { deny: [NAME] } }],
  ])("%s is not handed to another runtime at all", async (_title, declaration, options) => {
    const preToolMediator = () => ({ action: "pending" }) as const;
    const { result, ran } = await refund({ ...options, toolDeclarations: [declaration], preToolMediator });
    expect([result.status, ran]).toEqual([undefined, []]);
  });

  it("is not stored any more once the run was stopped", async () => {
    const stop = new AbortController();
    const store = createMemoryPendingActionStore({ now: () => new Date(0) });
    const get = async () => {
      stop.abort();
      return null;
    };
    const { result, ran } = await refund({ pendingActionStore: { ...store, get }, signal: stop.signal });
    await new Promise(setImmediate);
    expect([result.status, ran, await store.list()]).toEqual(["interrupted", [], []]);
  });
});

describe("a call that is forbidden", () => {
  const forbids = { actionPolicy: { categories: { money: "forbidden" } } };

  it("reaches neither mediator nor filter, so neither can lift it", async () => {
    let consulted = 0;
    const hooks = createHooks();
    hooks.filter("preToolCallDecision", () => {
      consulted++;
      return { action: "proceed" };
    });
    const preToolMediator = () => {
      consulted++;
      return { action: "proceed" } as const;
    };
    const { ran, error_type } = await refund({ ...forbids, hooks, preToolMediator });
    expect([ran, error_type, consulted]).toEqual([[], "action_forbidden", 0]);
  });

  it("stays forbidden when a filter lifts the gate's own rejection", async () => {
    const hooks = createHooks();
    hooks.filter("preToolCallDecision", () => ({ action: "proceed" }));
    const rules = [{ after_tool: NAME, limited_tools: [NAME], max_calls: 1, require_one_of: ["desk/other"] }];
    const model: TurnRunner = () => ({ tool_calls: ["a", "b"].map((id) => ({ id, name: NAME, parameters })) });
    const { result, ran } = await refundWith(model, { ...forbids, hooks, toolCallRules: rules });
    expect(ran).toBe(0);
    expect(result.tool_execution_results.map(errorTypeOf)).toEqual(["action_forbidden", "action_forbidden"]);
  });

  it("is what a policy comes to that cannot be resolved", async () => {
    const failing = () => Promise.reject(new Error("policy store is down"));
    const { ran, error_type } = await refund({ actionPolicyProviders: [failing] });
    expect([ran, error_type]).toEqual([[], "action_policy_failed"]);
    expect((await refund({ actionPolicyProviders: [() => "deny"] })).error_type).toBe("action_policy_failed");
    const hooks = createHooks();
    hooks.filter("toolActionPolicy", () => {
      throw new Error("filter is broken");
    });
    expect((await refund({ hooks })).error_type).toBe("action_policy_failed");
  });
});

describe("who decides how a call may run", () => {
  it("is a host's provider before the tool itself", async () => {
    const { ran } = await refund({ actionPolicyProviders: [async () => "direct"] });
    expect(ran).toHaveLength(1);
  });

  it("is what was remembered, for this user, agent and workspace alone", async () => {
    const approvalMemory = createMemoryApprovalMemory();
    const workspace = { workspace_type: "shop", workspace_id: "9" };
    approvalMemory.remember({ workspace, user_id: 5, agent_id: "support", tool_name: NAME }, "direct");
    const remembered = { approvalMemory, workspace, principal: { acting_user_id: 5, effective_agent_id: "support" } };
    expect((await refund(remembered)).ran).toHaveLength(1);
    const principal = { acting_user_id: 6, effective_agent_id: "support" };
    expect((await refund({ ...remembered, principal })).result.status).toBe("approval_required");
  });

  it("is the host's filter at last", async () => {
    const hooks = createHooks();
    hooks.filter("toolActionPolicy", (policy, toolName) => (toolName === NAME ? "forbidden" : policy));
    expect((await refund({ hooks })).error_type).toBe("action_forbidden");
  });
});

describe("a run that can wait", () => {
  const store = createMemoryPendingActionStore({ now: () => new Date(0) });
  const waiting = (options: RunOptions = {}) => machine({ toolDeclarations, ...options }, { waiting: "park" });
  const accepted = { returned: { decision: "accepted" } };
  const asking = calls({ id: "c1", name: NAME, parameters }, { id: "c2", name: NAME, parameters: { order: 8 } });

  it("runs the call as it was proposed once it is accepted, and the next one needs its own yes", () => {
    const { bring, working } = waiting();
    bring();
    const parked = bring(asking);
    expect(parked).toMatchObject({ kind: "park", call: 0, request_id: expect.stringMatching(/^action-[0-9a-f]{32}$/) });
    expect(bring(brought(parked, accepted))).toMatchObject({
      order: { kind: "run_tool", call: { id: "c1", parameters } },
    });
    const second = bring(returned({ refunded: true }));
    expect(second).toMatchObject({ kind: "park", call: 1 });
    expect(second).not.toMatchObject({ request_id: (parked as { request_id: string }).request_id });
    expect(bring(brought(parked, accepted))).toEqual(second);
    bring(brought(second, { returned: { decision: "rejected", reason: "Too late." } }));
    expect(working.run.executions.map(({ result }) => result)).toMatchObject([
      { success: true },
      { success: false, error: "Too late.", metadata: { error_type: "approval_rejected" } },
    ]);
    expect(toolPairs.validate(working.transcript)).toEqual([]);
  });

  it.each([
    ["nothing", undefined],
    ["a yes in other words", "yes"],
    ["another case", { decision: "Accepted" }],
    ["a result", { success: true, result: "refunded" }],
  ])("takes %s for a no", (_title, given) => {
    const { bring, working } = waiting();
    bring();
    bring(brought(bring(asking), { returned: given }));
    expect(working.run.executions.map(errorTypeOf)).toEqual(["approval_rejected"]);
  });

  it("goes on waiting after a restart, for the same action", () => {
    const made = waiting({ pendingActionStore: store });
    made.bring();
    expect(asked(made.bring(asking))).toBe("store_action");
    made.restart();
    const again = made.bring();
    expect(asked(again)).toBe("store_action");
    const { action } = (again as { order: { action: PendingAction } }).order;
    const parked = made.bring(returned(true));
    expect(parked).toMatchObject({ kind: "park", request_id: action.action_id });
    made.restart();
    expect(made.bring()).toEqual(parked);
    expect(asked(made.bring(brought(parked, accepted)))).toBe("run_tool");
  });

  it.each<[string, RunOptions, string]>([
    ["forbids it", { toolDeclarations: [{ ...toolDeclarations[0], action_policy: "forbidden" }] }, "action_forbidden"],
    ["has no such tool", { toolDeclarations: [] }, "tool_not_found"],
    [
      "sends it to an executor that does not exist",
      { toolDeclarations: [{ ...toolDeclarations[0], runtime: { executor_target: "gone" } }] },
      "executor_target_unavailable",
    ],
  ])("does not run an accepted call under a version of the agent that %s", (_title, changed, errorType) => {
    const made = waiting();
    made.bring();
    const parked = made.bring(asking);
    made.restart(changed);
    made.bring(brought(parked, accepted));
    const [first = {}] = made.working.run.executions;
    expect(errorTypeOf(first)).toBe(errorType);
  });

  it("hands another runtime what was approved, not what the model or the mediator wrote", () => {
    const bound = {
      ...toolDeclarations[0],
      parameter_bindings: { account: { source: "context", path: "account", authoritative: true } },
    };
    const context = { account: "CUSTOMER" };
    const { bring, working } = waiting({ toolDeclarations: [bound], context, preToolMediator: () => null });
    bring();
    bring(calls({ id: "c1", name: NAME, parameters: { order: 7, account: "ATTACKER" } }));
    const parked = bring(returned({ action: "pending", request: { parameters: { account: "OTHER" } } }));
    bring(brought(parked, accepted));
    expect(working.run.pending).toMatchObject({ parameters: { order: 7, account: "CUSTOMER" } });
  });

  it("does not take what was brought for one call for another of the same name", () => {
    const outside = { returned: { success: false, status: "runtime_tool_pending" } };
    const { bring } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("call_0"), call("call_0")));
    const first = bring(outside);
    expect(asked(bring(brought(first, { returned: { success: true, result: 1 } })))).toBe("run_tool");
    const second = bring(outside);
    expect(bring(brought(first, { returned: { success: true, result: 1 } }))).toEqual(second);
  });

  it("hands an accepted call to the runtime that the mediator chose for it", () => {
    const { bring } = waiting({ preToolMediator: () => null });
    bring();
    expect(asked(bring(asking))).toBe("mediator");
    const parked = bring(returned({ action: "pending" }));
    expect(parked).toMatchObject({ kind: "park", request_id: expect.stringMatching(/^action-/) });
    expect(bring(brought(parked, accepted))).toMatchObject({
      kind: "park",
      request_id: expect.stringMatching(/^request-/),
    });
  });

  it("asks the policy once more before an accepted call runs: agreeing is no right", () => {
    const { bring, working } = waiting({ actionPolicyProviders: [() => null] });
    bring();
    expect(asked(bring(asking))).toBe("action_policy");
    const parked = bring(returned("preview"));
    expect(asked(bring(brought(parked, accepted)))).toBe("action_policy");
    bring(returned("forbidden"));
    expect(working.run.executions.map(errorTypeOf)).toEqual(["action_forbidden"]);
  });

  it("runs an accepted call that still needs approval, for it has it", () => {
    const { bring } = waiting({ actionPolicyProviders: [() => null], preToolMediator: () => null });
    bring();
    bring(asking);
    expect(asked(bring(returned("preview")))).toBe("mediator");
    const parked = bring(returned(null));
    expect(asked(bring(brought(parked, accepted)))).toBe("action_policy");
    expect(asked(bring(returned("preview")))).toBe("run_tool");
  });

  it("asks first, also where the state says that the call is to run", () => {
    const made = waiting();
    made.bring();
    const parked = made.bring(asking);
    const forged = { ...made.state(), position: "call.run", waiting: null } as const;
    const { next, state } = advance(forged, made.working, 0, returned({ refunded: true }));
    expect([next, state.position]).toEqual([parked, "call.parked"]);
  });

  it("that is stopped while it waits has not begun the call", () => {
    const { bring, working } = waiting();
    bring();
    bring(asking);
    bring({ stop: message.text("user", "Stop."), performed: true });
    expect(working.run.executions.map(errorTypeOf)).toEqual(["cancelled"]);
  });

  it("leaves calls alone that need no approval", () => {
    const { bring } = machine({}, { waiting: "park" });
    bring();
    expect(asked(bring(calls(call("a"))))).toBe("run_tool");
  });
});

async function refundWith(model: TurnRunner, options: RunOptions) {
  let ran = 0;
  const toolExecutor = () => {
    ran++;
    return "ok";
  };
  const messages = [{ role: "user", content: "Refund." }];
  const result = await runConversation(messages, model, { toolDeclarations, toolExecutor, ...options });
  return { result, ran };
}

function errorTypeOf({ result }: JsonMap): unknown {
  return (result as { metadata: JsonMap }).metadata.error_type;
}
