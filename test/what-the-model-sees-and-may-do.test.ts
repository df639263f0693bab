// Promise: the model sees a tool only when every layer of visibility lets it through, and a call it makes anyway runs only
// when the tool is seen and its action policy allows it.
import { describe, expect, it } from "vitest";
import type { ConversationResult } from "../src/contracts/conversation/result.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import type { JsonMap, UnknownMap } from "../src/contracts/json.ts";
import type { ActionPolicy } from "../src/contracts/tools/action-policy.ts";
import type { RunOptions, TurnRunner } from "../src/loop/options.ts";
import { runConversation } from "../src/loop/run-conversation.ts";
import { machine, returned } from "./machine.ts";

const NAME = "desk/refund";
const policies: readonly ActionPolicy[] = ["direct", "preview", "forbidden"];

/** What a layer adds to a run so that it hides the tool. */
type Hiding = {
  readonly options?: RunOptions;
  readonly context?: UnknownMap;
  readonly declaration?: UnknownMap;
  /** True when a mandatory tool is hidden too. */
  readonly hidesMandatory?: boolean;
};

const layers: Readonly<Record<string, Hiding>> = {
  "a mode it is not made for": {
    context: { mode: "pipeline" },
    declaration: { modes: ["chat"] },
    hidesMandatory: true,
  },
  "an access check that says no": { options: { toolAccessChecker: () => false }, hidesMandatory: true },
  "the agent's policy, by name": { context: { agent_config: { tool_policy: { mode: "deny", tools: [NAME] } } } },
  "the run's policy, by leaving out its category": {
    options: { toolPolicy: { mode: "allow", categories: ["reading"] } },
  },
  "a policy provider, by category": {
    options: { toolPolicyProviders: [() => ({ mode: "deny", categories: ["money"] })] },
  },
  "the run's categories": { context: { categories: ["reading"] } },
  "the list of all that is allowed": { context: { allow_only: ["desk/read"] } },
  "being a runtime tool nobody opted into": { context: { runtime_tools: [] }, declaration: { runtime_tool: true } },
  "writing for nobody": { options: { hidesWriteTools: true }, declaration: { write: true } },
  "an explicit deny": { context: { deny: [NAME] }, hidesMandatory: true },
};

/** A run in which the model calls the tool whatever it sees, and what came of it. */
async function callAnyway(
  hidings: readonly Hiding[],
  { mandatory, policy }: { mandatory: boolean; policy: ActionPolicy },
): Promise<{ sees: boolean; ran: number; result: ConversationResult }> {
  let sees = false;
  let ran = 0;
  const model: TurnRunner = (_messages, _context, { tools }) => {
    sees = Object.hasOwn(tools, NAME);
    return { tool_calls: [{ id: "c1", name: NAME, parameters: { order: 7 } }] };
  };
  const declaration = Object.assign(
    { name: NAME, source: "desk", description: "Refunds an order.", category: "money", mandatory },
    ...hidings.map((hiding) => hiding.declaration),
  );
  const options: RunOptions = Object.assign(
    { actionPolicy: { tools: { [NAME]: policy } } },
    ...hidings.map((hiding) => hiding.options),
  );
  const result = await runConversation([{ role: "user", content: "Refund order 7." }], model, {
    ...options,
    context: Object.assign({}, ...hidings.map(({ context }) => context)),
    toolDeclarations: [declaration],
    toolExecutor: () => {
      ran++;
      return { refunded: true };
    },
  });
  return { sees, ran, result };
}

/** What became of the one call: its result, or that somebody has to approve it first. */
function outcomeOf({ ran, result }: { ran: number; result: ConversationResult }): JsonMap {
  const [execution] = result.tool_execution_results;
  const { success, metadata } = (execution?.result ?? {}) as { success?: boolean; metadata?: { error_type?: string } };
  if (!execution) return { ran, status: result.status ?? null };
  return success ? { ran } : { ran, error_type: metadata?.error_type ?? null };
}

const outcomes: Readonly<Record<ActionPolicy | "hidden", JsonMap>> = {
  hidden: { ran: 0, error_type: "tool_not_found" },
  direct: { ran: 1 },
  preview: { ran: 0, status: "approval_required" },
  forbidden: { ran: 0, error_type: "action_forbidden" },
};

const rows = Object.entries(layers).flatMap(([layer, hiding]) =>
  [false, true].flatMap((mandatory) => policies.map((policy) => ({ layer, hiding, mandatory, policy }))),
);

describe("a tool that one layer hides", () => {
  it.each(rows)("by $layer; mandatory: $mandatory; policy: $policy", async ({ hiding, mandatory, policy }) => {
    const called = await callAnyway([hiding], { mandatory, policy });
    const isSeen = mandatory && hiding.hidesMandatory !== true;
    expect(called.sees).toBe(isSeen);
    expect(outcomeOf(called)).toEqual(outcomes[isSeen ? policy : "hidden"]);
  });

  it.each(policies)("is seen when none does; policy: %s", async (policy) => {
    const called = await callAnyway([{ context: { deny: ["desk/other"] } }], { mandatory: false, policy });
    expect(called.sees).toBe(true);
    expect(outcomeOf(called)).toEqual(outcomes[policy]);
  });
});

describe("a tool under any number of layers", () => {
  const all = Object.values(layers);
  const combinations = Array.from({ length: 2 ** all.length }, (_, bits) =>
    all.filter((_hiding, index) => (bits >> index) & 1),
  );

  it.each(policies)("is seen and run by the same rule in every combination; policy: %s", async (policy) => {
    const wrong: unknown[] = [];
    for (const hidings of combinations) {
      for (const mandatory of [false, true]) {
        const isSeen = mandatory ? !hidings.some(({ hidesMandatory }) => hidesMandatory) : hidings.length === 0;
        const called = await callAnyway(hidings, { mandatory, policy });
        const found = { sees: called.sees, ...outcomeOf(called) };
        const expected = { sees: isSeen, ...outcomes[isSeen ? policy : "hidden"] };
        if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ hidings, mandatory, found, expected });
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("an option that guards", () => {
  it.each<[keyof RunOptions, unknown]>([
    ["toolPolicy", "deny"],
    ["toolPolicy", { mode: "block" }],
    ["toolPolicy", { deny: { [NAME]: true } }],
    ["context", { deny: { [NAME]: true } }],
    ["preToolMediator", {}],
    ["toolCallRules", {}],
    ["context", { action_policy: "forbidden" }],
    ["context", { agent_config: { action_policy: { categories: { money: "deny" } } } }],
    ["context", { agent_config: { tool_policy: { mode: "Allow" } } }],
    ["toolPolicyProviders", () => null],
    ["toolPolicyProviders", [{}]],
    ["toolAccessChecker", {}],
    ["hidesWriteTools", "yes"],
    ["actionPolicy", "forbidden"],
    ["actionPolicy", { tools: { [NAME]: "deny" } }],
    ["actionPolicyProviders", new Set()],
    ["approvalMemory", {}],
    ["pendingActionStore", {}],
    ["abilities", []],
    ["authorize", true],
  ])("is refused when it cannot: %s %j", async (option, value) => {
    const run = runConversation([{ role: "user", content: "go" }], () => ({ tool_calls: [] }), { [option]: value });
    await expect(run).rejects.toMatchObject({
      code: "invalid_agent_conversation_loop",
      detail: expect.stringContaining(option),
    });
  });
});

describe("a declaration", () => {
  const declare = (name: string, more: UnknownMap = {}) => ({ name, source: "desk", description: "Does it.", ...more });

  async function rejectedOf(...toolDeclarations: UnknownMap[]) {
    const events: JsonMap[] = [];
    await runConversation([{ role: "user", content: "go" }], () => ({ tool_calls: [] }), {
      toolDeclarations,
      toolExecutor: () => "ok",
      onEvent: (event, payload) => event === "tool_declarations_rejected" && events.push(payload),
    });
    return events.flatMap(({ rejected }) => (rejected as readonly { name: string }[]).map(({ name }) => name));
  }

  it("that names a policy there is not is rejected: it was meant to say something", async () => {
    expect(await rejectedOf(declare("desk/a", { action_policy: "deny" }), declare("desk/b"))).toEqual(["desk/a"]);
    expect(await rejectedOf(declare("desk/a", { action_policy_job: 7 }), declare("desk/b"))).toEqual(["desk/a"]);
  });

  it("that the model would call by another's name is rejected", async () => {
    expect(await rejectedOf(declare("desk/re-fund"), declare("desk/re__fund"))).toEqual(["desk/re__fund"]);
    expect(await rejectedOf(declare("desk/a"), declare("desk/b", { provider_aliases: ["desk/a"] }))).toEqual([
      "desk/b",
    ]);
  });

  it("that comes after one with its name is rejected, or it would lift what guards the first", async () => {
    const guarded = declare(NAME, { action_policy: "preview" });
    expect(await rejectedOf(guarded, declare(NAME, { action_policy: "direct" }))).toEqual([NAME]);
  });

  it("that is rejected still keeps its names from clients", async () => {
    const client = { name: "client/x", description: "Picks.", provider_aliases: ["desk__refund"] };
    const broken = declare(NAME, { action_policy: "never" });
    expect(await rejectedOf(client, broken, declare("desk/other"))).toEqual([NAME, "client/x"]);
  });

  it("of a client cannot take the calls of the host's tools, wherever it stands", async () => {
    const client = { name: "client/x", description: "Picks.", provider_aliases: ["desk__refund"] };
    expect(await rejectedOf(client, declare(NAME))).toEqual(["client/x"]);
  });
});

describe("the names that providers send", () => {
  it("count for rules and budgets as the tools they stand for", async () => {
    const names = ["desk__open", "desk__read", "desk__read"];
    const model: TurnRunner = () => ({
      tool_calls: names.map((name, index) => ({ id: `c${index}`, name, parameters: {} })),
    });
    const declared = ["desk/open", "desk/read", "desk/close"];
    const toolDeclarations = declared.map((name) => ({ name, source: "desk", description: "Does it." }));
    const run = (options: RunOptions) =>
      runConversation([{ role: "user", content: "go" }], model, {
        toolDeclarations,
        toolExecutor: () => "ok",
        ...options,
      });
    const rule = {
      after_tool: "desk/open",
      limited_tools: ["desk/read"],
      max_calls: 1,
      require_one_of: ["desk/close"],
    };
    expect((await run({ toolCallRules: [rule] })).tool_execution_results.map(errorTypeOf)).toEqual([
      undefined,
      undefined,
      "tool_call_gate_rejected",
    ]);
    const sent = {
      after_tool: "desk__open",
      limited_tools: ["desk__read"],
      max_calls: 1,
      require_one_of: ["desk__close"],
    };
    expect((await run({ toolCallRules: [sent] })).tool_execution_results.map(errorTypeOf)).toEqual([
      undefined,
      undefined,
      "tool_call_gate_rejected",
    ]);
    const alternating = await runConversation(
      [{ role: "user", content: "go" }],
      (_messages, { turn }) => ({
        tool_calls: [{ id: `c${turn}`, name: Number(turn) % 2 ? "desk/read" : "desk__read" }],
      }),
      { maxTurns: 9, toolDeclarations, toolExecutor: () => "ok", spinDetector: { threshold: 3 } },
    );
    expect(alternating).toMatchObject({ status: "stalled", turn_count: 3 });
    const limited = await run({ budgets: [{ name: "tool_calls_desk/read", ceiling: 1 }] });
    expect(limited.budget).toBe("tool_calls_desk/read");
  });
});

function errorTypeOf({ result }: JsonMap): unknown {
  return (result as { metadata: JsonMap }).metadata.error_type;
}

describe("the visibility policy", () => {
  const seenWith = async (options: RunOptions) => {
    let seen: string[] = [];
    const model: TurnRunner = (_messages, _context, { tools: shown }) => {
      seen = Object.keys(shown);
      return { tool_calls: [] };
    };
    const toolExecutor = () => "ok";
    await runConversation([{ role: "user", content: "go" }], model, {
      toolDeclarations: tools,
      toolExecutor,
      ...options,
    });
    return seen;
  };
  const tools = ["desk/read", "desk/refund"].map((name) => ({ name, source: "desk", description: "Does it." }));

  it("is asked once a turn, however many calls the turn makes", async () => {
    let asked = 0;
    let turns = 0;
    const calls = (turn: number) => ["a", "b"].map((id) => ({ id: `${id}${turn}`, name: "desk/read", parameters: {} }));
    const model: TurnRunner = () => ({ tool_calls: turns++ < 3 ? calls(turns) : [] });
    const provider = () => {
      asked++;
      return null;
    };
    await runConversation([{ role: "user", content: "go" }], model, {
      maxTurns: 4,
      toolDeclarations: tools,
      toolExecutor: () => "ok",
      toolPolicyProviders: [provider],
    });
    expect([turns, asked]).toEqual([4, 4]);
  });

  it("may change its mind between turns", async () => {
    const seen: string[][] = [];
    const model: TurnRunner = (_messages, { turn }, { tools: shown }) => {
      seen.push(Object.keys(shown));
      return { tool_calls: turn === 3 ? [] : [{ id: `c${turn}`, name: "desk/refund", parameters: {} }] };
    };
    const result = await runConversation([{ role: "user", content: "go" }], model, {
      maxTurns: 3,
      toolDeclarations: tools,
      toolExecutor: () => "ok",
      toolPolicyProviders: [({ turn }) => (turn === 2 ? { deny: ["desk/refund"] } : null)],
    });
    expect(seen).toEqual([["desk/read", "desk/refund"], ["desk/read"], ["desk/read", "desk/refund"]]);
    expect(result.tool_execution_results).toMatchObject([
      { result: { success: true } },
      { result: { success: false } },
    ]);
  });

  it("decides what a provider is sent", async () => {
    let sent: string[] = [];
    await runConversation([{ role: "user", content: "go" }], null, {
      toolDeclarations: tools,
      toolExecutor: () => "ok",
      toolPolicy: { deny: ["desk/refund"] },
      providerTurnAdapter: ({ tool_declarations }) => {
        sent = Object.keys(tool_declarations);
        return { content: "done" };
      },
    });
    expect(sent).toEqual(["desk/read"]);
  });

  it("fails the run when a provider throws, before the model is asked", async () => {
    let asked = false;
    const model: TurnRunner = () => {
      asked = true;
      return { tool_calls: [] };
    };
    const result = await runConversation([{ role: "user", content: "go" }], model, {
      toolDeclarations: tools,
      toolExecutor: () => "ok",
      toolPolicyProviders: [() => Promise.reject(new Error("policy store is down"))],
    });
    expect([asked, result.status, result.failure?.message]).toEqual([false, "failed", "policy store is down"]);
  });

  it("lets a filter name what is shown, as a list or a map", async () => {
    for (const answer of [["desk/read"], { "desk/read": {} }]) {
      const hooks = createHooks();
      hooks.filter("resolvedTools", () => answer);
      expect(await seenWith({ hooks })).toEqual(["desk/read"]);
    }
  });

  it.each([1, "no", {}, { code: "denied", message: "no" }])(
    "takes %j from an access checker for a no",
    async (answer) => {
      expect(await seenWith({ toolAccessChecker: () => answer })).toEqual([]);
    },
  );

  it("is stored with its first answer, so that a tool that is added later is not shown without it", () => {
    const made = machine({ toolPolicyProviders: [() => null] });
    made.bring();
    made.bring(returned(["ability/save", "ability/peek"]));
    expect(made.bodies).toContainEqual({ to: "tools", names: ["ability/save", "ability/peek"] });
  });

  it("keeps the secrets of a tool that it hides", async () => {
    const hidden = { ...tools[1], sensitive_parameters: ["pin"] };
    const model: TurnRunner = () => ({
      tool_calls: [{ id: "c1", name: "desk/refund", parameters: { pin: "4711-planted" } }],
    });
    const result = await runConversation([{ role: "user", content: "go" }], model, {
      toolDeclarations: [hidden],
      toolExecutor: () => "ok",
      toolPolicy: { deny: ["desk/refund"] },
    });
    expect(JSON.stringify(result.messages)).not.toContain("4711-planted");
    expect(JSON.stringify(result.tool_audit_events)).not.toContain("4711-planted");
  });
});
