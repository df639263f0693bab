import { describe, expect, it } from "vitest";
import { asked, call, calls, machine, playInEveryWay, returned } from "../../test/machine.ts";
import * as message from "../contracts/conversation/message.ts";
import * as toolPairs from "../contracts/conversation/tool-pairs.ts";
import type { Arrived } from "./next.ts";
import type { RunOptions } from "./options.ts";

const withInbox = (options: RunOptions = {}) => machine(options, { inbox: true, rest: "settle" });
const inbox = (messages: unknown[] = [], queued: unknown[] = []): Arrived => returned({ messages, calls: queued });
const said = (content: string) => message.text("user", content);
const stop: Arrived = { stop: said("Stop."), performed: false };

describe("the inbox of a run", () => {
  it("is asked for at the beginning of every turn, and never where nobody can leave anything", () => {
    const made = withInbox();
    expect(asked(made.bring())).toBe("inbox");
    expect(asked(made.bring(inbox()))).toBe("call_model");
    made.bring(calls(call("a")));
    expect(asked(made.bring(returned(1)))).toBe("inbox");
    expect(asked(machine().bring())).toBe("call_model");
  });

  it("is not asked for once the run has come to its end", () => {
    const made = withInbox();
    made.bring();
    made.bring(inbox());
    expect(made.bring(returned({ content: "done", tool_calls: [] }))).toEqual({ kind: "end" });
    expect(made.bring()).toEqual({ kind: "end" });
  });

  it("gives its messages to the model, in order, and says how many they were", () => {
    const { machine: made, asked: all } = playInEveryWay(withInbox, [
      undefined,
      inbox([said("also this"), { role: "user", content: "and that" }]),
      calls(call("a")),
      returned(1),
      inbox([said("later")]),
    ]);
    expect(all[1]).toMatchObject({
      order: { kind: "call_model", messages: [{ content: "go" }, { content: "also this" }, { content: "and that" }] },
    });
    expect(all[4]).toMatchObject({ order: { messages: { 5: { content: "later" } } } });
    expect(made.records.flatMap(({ fact }) => (fact.type === "inbox.drained" ? [fact.messages] : []))).toEqual([2, 1]);
    expect(made.records.find(({ fact }) => fact.type === "inbox.drained")?.wrote).toEqual([1, 3]);
  });

  it.each([
    ["throws", { threw: new Error("busy") }],
    ["is nothing", returned(undefined)],
    ["is no inbox", returned({ messages: 7, calls: "none" })],
    ["has a message that is none", inbox([said("fine"), 7], [call("a")])],
  ] as [string, Arrived][])("counts as empty when the answer %s", (_title, answer) => {
    const { machine: made, asked: all } = playInEveryWay(withInbox, [undefined, answer]);
    expect(all[1]).toMatchObject({ order: { kind: "call_model" } });
    expect(made.working.transcript).toHaveLength(1);
    expect(made.records.map(({ fact }) => fact.type)).not.toContain("inbox.drained");
  });
});

describe("calls that are queued for a run", () => {
  it("are the batch of a turn without the model, which sees what came of them in the next", () => {
    const { machine: made, asked: all } = playInEveryWay(withInbox, [
      undefined,
      inbox([said("look first")], [call("q1"), call("q2", "ability/peek")]),
      returned("saved"),
      returned("peeked"),
      inbox(),
    ]);
    expect(all.map(asked)).toEqual(["inbox", "run_tool", "run_tool", "inbox", "call_model"]);
    expect(made.working.transcript.map(({ type }) => type)).toEqual([
      ...["text", "text", "tool_call", "tool_result", "tool_call", "tool_result"],
    ]);
    expect(made.state()).toMatchObject({ turn: 2, queued: 0, budgets: { turns: { current: 1 } } });
    expect(made.working.queued).toEqual([]);
    expect(toolPairs.validate(made.working.transcript)).toEqual([]);
  });

  it("are announced as a turn like any other, once", () => {
    const made = withInbox();
    made.bring();
    made.bring(inbox([], [call("q1")]));
    expect(made.records.map(({ fact }) => fact.type)).toEqual([
      ...["flow.started", "inbox.drained", "turn.started", "queue.accepted", "call.opened", "begun"],
    ]);
    made.restart();
    made.bring();
    expect(made.notices.map(({ event }) => event)).toEqual(["turn_started", "tool_call"]);
  });

  it("may use every declared tool, also one that the model does not see", () => {
    const hidden: RunOptions = {
      toolPolicy: { mode: "allow", tools: ["ability/save"] },
      preToolMediator: () => null,
    };
    const { machine: made, asked: all } = playInEveryWay(
      () => withInbox(hidden),
      [
        ...[undefined, inbox(), returned(["ability/save"]), calls(call("m", "ability/peek")), returned(null)],
        ...[inbox([], [call("q", "ability/peek")]), returned(null), returned("peeked")],
      ],
    );
    const last = all.slice(-3);
    expect(made.working.transcript[2]).toMatchObject({ payload: { metadata: { error_type: "tool_not_found" } } });
    expect(last[0]).toMatchObject({
      question: { hook: "mediator", context: { tool_declaration: { name: "ability/peek" } } },
    });
    expect(last[1]).toMatchObject({ order: { kind: "run_tool", call: { tool_name: "ability/peek" } } });
    expect(Object.keys(made.working.tools)).toEqual(["ability/save"]);
  });

  it("go on to the next turn also where the model has no tools at all", () => {
    const { bring } = withInbox({ toolDeclarations: {} });
    bring();
    expect(asked(bring(inbox([], [call("q", "ability/gone")])))).toBe("inbox");
    expect(asked(bring(inbox()))).toBe("call_model");
  });

  it("are passed over where they are no calls", () => {
    const { bring, working } = withInbox();
    bring();
    expect(asked(bring(inbox([], ["nonsense", { name: "" }])))).toBe("inbox");
    expect(asked(bring(inbox()))).toBe("call_model");
    expect(working.transcript).toHaveLength(1);
  });

  it("count as a turn, so that the last one leaves none for the model", () => {
    const { bring } = withInbox({ maxTurns: 1 });
    bring();
    bring(inbox([], [call("q")]));
    expect(bring(returned(1))).toEqual({ kind: "end" });
  });

  it("are cancelled with the run when they had not begun", () => {
    const asksControl: RunOptions = { runId: "r", runControl: {} as NonNullable<RunOptions["runControl"]> };
    const { machine: made, asked: all } = playInEveryWay(
      () => withInbox(asksControl),
      [undefined, inbox([], [call("q1"), call("q2")]), stop],
    );
    expect(all.map(asked)).toEqual(["inbox", "cancellation", "end"]);
    expect(made.working.transcript.map(({ type }) => type)).toEqual([
      ...["text", "tool_call", "tool_result", "tool_call", "tool_result", "text"],
    ]);
    expect(toolPairs.validate(made.working.transcript)).toEqual([]);
  });

  it("are cancelled when there is no time left for them", () => {
    const made = withInbox({ budgets: [{ name: "wall_clock_seconds", ceiling: 5 }] });
    made.bring();
    expect(made.bring(inbox([], [call("q1")]), 6000)).toEqual({ kind: "end" });
    expect(made.state()).toMatchObject({ queued: 0, stops: { budget: "wall_clock_seconds" } });
    expect(made.working.run.executions[0]?.result).toMatchObject({ metadata: { error_type: "cancelled" } });
  });
});
