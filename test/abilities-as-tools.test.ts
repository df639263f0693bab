// Promise: an ability is the same operation when a model calls it as a tool: the same permission, the same gate, the same
// observers, and its secrets stay secret.
import { describe, expect, it } from "vitest";
import { metaAbilities } from "../src/abilities/ability-meta.ts";
import { type Ability, createAbilities } from "../src/contracts/abilities/ability.ts";
import type { ConversationResult } from "../src/contracts/conversation/result.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import type { JsonMap } from "../src/contracts/json.ts";
import { createMemoryPendingActionStore } from "../src/contracts/trust/pending-action-store.ts";
import type { RunOptions, TurnRunner } from "../src/loop/options.ts";
import { runConversation } from "../src/loop/run-conversation.ts";

const SECRET = "4711-planted";
const principal = { acting_user_id: 5, effective_agent_id: "support", auth_source: "user", request_context: "chat" };

const refund: Ability = {
  name: "shop/refund",
  description: "Refunds an order.",
  category: "money",
  inputSchema: { properties: { iban: { sensitive: true } } },
  execute: ({ order }) => ({ refunded: order ?? null }),
};
const declaration = { name: "shop/refund", source: "abilities", description: "Refunds an order." };

/** A run in which the model calls one tool. */
async function callTool(options: RunOptions, call: JsonMap = { name: "shop/refund", parameters: { order: 7 } }) {
  const model: TurnRunner = () => ({ tool_calls: [{ id: "c1", ...call }] });
  const events: unknown[] = [];
  const result = await runConversation([{ role: "user", content: "Refund." }], model, {
    abilities: createAbilities([refund]),
    toolDeclarations: [declaration],
    onEvent: (...told) => events.push(told),
    ...options,
  });
  return { result, events };
}

const answerOf = ({ tool_execution_results: [execution] }: ConversationResult) => execution?.result as JsonMap;

describe("an ability as a tool", () => {
  it("needs no executor beside it", async () => {
    const { result } = await callTool({});
    expect(answerOf(result)).toMatchObject({
      success: true,
      result: { refunded: 7 },
      metadata: { ability_name: "shop/refund", parameters_redacted: true },
    });
  });

  it("is run by name beside an executor, which runs the rest", async () => {
    const options = {
      toolExecutor: () => "by the host",
      toolDeclarations: [
        { ...declaration, name: "desk/refund", ability: "shop/refund" },
        { ...declaration, name: "desk/other" },
      ],
    };
    const byAbility = await callTool(options, { name: "desk/refund", parameters: { order: 8 } });
    expect(answerOf(byAbility.result)).toMatchObject({ result: { refunded: 8 } });
    const byHost = await callTool(options, { name: "desk/other", parameters: {} });
    expect(answerOf(byHost.result)).toMatchObject({ result: "by the host" });
  });

  it("keeps what it declares sensitive out of transcript, events and audit", async () => {
    const { result, events } = await callTool({}, { name: "shop/refund", parameters: { order: 7, iban: SECRET } });
    const { tool_execution_results, ...shown } = result;
    expect(JSON.stringify({ shown, events })).not.toContain(SECRET);
    expect(tool_execution_results[0]?.parameters).toEqual({ order: 7, iban: SECRET });
  });

  it("keeps what the declaration and the bindings call secret out of its own result and of what observers see", async () => {
    const seen: unknown[] = [];
    const hooks = createHooks();
    hooks.on("abilityInvoked", (...told) => seen.push(told));
    hooks.on("abilityExecuted", (...told) => seen.push(told));
    const toolDeclarations = [
      {
        ...declaration,
        sensitive_parameters: ["note"],
        parameter_bindings: { account: { source: "context", path: "account", sensitive: true } },
      },
    ];
    const context = { account: SECRET };
    const call = { name: "shop/refund", parameters: { order: 7, note: SECRET } };
    const { result, events } = await callTool({ toolDeclarations, context, hooks }, call);
    expect(answerOf(result)).toMatchObject({ success: true });
    expect(JSON.stringify({ messages: result.messages, events, seen })).not.toContain(SECRET);
  });

  it("keeps what applying a gated call takes out of the transcript", async () => {
    const hooks = createHooks();
    hooks.filter("abilityPreExecuteDecision", (_decision, ability, input) => ({
      ...{ action_id: "act-1", kind: "refund", summary: "Refund", preview: {}, apply_input: { ability, input } },
      created_at: "2026-05-01T00:00:00Z",
    }));
    const { result } = await callTool({ hooks }, { name: "shop/refund", parameters: { order: 7, iban: SECRET } });
    expect(JSON.stringify(result.messages)).not.toContain(SECRET);
    expect(result.approval_required).toMatchObject({ payload: { apply_input: { input: { iban: SECRET } } } });
  });

  it("waits for a client when the tool is the client's", async () => {
    const toolDeclarations = [{ name: "client/pick", description: "Picks." }];
    const { result } = await callTool({ toolDeclarations }, { name: "client/pick", parameters: {} });
    expect(result.status).toBe("runtime_tool_pending");
  });

  it("stops the run when its gate asks for approval, and has not run", async () => {
    let ran = 0;
    const counted: Ability = { ...refund, execute: () => ran++ };
    const hooks = createHooks();
    const action = { action_id: "act-1", kind: "refund", summary: "Refund order 7", preview: {}, apply_input: {} };
    hooks.filter("abilityPreExecuteDecision", () => ({ ...action, created_at: "2026-05-01T00:00:00Z" }));
    const pendingActionStore = createMemoryPendingActionStore({ now: () => new Date(0) });
    const { result, events } = await callTool({ abilities: createAbilities([counted]), hooks, pendingActionStore });
    expect(ran).toBe(0);
    expect(result.status).toBe("approval_required");
    expect(events).toContainEqual(["approval_required", expect.objectContaining({ action_id: "act-1" })]);
    expect(await pendingActionStore.get("act-1")).toMatchObject({ status: "pending" });
  });

  it("is refused without the capability that its tool requires, and told as denied", async () => {
    const toolDeclarations = [{ ...declaration, required_capability: "refund_orders" }];
    const denied: JsonMap[] = [];
    const hooks = createHooks();
    hooks.on("toolCapabilityDenied", (denial) => denied.push(denial));
    const refused = await callTool({ toolDeclarations, hooks, principal });
    expect(answerOf(refused.result)).toMatchObject({ metadata: { error_type: "capability_denied" } });
    expect(denied).toMatchObject([{ required_capability: "refund_orders", principal: { acting_user_id: 5 } }]);
    const holdsCapability = (user: number) => user === 5;
    const granted = await callTool({ toolDeclarations, principal, holdsCapability });
    expect(answerOf(granted.result)).toMatchObject({ success: true });
    const ceiling = { ...principal, capability_ceiling: { user_id: 5, allowed_capabilities: ["read_orders"] } };
    const narrowed = await callTool({ toolDeclarations, principal: ceiling, holdsCapability });
    expect(answerOf(narrowed.result)).toMatchObject({ metadata: { error_type: "capability_denied" } });
  });

  it.each([{ ability: "shop/refund" }, { ability_name: "shop/refund" }, {}])(
    "belongs to its category for both policies, when its tool says %j",
    async (named) => {
      const toolDeclarations = [{ ...declaration, ...named }];
      const hidden = await callTool({ toolDeclarations, toolPolicy: { mode: "deny", categories: ["money"] } });
      expect(answerOf(hidden.result)).toMatchObject({ metadata: { error_type: "tool_not_found" } });
      const forbidden = await callTool({ toolDeclarations, actionPolicy: { categories: { money: "forbidden" } } });
      expect(answerOf(forbidden.result)).toMatchObject({ metadata: { error_type: "action_forbidden" } });
    },
  );

  it("does not begin once the run was stopped, however late its permission comes", async () => {
    const stop = new AbortController();
    let ran = 0;
    const permission = async () => {
      stop.abort();
      return true;
    };
    const abilities = createAbilities([{ ...refund, permission, execute: () => ran++ }]);
    const { result } = await callTool({ abilities, signal: stop.signal });
    await new Promise(setImmediate);
    expect([result.status, ran]).toEqual(["interrupted", 0]);
  });

  it("is behind its own gate when it is called through another", async () => {
    const abilities = createAbilities([refund]);
    for (const meta of metaAbilities(abilities)) abilities.register(meta);
    const hooks = createHooks();
    hooks.filter("abilityPreExecuteDecision", (_decision, ability) =>
      ability === "shop/refund"
        ? {
            ...{ action_id: "act-1", kind: "refund", summary: "Refund", preview: {}, apply_input: {} },
            created_at: "2026-05-01T00:00:00Z",
          }
        : null,
    );
    const toolDeclarations = [{ ...declaration, name: "agents/ability-call" }];
    const call = { name: "agents/ability-call", parameters: { name: "shop/refund", parameters: { order: 7 } } };
    const { result } = await callTool({ abilities, toolDeclarations, hooks }, call);
    expect(result.status).toBe("approval_required");
  });

  it("is hidden like any tool that writes when it destroys", async () => {
    const abilities = createAbilities([{ ...refund, annotations: { destructive: true } }]);
    const { result } = await callTool({ abilities, hidesWriteTools: true });
    expect(answerOf(result)).toMatchObject({ metadata: { error_type: "tool_not_found" } });
  });

  it("is under its own policy when it is called through another", async () => {
    const abilities = createAbilities([refund]);
    for (const meta of metaAbilities(abilities)) abilities.register(meta);
    const toolDeclarations = [{ ...declaration, name: "agents/ability-call" }];
    const call = { name: "agents/ability-call", parameters: { name: "shop/refund", parameters: { order: 7 } } };
    const run = async (options: RunOptions) =>
      (await callTool({ abilities, toolDeclarations, ...options }, call)).result;
    const forbids = [
      { actionPolicy: { tools: { "shop/refund": "forbidden" } } },
      { actionPolicy: { categories: { money: "forbidden" } } },
      { context: { deny: ["shop/refund"] } },
    ];
    for (const options of forbids) {
      expect(answerOf(await run(options))).toMatchObject({ metadata: { error_type: "action_forbidden" } });
    }
    const proposed = await run({ actionPolicy: { tools: { "shop/refund": "preview" } } });
    expect(proposed).toMatchObject({
      status: "approval_required",
      approval_required: { payload: { preview: { tool_name: "shop/refund", parameters: { order: 7 } } } },
    });
    expect(answerOf(await run({}))).toMatchObject({ success: true });
    const guarded = { ...declaration, name: "desk/refund", ability: "shop/refund", action_policy: "forbidden" };
    const underOtherName = await run({ toolDeclarations: [...toolDeclarations, guarded] });
    expect(answerOf(underOtherName)).toMatchObject({ metadata: { error_type: "action_forbidden" } });
  });

  it("hears the signal of a run that is stopped", async () => {
    const stop = new AbortController();
    let heard = false;
    const slow: Ability = {
      ...refund,
      execute: (_input, _context, { signal }) =>
        new Promise(() => {
          signal?.addEventListener("abort", () => {
            heard = true;
          });
          stop.abort();
        }),
    };
    const { result } = await callTool({ abilities: createAbilities([slow]), signal: stop.signal });
    expect([heard, result.status]).toEqual([true, "interrupted"]);
  });

  it("can be searched for and called through two tools, without a way around its gate", async () => {
    const abilities = createAbilities([{ ...refund, permission: () => false }]);
    for (const meta of metaAbilities(abilities)) abilities.register(meta);
    const toolDeclarations = ["agents/ability-search", "agents/ability-call"].map((name) => ({ ...declaration, name }));
    const found = await callTool(
      { abilities, toolDeclarations },
      { name: "agents/ability-search", parameters: { query: "refunds" } },
    );
    expect(answerOf(found.result)).toMatchObject({ result: { count: 1, abilities: [{ name: "shop/refund" }] } });
    const called = await callTool(
      { abilities, toolDeclarations },
      { name: "agents/ability-call", parameters: { name: "shop/refund", parameters: { order: 7 } } },
    );
    expect(answerOf(called.result)).toMatchObject({ metadata: { error_code: "ability_invalid_permissions" } });
  });
});

describe("a required capability", () => {
  const guarded = { ...declaration, name: "desk/erase", required_capability: "erase_orders" };
  const call = { name: "desk/erase", parameters: {} };

  it.each([
    ["the host's executor", { toolDeclarations: [guarded] }],
    ["a named executor", { toolDeclarations: [{ ...guarded, runtime: { executor_target: "vault" } }] }],
  ])("is asked for before %s runs the tool", async (_title, options) => {
    let ran = 0;
    const toolExecutor = () => ran++;
    const executors = { toolExecutor, namedToolExecutors: { vault: toolExecutor } };
    const refused = await callTool({ ...options, ...executors, principal }, call);
    expect(answerOf(refused.result)).toMatchObject({ metadata: { error_type: "capability_denied" } });
    expect(ran).toBe(0);
    await callTool({ ...options, ...executors, principal, holdsCapability: () => true }, call);
    expect(ran).toBe(1);
  });

  it("that is granted after the run was stopped begins nothing", async () => {
    const stop = new AbortController();
    let ran = 0;
    const authorize = async () => {
      stop.abort();
      return true;
    };
    const toolExecutor = () => ran++;
    const options = { toolDeclarations: [guarded], toolExecutor, principal, authorize, signal: stop.signal };
    const { result } = await callTool(options, call);
    await new Promise(setImmediate);
    expect([result.status, ran]).toEqual(["interrupted", 0]);
  });

  it("is no concern of a client's tool, which gets none of the host's executors either", async () => {
    let ran = 0;
    const client = { name: "client/pick", description: "Picks.", runtime: { executor_target: "vault" } };
    const namedToolExecutors = { vault: () => ran++ };
    const { result } = await callTool(
      { toolDeclarations: [client], namedToolExecutors },
      { name: "client/pick", parameters: {} },
    );
    expect(answerOf(result)).toMatchObject({ metadata: { error_type: "executor_target_unavailable" } });
    expect(ran).toBe(0);
  });
});
