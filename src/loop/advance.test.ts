import { describe, expect, it } from "vitest";
import { asked, brought, call, calls, machine, playInEveryWay, returned } from "../../test/machine.ts";
import * as message from "../contracts/conversation/message.ts";
import * as toolPairs from "../contracts/conversation/tool-pairs.ts";
import { createHooks } from "../contracts/hooks.ts";
import type { Arrived } from "./next.ts";
import type { RunOptions } from "./options.ts";
import { runConversation } from "./run-conversation.ts";
import { fold } from "./state.ts";

const filtered = () => {
  const hooks = createHooks();
  hooks.filter("preToolCallDecision", (decision) => decision);
  return hooks;
};
const asksAll = { preToolMediator: () => null, hooks: filtered() };
const anchored = [
  { after_tool: "ability/save", limited_tools: ["ability/peek"], max_calls: 1, require_one_of: ["ability/save"] },
];

describe("who decides about a call", () => {
  it("is nobody when nobody is there to ask", () => {
    const { bring } = machine();
    expect(asked(bring())).toBe("call_model");
    expect(asked(bring(calls(call("a"))))).toBe("run_tool");
  });

  it("is the mediator first, then the filter with the mediator's decision in hand", () => {
    const { bring } = machine(asksAll);
    bring();
    expect(asked(bring(calls(call("a"))))).toBe("mediator");
    const next = bring(returned({ action: "reject", error: "not now" }));
    expect(next).toMatchObject({ question: { hook: "decision_filter", decision: { action: "reject" } } });
    expect(asked(bring(returned({ action: "proceed" })))).toBe("run_tool");
  });

  it("is the gate before the mediator, which a gated call never reaches, but not before the filter", () => {
    const { bring } = machine({ ...asksAll, toolCallRules: anchored });
    bring();
    expect(asked(bring(calls(call("a"), call("b", "ability/peek"), call("c", "ability/peek"))))).toBe("mediator");
    expect(asked(bring(returned(null)))).toBe("decision_filter");
    expect(asked(bring(returned(null)))).toBe("run_tool");
    expect(asked(bring(returned("saved")))).toBe("mediator");
    bring(returned(null));
    bring(returned(null));
    const gated = bring(returned("peeked"));
    expect(gated).toMatchObject({
      question: {
        hook: "decision_filter",
        decision: { action: "reject", result: { metadata: { error_type: "tool_call_gate_rejected" } } },
      },
    });
    expect(asked(bring(returned({ action: "proceed" })))).toBe("run_tool");
  });

  it.each([
    ["proceed", { action: "proceed" }, "run_tool"],
    ["reject", { action: "reject" }, "call_model"],
    ["replace_result", { action: "replace_result", result: { success: true, result: 1 } }, "call_model"],
    ["replace_result without a result", { action: "replace_result" }, "run_tool"],
    ["pending", { action: "pending" }, "end"],
    ["reject and complete", { action: "reject", complete: true }, "end"],
    ["nothing", null, "run_tool"],
    ["something else", { action: "explode" }, "run_tool"],
  ])("decides %s, and the run goes on from there", (_title, decision, next) => {
    const { bring } = machine({ preToolMediator: () => null });
    bring();
    bring(calls(call("a")));
    expect(asked(bring(returned(decision)))).toBe(next);
  });

  it("lets a call proceed when the mediator throws", () => {
    const { bring } = machine({ preToolMediator: () => null });
    bring();
    bring(calls(call("a")));
    expect(asked(bring({ threw: new Error("mediator") }))).toBe("run_tool");
  });

  it("is asked about calls that cannot run too, which then get their error as a result", () => {
    const { bring, working } = machine({ preToolMediator: () => null });
    bring();
    expect(bring(calls(call("a", "ability/unknown")))).toMatchObject({
      question: { hook: "mediator", context: { prepared_tool_call: null, tool_declaration: null } },
    });
    expect(asked(bring(returned(null)))).toBe("call_model");
    expect(working.run.executions[0]?.result).toMatchObject({ metadata: { error_type: "tool_not_found" } });
  });
});

describe("a batch", () => {
  it("is taken one call after another, and what is no call is passed over", () => {
    const { bring, working } = machine();
    bring();
    expect(bring(calls("nonsense", call("a"), { name: "" }, call("b")))).toMatchObject({
      order: { call: { id: "a" } },
    });
    expect(bring(returned(1))).toMatchObject({ order: { call: { id: "b" } } });
    expect(asked(bring(returned(2)))).toBe("call_model");
    expect(working.run.executions).toHaveLength(2);
  });

  it("gives calls without an id one that says where they stand", () => {
    const { bring } = machine();
    bring();
    expect(bring(calls({ name: "ability/save" }))).toMatchObject({ order: { call: { id: "tool-call-1-1" } } });
  });

  it("records that an effect begins before it is ordered, and only once", () => {
    const made = machine();
    made.bring();
    made.bring(calls(call("a")));
    const begun = () => made.records.filter(({ fact }) => fact.type === "begun").length;
    expect(made.state().in_flight).toEqual({ kind: "run_tool", call: 0 });
    expect(begun()).toBe(2);
    made.restart();
    expect(made.bring()).toMatchObject({ kind: "effect", order: { kind: "run_tool", call: { id: "a" } } });
    expect(begun()).toBe(2);
  });
});

describe("a completion that the rules do not allow yet", () => {
  it("gets the model another turn, with the reason, whatever the continuation policy says", () => {
    const { bring, working } = machine({ toolCallRules: [{ require_tool_use: true }], shouldContinue: null });
    bring();
    expect(asked(bring(returned({ content: "done", tool_calls: [] })))).toBe("call_model");
    expect(working.transcript.at(-1)).toMatchObject({
      role: "user",
      metadata: { type: "tool_call_gate_completion_blocked" },
    });
  });

  it("ends the run all the same when there is no turn left", () => {
    const { bring } = machine({ toolCallRules: [{ require_tool_use: true }], maxTurns: 1 });
    bring();
    expect(asked(bring(returned({ content: "done", tool_calls: [] })))).toBe("end");
  });
});

const waitsOutside = { success: false, status: "runtime_tool_pending", metadata: { why: "outside" } };
const asksApproval = (action_id?: string) => ({
  ...{ schema: "agents-api.message", version: 1, type: "approval_required", role: "tool", content: "May I?" },
  payload: action_id === undefined ? {} : { action_id },
});

describe("a call that waits for somebody outside", () => {
  it("ends a run that cannot wait", () => {
    const { bring, state } = machine();
    bring();
    bring(calls(call("a"), call("b")));
    expect(asked(bring(returned(waitsOutside)))).toBe("end");
    expect(state().stops).toHaveProperty("pending");
  });

  it("parks a run that can, under the id of its request", () => {
    const { bring, state } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a"), call("b")));
    const parked = bring(returned(waitsOutside));
    expect(parked).toMatchObject({
      kind: "park",
      call: 0,
      request_id: expect.stringMatching(/^request-[0-9a-f]{32}$/),
    });
    expect(state().stops).toEqual({});
    expect(bring()).toEqual(parked);
  });

  it("gets the result that is brought, and the batch goes on where it stood", () => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a"), call("b")));
    const parked = bring(returned(waitsOutside));
    const outcome = { returned: { success: true, result: "from outside" } };
    expect(bring(brought(parked, outcome))).toMatchObject({ order: { call: { id: "b" } } });
    expect(asked(bring(returned("saved")))).toBe("call_model");
    expect(working.run.executions.map(({ tool_call_id, result }) => ({ tool_call_id, result }))).toMatchObject([
      { tool_call_id: "a", result: { success: true, result: "from outside" } },
      { tool_call_id: "b", result: { success: true, result: "saved" } },
    ]);
    expect(toolPairs.validate(working.transcript)).toEqual([]);
  });

  it("gets an error when waiting for it failed, and the batch goes on", () => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a"), call("b")));
    const parked = bring(returned(waitsOutside));
    expect(bring(brought(parked, { threw: new Error("timed out") }))).toMatchObject({ order: { call: { id: "b" } } });
    expect(working.run.executions[0]?.result).toMatchObject({ success: false, error: "timed out" });
  });

  it("is still parked after a restart", () => {
    const made = machine({}, { waiting: "park" });
    made.bring();
    made.bring(calls(call("a"), call("b")));
    const parked = made.bring(returned(waitsOutside));
    made.restart();
    expect(made.bring()).toEqual(parked);
    const outcome = { returned: { success: true, result: 1 } };
    expect(made.bring(brought(parked, outcome))).toMatchObject({ order: { call: { id: "b" } } });
  });

  it("is parked under a name that no other call has, whatever the action or the call is called", () => {
    const names = ["act-1", "act-1", undefined, undefined].map((action, run) => {
      const { bring } = machine({ newId: () => `run ${run}` }, { waiting: "park" });
      bring();
      bring(calls(call("a"), call("b")));
      const parked = bring(returned(asksApproval(action)));
      return parked.kind === "park" ? parked.request_id : parked.kind;
    });
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^request-[0-9a-f]{32}$/);
  });

  it("is run to its end once it is approved, and the question stays in the transcript", () => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a"), call("b")));
    const parked = bring(returned(asksApproval("act-1")));
    const outcome = { returned: { success: true, result: "published" } };
    expect(bring(brought(parked, outcome))).toMatchObject({ order: { call: { id: "b" } } });
    expect(working.transcript.map(({ type }) => type)).toEqual([
      "text",
      "tool_call",
      "approval_required",
      "tool_result",
      "tool_call",
    ]);
    expect(toolPairs.validate(working.transcript.slice(0, 4))).toEqual([]);
  });

  it("takes nothing but what is brought for its own request, and that once", () => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a"), call("b")));
    const parked = bring(returned(waitsOutside));
    expect(bring({ call: 0, request_id: "another", outcome: { returned: "stray" } })).toEqual(parked);
    expect(() => bring(returned("nobody's"))).toThrow("name its request");
    bring(brought(parked, { returned: { success: true, result: 1 } }));
    expect(() => bring(brought(parked, { returned: { success: true, result: 2 } }))).toThrow("Nothing is waited for");
    expect(working.run.executions).toHaveLength(1);
  });

  it.each([
    ["is told when its own proposal was rejected", { decision: "rejected", reason: "no" }, "approval_rejected"],
    ["gets the result of its own proposal", { decision: "accepted", result: "published" }, undefined],
    [
      "is an error when it was accepted and nobody says what came of it",
      { decision: "accepted" },
      "runtime_tool_failed",
    ],
  ])("%s", (_title, returnedValue, errorType) => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a")));
    const parked = bring(returned(asksApproval("act-1")));
    bring(brought(parked, { returned: returnedValue }));
    const result = working.run.executions[0]?.result as { metadata: { error_type?: string } };
    expect(result.metadata.error_type).toBe(errorType);
  });

  it("that is stopped while its own proposal waits may have done something", () => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a")));
    bring(returned(asksApproval("act-1")));
    bring({ stop: message.text("user", "Stop."), performed: false });
    expect(working.run.executions[0]?.result).toMatchObject({ metadata: { error_type: "outcome_unknown" } });
  });

  it("keeps the log and the state small, whatever the request is called", () => {
    const { bring, state } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a")));
    expect(bring(returned(asksApproval("x".repeat(5000))))).toMatchObject({
      request_id: expect.stringMatching(/^request-/),
    });
    expect(JSON.stringify(state()).length).toBeLessThan(3000);
  });

  it("is handed to the store first when there is one, and waits only when that worked", () => {
    const runtimeToolStore = {} as NonNullable<RunOptions["runtimeToolStore"]>;
    for (const rules of [{ waiting: "park" }, { waiting: "end" }] as const) {
      const { bring, working } = machine({ runtimeToolStore }, rules);
      bring();
      bring(calls(call("a")));
      expect(asked(bring(returned(waitsOutside)))).toBe("store_request");
      expect(asked(bring({ threw: new Error("disk full") }))).toBe("call_model");
      expect(working.run.executions[0]?.result).toMatchObject({
        error: expect.stringContaining("disk full"),
        metadata: { error_type: "runtime_tool_request_failed" },
      });
    }
  });
});

describe("a wish to stop", () => {
  const wish = (performed: boolean): Arrived => ({
    stop: message.text("user", "Stop.", { interrupt_action: "cancel" }),
    performed,
  });

  it.each([
    ["before the first step", [], {}],
    ["while the model is asked", [undefined], {}],
    ["while a tool runs", [undefined, calls(call("a"), call("b"))], { a: "outcome_unknown" }],
    [
      "while the second tool runs",
      [undefined, calls(call("a"), call("b")), returned(1)],
      { a: undefined, b: "outcome_unknown" },
    ],
  ] as [string, (Arrived | undefined)[], object][])(
    "%s ends the run with every call answered",
    (_when, brought, ends) => {
      const { bring, working, state } = machine();
      for (const arrived of brought) bring(arrived);
      expect(bring(wish(true))).toEqual({ kind: "end" });
      expect(state()).toMatchObject({ position: "ended", stops: { interrupted: true } });
      expect(toolPairs.validate(working.transcript)).toEqual([]);
      const errors = working.run.executions.map(({ tool_call_id, result }) => [
        tool_call_id,
        (result as { metadata: { error_type?: string } }).metadata.error_type,
      ]);
      expect(Object.fromEntries(errors)).toEqual(ends);
    },
  );

  it("cancels a tool that was ordered and never begun", () => {
    const { bring, working } = machine();
    bring();
    bring(calls(call("a")));
    bring(wish(false));
    expect(working.run.executions[0]?.result).toMatchObject({ metadata: { error_type: "cancelled" } });
  });

  it("ends a parked run with its call answered", () => {
    const { bring, working } = machine({}, { waiting: "park" });
    bring();
    bring(calls(call("a"), call("b")));
    bring(returned(waitsOutside));
    expect(bring(wish(false))).toEqual({ kind: "end" });
    expect(toolPairs.validate(working.transcript)).toEqual([]);
  });

  it("keeps what the model had said until then, before the stop itself", () => {
    const said = message.text("assistant", "As I was say");
    const { machine: made } = playInEveryWay(machine, [undefined, { ...wish(true), said } as Arrived]);
    expect(made.working.transcript.map(({ content }) => content)).toEqual(["go", "As I was say", "Stop."]);
  });

  it("has nothing to keep when it is not the model that was stopped", () => {
    const said = { ...wish(true), said: message.text("assistant", "stale") } as Arrived;
    for (const script of [[], [undefined, calls(call("a"))], [undefined, { postponed: { until: 9 } }]]) {
      const { bring, working } = machine();
      for (const arrived of script) bring(arrived);
      bring(said);
      expect(JSON.stringify(working.transcript)).not.toContain("stale");
    }
  });

  it("changes nothing once the run has ended", () => {
    const { bring, state } = machine();
    bring();
    bring(returned({ content: "done", tool_calls: [] }));
    const before = state();
    expect(bring(wish(false))).toEqual({ kind: "end" });
    expect(state()).toEqual(before);
  });
});

describe("a tool that is meant to be called over and over", () => {
  const declared = (name: string, more = {}) => ({
    name,
    source: "abilities",
    description: "Does something.",
    ...more,
  });
  const guarded: RunOptions = {
    maxTurns: 9,
    toolDeclarations: {
      "ability/save": declared("ability/save"),
      "ability/poll": declared("ability/poll", { repeatable: true }),
    },
    spinDetector: { threshold: 2 },
    identicalFailureTracker: { threshold: 2 },
  };
  const same = (name: string) => ({ name, parameters: {} });

  it("neither stalls a run nor gets the model told that it keeps failing", () => {
    for (const name of ["ability/poll", "ability__poll"]) {
      const { bring, state, working } = machine(guarded);
      bring();
      for (let poll = 0; poll < 4; poll++) {
        expect(asked(bring(calls(same(name))))).toBe("run_tool");
        expect(asked(bring({ threw: new Error("not yet") }))).toBe("call_model");
      }
      expect(state()).toMatchObject({ spin: null, failures: null });
      expect(working.transcript).toHaveLength(9);
    }
  });

  it("is passed over by the guards, which go on counting the others", () => {
    const { bring, state } = machine(guarded);
    bring();
    for (const name of ["ability/save", "ability/poll", "ability/save"]) {
      bring(calls(same(name)));
      bring(returned(1));
    }
    expect(state().stops).toHaveProperty("stalled");
  });

  it("is so in a conversation in memory too", async () => {
    const options = { ...guarded, toolExecutor: () => "not yet" };
    const polls = (name: string) =>
      runConversation([message.text("user", "go")], () => ({ tool_calls: [same(name)] }), options);
    expect(await polls("ability/save")).toMatchObject({ status: "stalled", turn_count: 2 });
    expect(await polls("ability/poll")).toMatchObject({ completed: true, turn_count: 9 });
  });
});

describe("an answer that breaks the contract", () => {
  it.each([
    ["not a map", 7, { isReported: true, error: { code: "invalid_agent_conversation_loop" } }],
    [
      "a transcript that is none",
      { messages: [{ role: "" }] },
      { error: { code: "invalid_agent_conversation_result" } },
    ],
    [
      "a transcript beside calls",
      { messages: [7], tool_calls: [] },
      { error: { code: "invalid_ai_message_envelope" } },
    ],
    ["events that are none", { messages: [], events: [7] }, { error: { code: "invalid_agent_conversation_loop" } }],
  ])("is refused with its code: %s", (_title, answer, refused) => {
    const { bring, working } = machine();
    bring();
    expect(bring(returned(answer))).toMatchObject({ kind: "refuse", ...refused });
    expect(working.transcript).toHaveLength(1);
  });

  it("ends the run as failed when the error is brought back, so that a stored run does not refuse it for ever", () => {
    for (const answer of [7, { messages: [{ role: "" }] }]) {
      const made = machine();
      made.bring();
      const refused = made.bring(returned(answer));
      if (refused.kind !== "refuse") expect.fail("the answer was not refused");
      made.restart();
      expect(made.bring({ threw: refused.error })).toEqual({ kind: "end" });
      expect(made.working.run.failure).toMatchObject({ code: refused.error.code });
    }
  });

  it("holds for an interrupt that is no message too, and nothing is lost that was said before it", () => {
    const made = machine({ maxTurns: 2, interruptSource: () => null });
    made.bring();
    made.bring(calls(call("a")));
    expect(asked(made.bring(returned("saved")))).toBe("interrupt");
    const refused = made.bring(returned({ role: "" }));
    if (refused.kind !== "refuse") expect.fail("the interrupt was not refused");
    made.restart();
    expect(made.bring({ threw: refused.error })).toEqual({ kind: "end" });
    expect(made.working.run.failure).toMatchObject({ code: "invalid_ai_message_envelope" });
    expect(made.working.transcript.map(({ type }) => type)).toEqual(["text", "tool_call", "tool_result"]);
  });
});

describe("the records", () => {
  it("lead to the very state that the machine stood in, at every step", () => {
    const made = machine({ budgets: [{ name: "tool_calls", ceiling: 9 }], toolCallRules: anchored, ...asksAll });
    const script = [
      undefined,
      calls(call("a"), call("b", "ability/peek")),
      returned(null),
      returned({ action: "reject" }),
    ];
    for (const arrived of script) {
      made.bring(arrived);
      expect(fold(made.records)).toEqual(made.state());
    }
  });

  it("are numbered without a gap and name the position that follows", () => {
    const { bring, records, state } = machine();
    bring();
    bring(calls(call("a")));
    bring(returned(1));
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
    expect(records.at(-1)?.to).toBe(state().position);
  });

  it("hold no content: neither what was said nor what a tool was given or gave back", () => {
    const { bring, records } = machine();
    bring();
    bring(
      returned({
        content: "confidential-words",
        tool_calls: [{ id: "a", name: "ability/save", parameters: { x: "confidential-parameter" } }],
      }),
    );
    bring(returned("confidential-result"));
    expect(JSON.stringify(records)).not.toContain("confidential");
  });
});

describe("a call to a tool that there is not", () => {
  const misspelt = { id: "a", name: "ability/save_", parameters: { pin: "4711-planted", note: { of: "it" } } };
  const shownOf = (rules: Parameters<typeof machine>[1], options: RunOptions = {}) => {
    const { bring, working } = machine(options, rules);
    bring();
    bring(calls(misspelt));
    return working.transcript.find(({ type }) => type === "tool_call")?.payload.parameters;
  };

  it("shows its parameters as the contract has it", () => {
    expect(shownOf({})).toEqual({ pin: "4711-planted", note: { of: "it" } });
  });

  it("shows none of them where calls are written down: nobody has said what is secret", () => {
    expect(shownOf({ undeclared: "hide" })).toEqual({ pin: "[redacted]", note: "[redacted]" });
  });

  it("shows none of them either when it never has its turn", () => {
    const { bring, working } = machine(
      { budgets: [{ name: "tool_calls", ceiling: 1 }] },
      { undeclared: "hide", rest: "settle" },
    );
    bring();
    bring(calls(call("b"), misspelt));
    bring(returned(1));
    expect(JSON.stringify(working.transcript)).not.toContain("4711-planted");
  });
});
