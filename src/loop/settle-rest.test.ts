import { describe, expect, it } from "vitest";
import { asked, call, calls, machine, playInEveryWay, returned } from "../../test/machine.ts";
import * as message from "../contracts/conversation/message.ts";
import * as toolPairs from "../contracts/conversation/tool-pairs.ts";
import { createHooks } from "../contracts/hooks.ts";
import type { Rules } from "./config.ts";
import type { Arrived } from "./next.ts";
import type { RunOptions } from "./options.ts";
import type { Working } from "./working.ts";

const settles = { rest: "settle" } as const;
const waitsOutside = { success: false, status: "runtime_tool_pending" };
const asksAll = () => {
  const hooks = createHooks();
  hooks.filter("preToolCallDecision", (decision) => decision);
  hooks.filter("toolAuditParameters", (shown) => shown);
  return {
    ...{ hooks, preToolMediator: () => null, postToolResultDiagnostics: () => null },
    completionPolicy: () => ({ complete: false }),
  };
};
const stop: Arrived = { stop: message.text("user", "Stop."), performed: false };

/** Each call that has a result, with the kind of error that it is. */
const results = ({ transcript }: Working) =>
  transcript.flatMap(({ type, metadata, payload }) => {
    if (type !== "tool_result") return [];
    return [[metadata.tool_call_id, (payload.metadata as { error_type?: string } | undefined)?.error_type]];
  });

/** Three calls and something that is none, of which the second is the one that ends the batch. */
const three = calls(call("a"), call("b"), { name: "" }, call("c"));

describe("the rest of a batch that was halted", () => {
  it.each<[string, RunOptions, Partial<Rules>, (Arrived | undefined)[]]>([
    ["by a budget", { budgets: [{ name: "tool_calls", ceiling: 2 }] }, {}, [returned(1), returned(2)]],
    [
      "by a mediator that completes",
      { preToolMediator: () => null },
      {},
      [returned(null), returned(1), returned({ action: "reject", complete: true })],
    ],
    [
      "by a completion policy that throws",
      { completionPolicy: () => ({ complete: false }) },
      {},
      [returned(1), returned({}), returned(2), { threw: new Error("policy") }],
    ],
    ["by a call that waits and ends the run", {}, {}, [returned(1), returned(waitsOutside)]],
    ["by a stop while a tool runs", {}, {}, [returned(1), stop]],
    ["by a stop while a call is parked", {}, { waiting: "park" }, [returned(1), returned(waitsOutside), stop]],
  ])("is settled as cancelled when it ends %s", (_title, options, rules, rest) => {
    const make = () => machine(options, { ...settles, ...rules });
    const { machine: made, asked: last } = playInEveryWay(make, [undefined, three, ...rest]);
    expect(last.at(-1)).toEqual({ kind: "end" });
    expect(results(made.working).map(([id]) => id)).toEqual(["a", "b", "c"]);
    expect(results(made.working).at(-1)).toEqual(["c", "cancelled"]);
    expect(toolPairs.validate(made.working.transcript)).toEqual([]);
    expect(made.state()).toMatchObject({ calls: 3, batch: { count: 4, next: 4 } });
  });

  it("is dropped where the rules say so", () => {
    const { bring, working } = machine({ budgets: [{ name: "tool_calls", ceiling: 1 }] });
    for (const arrived of [undefined, three, returned(1)]) bring(arrived);
    expect(results(working)).toEqual([["a", undefined]]);
  });

  it("comes before the message that stopped the run", () => {
    const { bring, working } = machine({}, settles);
    for (const arrived of [undefined, three, stop]) bring(arrived);
    expect(working.transcript.at(-1)).toMatchObject({ content: "Stop." });
    expect(results(working)).toHaveLength(3);
  });

  it("is settled wherever the stop comes", () => {
    const answers = [undefined, three];
    for (let stopAt = 2; ; stopAt++) {
      const { machine: made, asked: all } = playInEveryWay(
        () => machine(asksAll(), settles),
        [...answers.slice(0, 2), ...Array.from({ length: stopAt - 2 }, () => returned(null)), stop],
      );
      expect(all.at(-1)).toEqual({ kind: "end" });
      expect(results(made.working).map(([id]) => id)).toEqual(["a", "b", "c"]);
      expect(toolPairs.validate(made.working.transcript)).toEqual([]);
      if (all.at(-2)?.kind === "effect" && asked(all.at(-2) as never) === "call_model") break;
    }
  });

  it("is said to be not begun, redacted by its declaration, without asking anybody", () => {
    const toolDeclarations = {
      "ability/save": {
        ...{ name: "ability/save", source: "abilities", description: "Saves." },
        sensitive_parameters: ["pin"],
      },
    };
    const hooks = createHooks();
    hooks.filter("toolAuditParameters", () => ({ everything: "shown" }));
    const { bring, working } = machine({ toolDeclarations, hooks }, settles);
    const secret = { id: "b", name: "ability/save", parameters: { pin: "hunter2", note: "n" } };
    for (const arrived of [undefined, calls(call("a"), secret), returned(null), stop]) bring(arrived);
    expect(JSON.stringify([working.transcript, working.run.audits])).not.toContain("hunter2");
    expect(working.transcript.find(({ metadata }) => metadata.tool_call_id === "b")).toMatchObject({
      type: "tool_call",
      payload: { parameters: { note: "n" } },
    });
    expect(working.run.executions.at(-1)).toMatchObject({
      tool_call_id: "b",
      result: { success: false, error: expect.stringMatching(/^Not begun/), metadata: { error_type: "cancelled" } },
    });
  });

  it("counts neither against budgets nor for guards", () => {
    const guarded = { spinDetector: { threshold: 9 }, identicalFailureTracker: { threshold: 2 } };
    const budgets = [{ name: "tool_calls", ceiling: 1 }];
    const { bring, state, working } = machine({ ...guarded, budgets }, settles);
    const same = { name: "ability/save", parameters: {} };
    for (const arrived of [undefined, calls(same, same, same, same), { threw: new Error("no") }]) bring(arrived);
    expect(results(working)).toHaveLength(4);
    expect(state()).toMatchObject({ spin: { count: 1 }, failures: { count: 1 } });
    expect(state().budgets.tool_calls).toMatchObject({ current: 1 });
  });

  it("is judged by nobody, and leaves the batch halted", () => {
    const options = { completionPolicy: () => ({ complete: false }), budgets: [{ name: "tool_calls", ceiling: 1 }] };
    const { bring, records, state } = machine(options, settles);
    for (const arrived of [undefined, three, returned(1)]) bring(arrived);
    expect(state().batch.halted).toBe(true);
    expect(records.flatMap(({ fact, to }) => (fact.type === "call.settled" ? [to] : []))).toEqual([
      ...["call.open", "call.open", "call.open"],
    ]);
  });

  it("may be long", () => {
    const { bring, state, working } = machine({}, settles);
    bring();
    bring(calls(...Array.from({ length: 20_000 }, (_, index) => call(`c${index}`))));
    expect(bring(stop)).toEqual({ kind: "end" });
    expect(state().calls).toBe(20_000);
    expect(results(working)).toHaveLength(20_000);
  });

  it("is none when the caller has made the calls itself", () => {
    const reported = { tool_name: "ability/save", tool_call_id: "a", result: {}, parameters: {}, turn_count: 1 };
    const messages = [{ role: "user", content: "go" }];
    const { bring, records, working } = machine({ completionPolicy: () => ({ complete: false }) }, settles);
    bring();
    expect(asked(bring(returned({ messages, tool_execution_results: [reported, reported] })))).toBe("completion");
    expect(bring(stop)).toEqual({ kind: "end" });
    expect(results(working)).toEqual([]);
    expect(records.map(({ fact }) => fact.type)).not.toContain("call.skipped");
  });
});
