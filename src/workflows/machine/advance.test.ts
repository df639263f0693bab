import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answering, anyRun } from "../../../test/any-workflow.ts";
import { type Answer, call, echo, Machine } from "../../../test/workflow-machine.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import { fold } from "./apply.ts";
import type { Arrived, Order, Outcome } from "./next.ts";

describe("a run", () => {
  it("has a state that is as large after ten thousand items as after ten", () => {
    const largest = (count: number) => {
      const items = Array.from({ length: count }, (_, index) => index);
      const machine = new Machine({ steps: [{ id: "f", type: "foreach", items, steps: [call("n")] }] });
      machine.run(echo);
      expect(machine.state.status).toBe("succeeded");
      return machine.largest;
    };
    expect(largest(10_000)).toBeLessThan(largest(10) + 20);
  });

  it("carries out as many parts at a time as the step allows, and no more", () => {
    const step = { id: "f", type: "foreach", items: [1, 2, 3, 4, 5], concurrency: 2, steps: [call("n"), call("m")] };
    const machine = new Machine({ steps: [step], room: 100 });
    machine.step();
    expect(machine.ordered).toEqual(["0/0/0", "0/1/0"]);
    machine.step([{ path: "0/1/0", outcome: { as: "succeeded", output: {} } }]);
    expect(machine.ordered).toEqual(["0/0/0", "0/1/0", "0/1/1"]);
    machine.step([{ path: "0/1/1", outcome: { as: "succeeded", output: {} } }]);
    expect(machine.ordered.at(-1)).toBe("0/2/0");
  });

  it("tells the outputs of its parts in the order in which they are declared", () => {
    const items = ["a", "b", "c"];
    const step = { id: "p", type: "parallel", items, steps: [call("n", { is: "${vars.item}" })] };
    const machine = new Machine({ steps: [step], room: 100 });
    machine.run(echo, true);
    expect(machine.record.output).toMatchObject({
      last: { branches: items.map((item, index) => ({ index, item, output: { is: item } })) },
    });
  });

  it("fails for the first part in the order of declaration, once what runs before it has ended", () => {
    const step = { id: "p", type: "parallel", items: [0, 1, 2], steps: [call("n"), call("m")] };
    const machine = new Machine({ steps: [step], room: 100 });
    machine.step();
    const fails = (path: string, code: string): Arrived => ({
      path,
      outcome: { as: "failed", error: { code, message: "" } },
    });
    machine.step([fails("0/1/0", "second")]);
    // The part behind is given up when its step comes back; the one before goes on.
    machine.step([{ path: "0/2/0", outcome: { as: "succeeded", output: {} } }]);
    expect(machine.state.status).toBe("running");
    machine.step([{ path: "0/0/0", outcome: { as: "succeeded", output: {} } }]);
    expect(machine.ordered).toEqual(["0/0/0", "0/1/0", "0/2/0", "0/0/1"]);
    machine.step([fails("0/0/1", "first")]);
    expect(machine.record).toMatchObject({ status: "failed", steps: [{ error: { code: "first" } }] });
  });

  it("says all that is known of a failure that is tolerated, and no more than the contract names of one that is not", () => {
    const error = { code: "no", message: "no", error_type: "mine", data: null };
    const foreach = { id: "f", type: "foreach", items: [1], steps: [call("n")] };
    const lastOf = (continue_on_error: boolean) => {
      const machine = new Machine({ steps: [{ ...foreach, continue_on_error }] });
      machine.run(() => ({ as: "failed", error }));
      return machine.record;
    };
    expect(lastOf(true).output.last).toMatchObject({ iterations: [{ last: { error } }] });
    expect(lastOf(false).steps[0]?.error).toEqual({ code: "no", message: "no", data: null });
  });

  it("fails a step whose text would grow without bounds, and one inside it that is none", () => {
    const doubles = Array.from({ length: 30 }, (_, index) =>
      call(
        `s${index}`,
        index === 0 ? { t: "xxxxxxxx" } : { t: `\${steps.s${index - 1}.output.t}\${steps.s${index - 1}.output.t}` },
      ),
    );
    const machine = new Machine({ steps: doubles });
    machine.run(echo);
    expect(machine.record).toMatchObject({ status: "failed" });
    expect(machine.record.steps.at(-1)?.error).toMatchObject({ code: "workflow_text_too_long" });
    const odd = { id: "f", type: "foreach", items: [1], steps: [null] };
    const none = new Machine({ steps: [odd] });
    none.run(() => ({ as: "skipped", error: { code: "no_step_handler", message: "" } }));
    expect(none.record).toMatchObject({
      status: "failed",
      steps: [{ error: { code: "workflow_foreach_step_unhandled" } }],
    });
  });

  it("takes what came of a step also when it is asked to stop in the same moment", () => {
    const machine = new Machine({ steps: [call("a"), call("b")] });
    machine.step();
    machine.step([{ path: "0", outcome: { as: "succeeded", output: { x: 1 } } }, { request: "cancel" }]);
    expect(machine.record).toMatchObject({ status: "cancelled", steps: [{ id: "a", output: { x: 1 } }] });
    expect(machine.ordered).toEqual(["0"]);
  });
});

describe("a step that is tried again", () => {
  const steps = [call("a", {}, { retry: { max_attempts: 3, backoff: "1s" } })];
  const failed = (more: JsonMap = {}): Outcome => ({ as: "failed", error: { code: "busy", message: "", ...more } });

  it("waits longer each time, and fails with its last error", () => {
    const machine = new Machine({ steps });
    expect(machine.run(() => failed())).toEqual({ kind: "park", until: 1_000 });
    machine.now = 1_000;
    expect(machine.run(() => failed())).toEqual({ kind: "park", until: 3_000 });
    machine.now = 3_000;
    expect(machine.run(() => failed({ code: "last" }))).toEqual({ kind: "end" });
    expect(machine.record).toMatchObject({ status: "failed", steps: [{ error: { code: "last" } }] });
  });

  it("waits as long as the error asks for, and not at all where it rules another attempt out", () => {
    const asked = new Machine({ steps });
    expect(asked.run(() => failed({ retry_after: 60 }))).toEqual({ kind: "park", until: 60_000 });
    const refused = new Machine({ steps });
    expect(refused.run(() => failed({ retryable: false }))).toEqual({ kind: "end" });
  });

  it("is none that has parts: these ask for themselves", () => {
    const parallel = { id: "p", type: "parallel", items: [1], steps: [call("n")], retry: { max_attempts: 3 } };
    const machine = new Machine({ steps: [parallel], asksFanOut: true });
    expect(machine.run(() => failed())).toEqual({ kind: "end" });
    expect(machine.ordered).toEqual(["0"]);
  });

  it("takes nothing any more of an attempt that is over", () => {
    const machine = new Machine({ steps });
    machine.run(() => failed());
    const late: Arrived = { path: "0", attempt: 1, outcome: { as: "succeeded", output: { late: true } } };
    expect(machine.step([late])).toEqual({ kind: "park", until: 1_000 });
    machine.now = 1_000;
    machine.step();
    expect(machine.step([late]).kind).toBe("effects");
    machine.step([{ path: "0", attempt: 2, outcome: { as: "succeeded", output: {} } }]);
    expect(machine.record).toMatchObject({ status: "succeeded", output: { last: {} } });
  });

  it("is given up while it waits when the run is asked to stop", () => {
    const machine = new Machine({ steps });
    machine.run(() => failed());
    expect(machine.step([{ request: "cancel" }])).toEqual({ kind: "end" });
    expect(machine.state.status).toBe("cancelled");
  });
});

describe("a run that fails", () => {
  const undone = (id: string) =>
    call(id, { id }, { undo: { type: "ability", ability: "demo/undo", args: { of: "${vars.output.id}" } } });
  const foreach = { id: "f", type: "foreach", items: [1, 2], steps: [undone("n")] };
  const steps = [undone("a"), foreach, call("b"), call("never")];
  const failsAt =
    (path: string): Answer =>
    (order) =>
      order.path === path ? { as: "failed", error: { code: "no", message: "no" } } : echo(order);

  it("undoes what has succeeded, the last first, and then runs what its failure asks for", () => {
    const onFailure = [call("tell", { why: "${vars.error.code}", a: "${steps.a.output.id}" })];
    const machine = new Machine({ steps, onFailure });
    const asked: Json[] = [];
    machine.run((order) => {
      if (!/^\d/.test(order.path)) asked.push(order.step.args ?? null);
      return failsAt("2")(order);
    });
    expect(machine.ordered).toEqual(["0", "1/0/0", "1/1/0", "2", "undo/0", "undo/1", "undo/2", "on_failure/0"]);
    expect(asked).toEqual([{ of: "n" }, { of: "n" }, { of: "a" }, { why: "no", a: "a" }]);
    expect(machine.record).toMatchObject({ status: "failed" });
  });

  it("goes on undoing when one of the steps that undo fails, and ends as it would have", () => {
    const machine = new Machine({ steps });
    machine.run((order) => (order.path === "undo/1" ? failsAt("undo/1")(order) : failsAt("2")(order)));
    expect(machine.ordered.slice(-3)).toEqual(["undo/0", "undo/1", "undo/2"]);
    expect(machine.working.bodies.get("undo/1")).toMatchObject({ status: "failed", error: { code: "no" } });
    expect(machine.state.status).toBe("failed");
  });

  it("undoes nothing when its steps go on behind failures", () => {
    const machine = new Machine({ steps, continueOnError: true });
    machine.run(failsAt("2"));
    expect(machine.ordered.at(-1)).toBe("3");
    expect(machine.state.status).toBe("failed");
  });

  it("is rolled back as well when it is asked to stop, and a second wish changes nothing", () => {
    const machine = new Machine({ steps });
    machine.step();
    machine.step([{ path: "0", outcome: echo({ step: undone("a") } as Order) }, { request: "cancel" }]);
    expect(machine.ordered).toEqual(["0", "undo/0"]);
    machine.step([{ request: "cancel" }]);
    machine.step([{ path: "undo/0", outcome: { as: "succeeded", output: {} } }]);
    expect(machine.state.status).toBe("cancelled");
  });
});

describe("a step that sleeps", () => {
  it("wakes at its time, whatever else happens, and only once", () => {
    const machine = new Machine({ steps: [{ id: "s", type: "sleep", for: "1h" }, call("b")], own: new Set(["sleep"]) });
    expect(machine.step()).toEqual({ kind: "park", until: 3_600_000 });
    machine.now = 3_599_999;
    expect(machine.step()).toEqual({ kind: "park", until: 3_600_000 });
    machine.now = 3_600_000;
    machine.run(echo);
    expect(machine.record).toMatchObject({
      status: "succeeded",
      steps: [{ output: { until: "1970-01-01T01:00:00.000Z" } }, {}],
    });
  });
});

describe("any workflow", () => {
  it("follows from its facts alone, and goes on from every step of the machine as if nothing had happened", () => {
    fc.assert(
      fc.property(anyRun, fc.integer({ min: 1, max: 4 }), fc.boolean(), ({ every, ...given }, room, takeLast) => {
        const inputs = { q: "Q" };
        const straight = new Machine({ ...given, inputs, room, own: new Set(["branch"]) });
        const restarted = new Machine({ ...given, inputs, room, own: new Set(["branch"]) }, { forgets: true });
        straight.run(answering(every), takeLast);
        restarted.run(answering(every), takeLast);
        expect(fold(straight.facts)).toEqual(straight.state);
        expect(restarted.facts).toEqual(straight.facts);
        expect(JSON.stringify(restarted.record)).toBe(JSON.stringify(straight.record));
        expect(straight.state.steps).toEqual({});
        expect(straight.state.scopes).toEqual({});
      }),
    );
  });

  it("comes to the same whether its parts run beside each other or one after another, in whatever order they end", () => {
    fc.assert(
      fc.property(anyRun, fc.integer({ min: 2, max: 5 }), fc.boolean(), ({ every, ...given }, room, takeLast) => {
        const alone = new Machine({ ...given, inputs: { q: "Q" }, room: 1, own: new Set(["branch"]) });
        const beside = new Machine({ ...given, inputs: { q: "Q" }, room, own: new Set(["branch"]) });
        alone.run(answering(every));
        beside.run(answering(every), takeLast);
        expect(JSON.stringify(beside.record)).toBe(JSON.stringify(alone.record));
      }),
    );
  });
});

describe("a step that branches", () => {
  const own = new Set(["branch"]);
  const when = (value: Json): JsonMap => ({ path: "steps.a.output.n", op: "eq", value });
  const branch = {
    id: "b",
    type: "branch",
    cases: [
      { when: when(1), steps: [call("x", { is: "one", a: "${steps.a.output.n}" })] },
      { when: { any: [when(2), when(3)] }, steps: [call("x"), call("y", { is: "${steps.x.output}" })] },
    ],
  };
  const outputFor = (n: Json, more: JsonMap = {}) => {
    const machine = new Machine({
      steps: [call("a", { n }), { ...branch, ...more }, call("z", { b: "${steps.b.output.case}" })],
      own,
    });
    machine.run(echo);
    return (machine.record.output.steps as JsonMap).b;
  };

  it("runs the first case that holds, and sees what is around it", () => {
    expect(outputFor(1)).toEqual({ case: 0, steps: { x: { is: "one", a: 1 } }, last: { is: "one", a: 1 } });
    expect(outputFor(3)).toEqual({ case: 1, steps: { x: {}, y: { is: {} } }, last: { is: {} } });
  });

  it("does otherwise what it says, or nothing", () => {
    expect(outputFor(9, { else: [call("e", { is: "else" })] })).toMatchObject({ case: "else", last: { is: "else" } });
    expect(outputFor(9)).toEqual({ case: null, steps: {}, last: null });
  });

  it("fails when what it compares cannot be compared", () => {
    const cases = [{ when: { path: "steps.a.output.n", op: "gt", value: 1 }, steps: [call("x")] }];
    const machine = new Machine({ steps: [call("a", { n: "text" }), { ...branch, cases }], own });
    machine.run(echo);
    expect(machine.record).toMatchObject({ status: "failed", steps: [{}, { error: { code: "invalid_predicate" } }] });
  });

  it("leaves its cases as they were declared in its record, as it does with what undoes it", () => {
    const machine = new Machine({
      steps: [call("a", { n: 1 }), { ...branch, undo: { type: "ability", args: { n: "${vars.output}" } } }],
      own,
    });
    machine.run(echo);
    expect(machine.record.steps[1]).toMatchObject({
      resolved_step: { cases: branch.cases, undo: { args: { n: "${vars.output}" } } },
    });
  });
});

it("refuses more items than can be carried out, before any of them begins", () => {
  const machine = new Machine({
    steps: [{ id: "f", type: "foreach", items: "${inputs.list}", steps: [call("n")] }],
    inputs: { list: Array(100_001).fill(1) },
  });
  machine.run(echo);
  expect(machine.ordered).toEqual([]);
  expect(machine.record).toMatchObject({ status: "failed", steps: [{ error: { code: "workflow_too_many_items" } }] });
});
