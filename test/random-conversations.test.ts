// Promise: what holds for the conversations somebody thought of holds for those nobody did. Conversations are made up at
// random; each must come out the same when it is cut off anywhere, keep calls and results together, and hide secrets.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LoopScript, scriptRun } from "../conformance/scripts/loop.ts";
import type { ConversationResult } from "../src/contracts/conversation/result.ts";
import * as result from "../src/contracts/conversation/result.ts";
import * as toolPairs from "../src/contracts/conversation/tool-pairs.ts";
import type { Json, JsonMap } from "../src/contracts/json.ts";
import { advance } from "../src/loop/advance.ts";
import { attempt } from "../src/loop/attempt.ts";
import { callbacks } from "../src/loop/callbacks.ts";
import { configure } from "../src/loop/configure.ts";
import type { Arrived } from "../src/loop/next.ts";
import { initialState, type State } from "../src/loop/state.ts";
import { startWorking } from "../src/loop/working.ts";
import { firstFailure } from "./first-failure.ts";
import { asStored, runWithLog, type StoredScript } from "./log-driver.ts";

const SECRET = "hunter2-planted";

const declare = (name: string, more: JsonMap = {}): JsonMap => ({
  name,
  source: "abilities",
  description: "Does something.",
  ...more,
});
const tools: JsonMap = {
  "ability/search": declare("ability/search", {
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    sensitive_parameters: ["pin"],
  }),
  "ability/save": declare("ability/save"),
  "ability/peek": declare("ability/peek"),
};

const sometimes = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const word = fc.constantFrom("a", "b", "done", "straße", "x".repeat(200));
const textMessage = fc.record({ role: fc.constantFrom("user", "assistant", "system"), content: word });

const toolCall = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        id: fc.constantFrom("c1", "c2", "c3", " "),
        name: fc.constantFrom("ability/search", "ability/save", "ability__save", "ability/peek", "ability/unknown"),
        parameters: fc.record(
          {
            query: word,
            api_key: fc.constant(SECRET),
            deep: fc.constant({ token: SECRET, list: [{ cookie: SECRET }] }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["name"] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constant({ id: "c4", name: "ability/search", parameters: { query: "q", pin: SECRET } }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Json[]>("nonsense", null, {}, { name: "" }, { name: 7, parameters: {} }) },
);

const usage = fc.record({ prompt_tokens: fc.nat(9), total_tokens: fc.nat(9), model: word }, { requiredKeys: [] });
const said = {
  content: word,
  usage,
  metadata: fc.constant({ a: 1 }),
  request_metadata: fc.constant({ id: "r" }),
  provider_diagnostics: fc.constant({ latency: 1 }),
};
const turn: fc.Arbitrary<JsonMap> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        ...said,
        tool_calls: fc.array(toolCall, { maxLength: 3 }),
        continuation_messages: fc.array(textMessage, { maxLength: 2 }),
      },
      { requiredKeys: ["tool_calls"] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { ...said, tool_calls: fc.array(toolCall, { maxLength: 2 }), append_messages: fc.array(textMessage) },
      { requiredKeys: ["append_messages"] },
    ),
  },
  { weight: 1, arbitrary: fc.constant({ throws: "down", throw_code: 503 }) },
  { weight: 1, arbitrary: fc.constant({ failure: { type: "quota", message: "spent" } }) },
  { weight: 1, arbitrary: fc.constantFrom<JsonMap[]>({ returns: 7 }, { messages: [{ role: "" }] }, {}) },
) as fc.Arbitrary<JsonMap>;

const toolAnswer: fc.Arbitrary<{ result?: Json; throws?: string }> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ result: fc.constantFrom<Json[]>({ ok: true }, "text", null, [1], "x".repeat(300)) }),
  },
  {
    weight: 2,
    arbitrary: fc.constant({ result: { success: false, error: "no", metadata: { error_type: "denied" } } }),
  },
  { weight: 1, arbitrary: fc.constant({ throws: "broken" }) },
  { weight: 1, arbitrary: fc.constant({ result: { success: false, status: "runtime_tool_pending" } }) },
  { weight: 1, arbitrary: fc.record({ result: approval() }) },
);

function approval(): fc.Arbitrary<Json> {
  const envelope = {
    schema: "agents-api.message",
    version: 1,
    type: "approval_required",
    role: "tool",
    content: "May I?",
  };
  return fc.constantFrom<Json[]>({ ...envelope, payload: { action_id: "act" } }, { ...envelope, payload: {} });
}

const decision = fc.constantFrom<Json[]>(
  null,
  "nonsense",
  { action: "proceed" },
  { action: "reject", error: "not now" },
  { action: "reject", complete: true },
  { action: "replace_result", result: { success: true, result: "instead" } },
  { action: "replace_result", result: { success: true, result: "instead" }, complete: true },
  { action: "pending", metadata: { why: "outside" } },
  { throws: "mediator" },
);
const completion = fc.constantFrom<Json[]>(
  { complete: false, message: "" },
  { complete: false, message: "go on", context: { a: 1 } },
  { complete: true },
  null,
  { throws: "policy" },
);
const interrupt = fc.constantFrom<Json[]>(
  null,
  "nonsense",
  { role: "user", content: "also this" },
  { role: "user", content: "stop", metadata: { action: "cancel" } },
  { role: "user", content: "other", metadata: { interrupt_action: "redirect" } },
  { throws: "source" },
);
const budgets = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("turns", "tool_calls", "tool_calls_ability/save", "wall_clock_seconds"),
    ceiling: fc.integer({ min: 1, max: 5 }),
  }),
  { selector: ({ name }) => name },
);
const compactionPolicy = fc.oneof(
  fc.record({ enabled: fc.constant(true), max_messages: fc.integer({ min: 2, max: 6 }), recent_messages: fc.nat(3) }),
  fc.record({
    overflow_archive_enabled: fc.constant(true),
    overflow_threshold_bytes: fc.constantFrom(500, 2000),
    overflow_retained_messages: fc.integer({ min: 1, max: 4 }),
  }),
);
const rule = fc.constantFrom<JsonMap[]>(
  {
    id: "first",
    after_tool: "ability/search",
    limited_tools: ["ability/peek"],
    max_calls: 1,
    require_one_of: ["ability/save"],
  },
  { require_tool_use: true },
  { require_tool_use: true, min_tool_calls: 3 },
);
const options = fc.record(
  {
    max_turns: fc.integer({ min: 1, max: 4 }),
    tool_declarations: fc.constant(tools),
    budgets,
    compaction_policy: compactionPolicy,
    tool_call_rules: fc.array(rule, { maxLength: 2 }),
    context: fc.constantFrom<JsonMap[]>(
      { tenant: "t" },
      { deny: ["ability/save"] },
      { action_policy: { tools: { "ability/save": "preview" } } },
    ),
    run_id: fc.constant("run-1"),
    session_id: fc.constant("session-1"),
  },
  { requiredKeys: ["max_turns", "tool_declarations"] },
);

const fragment = fc.constantFrom<Json[]>(
  null,
  { deny: ["ability/peek"] },
  { mode: "allow", tools: ["ability/search", "ability/save"] },
  { mode: "allow" },
  { mandatory_tools: ["ability/save"], allow_only: ["ability/search"] },
  { throws: "policy" },
);
const actionPolicy = fc.constantFrom<Json[]>(null, "direct", "direct", "preview", "forbidden", { throws: "policy" });

const broughtValue = fc.constantFrom<Json[]>(
  { decision: "accepted" },
  { decision: "accepted", result: "done" },
  { decision: "rejected", reason: "no" },
  { success: true, result: "from outside" },
  "nonsense",
);

const waitingInbox = fc.oneof(
  fc.record({ messages: fc.array(textMessage, { maxLength: 2 }), calls: fc.array(toolCall, { maxLength: 3 }) }),
  fc.constantFrom<Json[]>({ messages: [], calls: [] }, { messages: [7], calls: [] }, "nonsense", { throws: "inbox" }),
);

const answers = fc.oneof(toolAnswer, fc.array(toolAnswer, { minLength: 1, maxLength: 3 }));
const listOf = <Entry>(entry: fc.Arbitrary<Entry>) => sometimes(fc.array(entry, { maxLength: 4 }));

const script = fc
  .record({
    messages: fc.array(textMessage, { minLength: 1, maxLength: 5 }),
    options,
    turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
    executor: fc.record({ "ability/search": answers, "ability/save": answers, "ability/peek": answers }),
    mediator: listOf(decision),
    filter_decisions: listOf(decision),
    audit_filter: sometimes(fc.constantFrom<Json[]>({ shown: 1 }, "nonsense")),
    completion: listOf(completion),
    interrupts: listOf(interrupt),
    should_continue: sometimes(fc.option(fc.array(fc.boolean(), { maxLength: 4 }))),
    spin_threshold: sometimes(fc.constantFrom(2, 3)),
    identical_failure_threshold: sometimes(fc.constant(2)),
    truncate_bytes: sometimes(fc.constantFrom(1, 150)),
    summarizer: fc.array(fc.constantFrom<Json[]>("sum", "", { throws: "summary" }), { minLength: 1, maxLength: 2 }),
    diagnostics: listOf(fc.constantFrom<Json[]>({ cost: 1 }, null, { throws: "diagnostics" })),
    runtime_store: sometimes(fc.constant(true)),
    policy_fragments: listOf(fragment),
    action_policies: listOf(actionPolicy),
    pending_store: sometimes(fc.constantFrom(true, "throws" as const)),
    brought: listOf(broughtValue),
    settles_rest: fc.boolean(),
    inbox: listOf(waitingInbox),
    postpones: listOf(fc.boolean()),
    stopped_at: sometimes(fc.nat(40)),
    cancel_on: sometimes(
      fc.record({
        event: fc.constantFrom("turn_started", "tool_call", "tool_result"),
        count: fc.integer({ min: 1, max: 3 }),
      }),
    ),
  })
  .map((made) => asStored(made) as unknown as StoredScript);

describe("a conversation nobody thought of", () => {
  it("comes out the same when it is cut off after any commit", async () => {
    await everyScript({ numRuns: 120 }, async (given) => {
      const undisturbed = await runWithLog(given);
      for (let commit = 0; commit < undisturbed.commits; commit++) {
        const resumed = await runWithLog(given, commit);
        expect(asStored(resumed.outcome), `after commit ${commit}`).toEqual(asStored(undisturbed.outcome));
        expect(asStored(resumed.seen), `seen after commit ${commit}`).toEqual(asStored(undisturbed.seen));
      }
    });
  });

  it("comes out the same when it is taken down and up again after any commit", async () => {
    await everyScript({ numRuns: 120 }, async (given) => {
      const undisturbed = await runWithLog(given, undefined, "kept");
      for (let commit = 0; commit < undisturbed.commits; commit++) {
        const resumed = await runWithLog(given, commit, "kept");
        expect(asStored(resumed.outcome), `after commit ${commit}`).toEqual(asStored(undisturbed.outcome));
        expect(asStored(resumed.seen), `seen after commit ${commit}`).toEqual(asStored(undisturbed.seen));
        expect(asStored(resumed.records), `records after commit ${commit}`).toEqual(asStored(undisturbed.records));
      }
    });
  });

  it("leaves no call of an answer or a queue without its result where the rest is settled", async () => {
    await everyScript({ numRuns: 400 }, async (given) => {
      const { outcome, records } = await runWithLog({ ...given, settles_rest: true });
      if ((outcome as JsonMap).threw) return;
      const count = { accepted: 0, taken: 0, opened: 0, answered: 0, queued: 0 };
      for (const { fact, to } of records) {
        if ((fact.type === "model.accepted" && to === "call.open") || fact.type === "queue.accepted") {
          count.accepted += fact.calls;
        }
        if (fact.type === "inbox.drained") count.queued += fact.calls;
        if (fact.type === "queue.accepted") count.queued -= fact.calls;
        if (fact.type === "call.opened" || fact.type === "call.skipped") count.taken++;
        if (fact.type === "call.opened") count.opened++;
        if (fact.type === "call.settled" || (fact.type === "call.waiting" && !fact.parks)) count.answered++;
      }
      expect([count.taken, count.answered, count.queued]).toEqual([count.accepted, count.opened, 0]);
    });
  });

  it("gives every call its one result, or the question whether it may run", async () => {
    await everyResult(async ({ messages }) => {
      const unanswered = toolPairs.validate(messages);
      expect(unanswered.length).toBeLessThan(2);
      // Models use ids again, so what seems to lack its result may be another call of the same id.
      const asks = (id: unknown) =>
        messages.some(
          ({ type, metadata }, index) =>
            type === "tool_call" && metadata.tool_call_id === id && messages[index + 1]?.type === "approval_required",
        );
      for (const { type, tool_call_id } of unanswered) expect([type, asks(tool_call_id)]).toEqual(["tool_call", true]);
    });
  });

  it("audits every call that has a result, and no other", async () => {
    await everyResult(async ({ tool_audit_events, tool_execution_results }) => {
      const identity = ({ tool_name, tool_call_id, turn_count }: JsonMap) => ({ tool_name, tool_call_id, turn_count });
      expect(tool_audit_events.map(identity)).toEqual(tool_execution_results.map(identity));
    });
  });

  it("shows a secret to nobody but the caller and whoever runs the tool", async () => {
    await everyResult(async (ended, seen) => {
      const executions = ended.tool_execution_results.map((execution) => ({ ...execution, parameters: {} }));
      // What waits carries its parameters to whoever is going to run the tool.
      const waiting = { runtime_tool_pending: {}, approval_required: {} };
      const shown = JSON.stringify({ ...ended, tool_execution_results: executions, ...waiting });
      expect(shown).not.toContain(SECRET);
      expect(JSON.stringify(seen.events)).not.toContain(SECRET);
    });
  });

  it("comes to a result that reads as one", async () => {
    await everyResult(async (ended) => expect(result.normalize(ended)).toEqual(ended));
  });
});

type Seen = { readonly events?: readonly unknown[] };

/** Runs made-up scripts; those that end with a result are looked at. */
async function everyResult(look: (ended: ConversationResult, seen: Seen) => Promise<unknown>): Promise<void> {
  await everyScript({ numRuns: 400 }, async (given) => {
    const { outcome, seen } = await runWithLog(given);
    if (!(outcome as JsonMap).threw) await look(outcome as ConversationResult, seen as Seen);
  });
}

async function everyScript(
  parameters: { numRuns: number },
  look: (given: StoredScript) => Promise<void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty(script, look), { ...firstFailure, ...parameters });
}

describe("the state", () => {
  const callsEach = (id: string): JsonMap => ({
    content: "working",
    tool_calls: [{ id, name: "ability/save", parameters: { note: id } }],
    usage: { total_tokens: 3 },
  });

  it.each<[string, Partial<LoopScript>]>([
    ["of plain turns", {}],
    ["of turns that fail", { executor: { "ability/save": { throws: "broken" } }, identical_failure_threshold: 2 }],
    ["of turns with every counter", { spin_threshold: 9, completion: [{ complete: false, message: "on" }] }],
    ["of turns behind a mediator", { mediator: [{ action: "reject" }], diagnostics: [{ cost: 1 }] }],
  ])("%s is as large after fifty as after five", async (_title, more) => {
    const ofTurns = (turns: number): LoopScript => ({
      messages: [{ role: "user", content: "go" }],
      options: {
        max_turns: turns,
        tool_declarations: tools,
        budgets: [{ name: "tool_calls", ceiling: 1000 }],
        tool_call_rules: [{ require_tool_use: true }],
      },
      executor: {},
      turns: Array.from({ length: turns }, (_, index) => callsEach(`c${index}`)),
      ...more,
    });
    const [few, many] = [await lastState(ofTurns(5)), await lastState(ofTurns(50))];
    expect([few.turn, many.turn]).toEqual([5, 50]);
    expect(sizeWithoutDigits(many)).toBe(sizeWithoutDigits(few));
  });
});

/** Plays a script to its end and returns the state alone. */
async function lastState(given: LoopScript): Promise<State> {
  const run = await scriptRun(given);
  const configured = configure(given.messages, run.options);
  const { perform, answer } = callbacks(configured, run.turnRunner, run.options);
  const working = startWorking(configured.config, configured.messages);
  let state: State = initialState;
  let arrived: Arrived | undefined;
  for (;;) {
    const { next, ...step } = advance(state, working, 0, arrived);
    state = step.state;
    if (next.kind === "effect") arrived = await attempt(() => perform(next.order), undefined);
    else if (next.kind === "consult") arrived = await attempt(() => answer(next.question), undefined);
    else return state;
  }
}

/** Counters may count; everything else has a size. */
function sizeWithoutDigits(state: State): number {
  return JSON.stringify(state, (_, value: unknown) => (typeof value === "number" ? 0 : value)).length;
}
