import { describe, expect, it } from "vitest";
import { call, calls, machine, returned } from "../../test/machine.ts";
import { assembleResult } from "./assemble-result.ts";
import { forget, keepWorking, takeUp } from "./keep-working.ts";
import { showExecutions, type Working } from "./working.ts";

const asStored = <Value>(value: Value) => JSON.parse(JSON.stringify(value)) as Value;

/** A run in its second turn, in the middle of a call, with something in every list. */
function underWay() {
  const made = machine({ toolPolicy: { mode: "allow", tools: ["ability/save"] }, shouldContinue: () => true });
  made.bring();
  made.bring(returned(["ability/save"]));
  made.bring(
    returned({
      ...{ tool_calls: [call("a")], metadata: { a: 1 }, provider_diagnostics: { latency: 1 } },
      request_metadata: { id: "r" },
    }),
  );
  made.bring(returned(1));
  made.bring(returned(true));
  made.bring(returned(["ability/save"]));
  const continuation_messages = [{ role: "user", content: "and?" }];
  made.bring(returned({ tool_calls: [call("b"), call("c")], continuation_messages }));
  made.bring(returned(2));
  return made;
}

const takenDown = ({ answer, transcript, ...rest }: Working) =>
  asStored({ answer, transcript, kept: keepWorking({ ...rest, answer, transcript }) });

describe("a run that is taken down", () => {
  it("is the same once it is taken up, but for the lists that are stored elsewhere", () => {
    const { working } = underWay();
    const { transcript, kept, answer } = takenDown(working);
    const up = takeUp(working.config, [transcript], kept, answer);
    forget(working);
    // What callbacks were shown is made again when they ask.
    expect(asStored({ ...up, shown: null })).toEqual(asStored({ ...working, shown: null }));
    expect(up.context).toMatchObject({ turn: 2 });
    expect(Object.keys(up.tools)).toEqual(["ability/save"]);
    expect(up.call?.id).toBe("c");
    expect(up.continuation).toHaveLength(1);
    expect(up.run.executions.map(({ tool_call_id }) => tool_call_id)).toEqual(["b"]);
  });

  it("keeps what is bounded, and nothing of what was said before", () => {
    const { working } = underWay();
    const { kept } = takenDown(working);
    expect(Object.keys(kept).sort()).toEqual([
      ...["call", "continuation", "queued", "run", "tools", "turn", "turn_executions"],
    ]);
    expect(kept.run).toMatchObject({ metadata: { a: 1 }, request_metadata: { id: "r" } });
    expect(JSON.stringify(kept)).not.toContain('"tool_call_id":"a"');
  });

  it("keeps no results of its turn when there is nobody to be told of them", () => {
    const { bring, working } = machine();
    bring();
    bring(calls(call("a"), call("b")));
    bring(returned(1));
    expect(working.turnExecutions).toHaveLength(1);
    expect(keepWorking(working).turn_executions).toEqual([]);
    forget(working);
    expect(working.turnExecutions).toEqual([]);
  });

  it("has not begun when nothing was kept", () => {
    const { working } = machine();
    const up = takeUp(working.config, [working.transcript], null, null);
    expect(asStored(up)).toEqual(asStored(working));
    expect(keepWorking(up)).toMatchObject({ turn: null, tools: null });
  });

  it("is handed out frozen, so that a callback cannot change what is stored", () => {
    const { working } = underWay();
    const { transcript, kept, answer } = takenDown(working);
    const up = takeUp(working.config, [transcript], kept, answer);
    for (const value of [up.answer.result, up.call, up.turnExecutions[0], up.transcript[0], up.run.metadata]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
  });

  it("can be taken up by a version that keeps more than the one before did", () => {
    const { working } = machine();
    expect(takeUp(working.config, [], { turn: 3 }, null)).toMatchObject({
      context: { turn: 3 },
      queued: [],
      call: null,
    });
  });
});

describe("a run that forgets what was stored", () => {
  it("grows no longer, and shows callbacks what a run that is taken up shows", () => {
    const { working } = underWay();
    showExecutions(working);
    forget(working);
    expect(working.run).toMatchObject({ tool_events: [], audits: [], events: [], provider_diagnostics: [] });
    expect(showExecutions(working).map(({ tool_call_id }) => tool_call_id)).toEqual(["b"]);
    working.turnExecutions.push({});
    expect(working.run.executions).toHaveLength(1);
  });

  it("can forget after its result was handed out, which stays as it was", () => {
    const { bring, state, working } = machine();
    bring();
    bring(calls(call("a")));
    bring(returned(1));
    bring(returned({ tool_calls: [] }));
    const result = assembleResult(state(), working);
    forget(working);
    expect(result.tool_events).toHaveLength(2);
  });
});
