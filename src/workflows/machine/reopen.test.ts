import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answering, anyRun } from "../../../test/any-workflow.ts";
import { type Answer, call, echo, Machine } from "../../../test/workflow-machine.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import { fold } from "./apply.ts";
import { breakOff } from "./break-off.ts";
import { afterFailure } from "./run-view.ts";
import { initialState } from "./state.ts";
import { newWorking } from "./working.ts";

const own = new Set(["branch"]);

/** Fails at some paths, and does as it is asked everywhere else. */
const failingAt =
  (...paths: readonly string[]): Answer =>
  (order) =>
    paths.includes(order.path) ? { as: "failed", error: { code: "no", message: `at ${order.path}` } } : echo(order);

/** Runs it until it has failed there, opens it again, and runs it on; the paths that were ordered since. */
function mend(machine: Machine, ...paths: readonly string[]): readonly string[] {
  machine.run(failingAt(...paths));
  expect(machine.state.status).toBe("failed");
  const before = machine.ordered.length;
  expect(machine.reopen()).toBe(undefined);
  machine.run(echo);
  return machine.ordered.slice(before);
}

describe("a run that is opened again", () => {
  it("goes on at the step that failed, and comes to what it would have come to", () => {
    const steps = [call("a", { x: 1 }), call("b", { y: "${steps.a.output.x}" }), call("c")];
    const machine = new Machine({ steps });
    expect(mend(machine, "1")).toEqual(["1", "2"]);
    expect(machine.record).toMatchObject({ status: "succeeded", steps: [{}, { output: { y: 1 } }, {}] });
    expect(machine.record.steps[1]).not.toHaveProperty("error");
    expect(machine.bodies.has("")).toBe(false);
    expect(machine.facts.filter(({ type }) => type === "run.reopened")).toEqual([{ type: "run.reopened", at: 1 }]);
  });

  it("says that the error of the run is gone", () => {
    const machine = new Machine({ steps: [call("a")] });
    machine.run(failingAt("0"));
    expect(machine.bodies.get("")).toMatchObject({ error: { code: "no" } });
    machine.reopen();
    expect([...machine.changed]).toEqual([""]);
    expect(machine.bodies.has("")).toBe(false);
  });

  it("keeps the parts that have succeeded, without a fact for each of those before the failed one", () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const foreach = { id: "f", type: "foreach", items, steps: [call("n", { is: "${vars.item}" }), call("m")] };
    const machine = new Machine({ steps: [foreach] });
    const straight = new Machine({ steps: [foreach] });
    straight.run(echo);
    machine.run(failingAt("0/48/1"));
    const before = machine.facts.length;
    machine.reopen();
    machine.run(echo);
    expect(machine.ordered.slice(-4)).toEqual(["0/48/1", "0/48/1", "0/49/0", "0/49/1"]);
    expect(machine.record).toEqual(straight.record);
    expect(machine.facts.slice(before).map(({ type }) => type)).toEqual([
      ...["run.reopened", "parts.opened", "part.begun", "step.kept", "step.begun", "step.ended", "part.ended"],
      ...["part.begun", "step.begun", "step.ended", "step.begun", "step.ended", "part.ended"],
      ...["step.ended", "steps.ended", "run.ended"],
    ]);
  });

  it("forgets why a part failed", () => {
    const branches = ["one", "two"].map((role) => ({ role, required: true, steps: [call("n", { role })] }));
    const machine = new Machine({ steps: [{ id: "p", type: "parallel", branches }], room: 2 });
    expect(mend(machine, "0/1/0")).toEqual(["0/1/0"]);
    expect(machine.record.output).toMatchObject({
      last: { branch_outputs: { one: { role: "one" }, two: { role: "two" } } },
    });
    expect(machine.bodies.has("0/1")).toBe(false);
  });

  it("chooses the case of a branch anew", () => {
    const branch = {
      id: "b",
      type: "branch",
      cases: [{ when: { path: "steps.a.output.n", op: "eq", value: 1 }, steps: [call("x"), call("y")] }],
      else: [call("z")],
    };
    const machine = new Machine({ steps: [call("a", { n: 1 }), branch], own, continueOnError: true });
    expect(mend(machine, "0", "1/1/0")).toEqual(["0", "1/0/0", "1/0/1"]);
    expect(machine.record.output.last).toMatchObject({ case: 0, last: {} });
    const again = new Machine({ steps: [call("a", { n: 1 }), branch], own });
    expect(mend(again, "1/0/1")).toEqual(["1/0/1"]);
  });

  it("carries a part out anew that stands for another item now, and keeps the others", () => {
    const undo = { type: "ability", ability: "demo/undo" };
    const inner = {
      id: "i",
      type: "parallel",
      items: ["${vars.item}"],
      steps: [call("n", { is: "${vars.item}" }, { undo })],
    };
    const foreach = { id: "f", type: "foreach", items: ["same", "${steps.a.output}", "last"], steps: [inner] };
    const machine = new Machine({ steps: [call("a", { n: 1 }), foreach], continueOnError: true });
    expect(mend(machine, "0", "1/2/0/0/0")).toEqual(["0", "1/1/0/0/0", "1/2/0/0/0"]);
    expect(machine.record.output.last).toMatchObject({
      iterations: [{ item: "same" }, { item: { n: 1 }, last: { branches: [{ output: { is: { n: 1 } } }] } }, {}],
    });
    expect([...machine.working.undoable].sort()).toEqual(["1/0/0/0/0", "1/1/0/0/0", "1/2/0/0/0"]);
  });

  it("keeps steps behind a failed one that have succeeded, and runs what its failure asks for once", () => {
    const steps = [call("a"), call("b"), call("c")];
    const machine = new Machine({ steps, continueOnError: true, onFailure: [call("tell"), call("more")] });
    machine.run(failingAt("0", "2", "on_failure/1"));
    machine.reopen();
    machine.run(failingAt("2"));
    expect(machine.ordered.slice(5)).toEqual(["0", "2", "on_failure/1"]);
    expect(afterFailure(machine.working)._on_failure).toMatchObject([{ id: "tell" }, { status: "succeeded" }]);
    machine.reopen();
    machine.run(echo);
    expect(machine.record.status).toBe("succeeded");
  });

  it("is rolled back with all that has succeeded in it when it is asked to stop", () => {
    const undo = { type: "ability", ability: "demo/undo" };
    const machine = new Machine({ steps: [call("a"), call("b", {}, { undo }), call("c")], continueOnError: true });
    machine.run(failingAt("0", "2"));
    machine.reopen();
    machine.step();
    machine.step([{ request: "cancel" }]);
    machine.step([{ path: "0", outcome: { as: "succeeded", output: {} } }]);
    expect(machine.ordered.at(-1)).toBe("undo/0");
  });

  it("is one that has failed and was not rolled back", () => {
    const undo = { type: "ability", ability: "demo/undo" };
    const machine = new Machine({ steps: [call("a", {}, { undo }), call("b")] });
    machine.step();
    expect(machine.reopen()).toBe("not_failed");
    machine.waiting = [];
    machine.step([{ path: "0", outcome: { as: "succeeded", output: {} } }]);
    machine.step([{ path: "1", outcome: { as: "failed", error: { code: "no", message: "" } } }]);
    machine.waiting = machine.waiting.slice(-1);
    machine.run(echo);
    expect(machine.state.status).toBe("failed");
    expect(machine.reopen()).toBe("rolled_back");
  });
});

describe("a run that begins behind steps of another", () => {
  const steps = [call("a"), call("b", { y: "${steps.a.output.x}" })];
  const bodies = new Map([["0", { status: "succeeded" as const, output: { x: 7 } }]]);

  it("carries out what comes after them, and sees what they have returned", () => {
    const machine = new Machine({ steps, startsAt: 1, bodies });
    machine.run(echo);
    expect(machine.ordered).toEqual(["1"]);
    expect(machine.facts[0]).toEqual({ type: "run.started", at: 1 });
    expect(machine.record).toMatchObject({ status: "succeeded", output: { steps: { a: { x: 7 }, b: { y: 7 } } } });
    expect(fold(machine.facts)).toEqual(machine.state);
  });

  it("opens none of them when it is opened again", () => {
    const failed = new Map([["0", { status: "failed" as const, error: { code: "no", message: "" } }]]);
    const machine = new Machine({ steps, startsAt: 1, bodies: failed });
    expect(mend(machine, "1")).toEqual(["1"]);
  });
});

describe("a run that is broken off", () => {
  const error = { code: "missing_required_input", message: "It needs the input." };

  it("has failed, whatever is open, and can be opened again", () => {
    const machine = new Machine({ steps: [{ id: "p", type: "parallel", items: [1, 2], steps: [call("n")] }], room: 2 });
    machine.step();
    const { state, facts, changed, next } = breakOff(machine.state, machine.working, error);
    expect({ facts, changed: [...changed], next }).toEqual({
      facts: [{ type: "run.broken" }],
      changed: [""],
      next: { kind: "end" },
    });
    expect(fold([...machine.facts, ...facts])).toEqual(state);
    expect(state).toMatchObject({ status: "failed", scopes: {}, steps: {} });
    expect(machine.bodies.get("")).toEqual({ error });
    expect(machine.state.status).toBe("running");
    machine.state = state;
    machine.waiting = [];
    expect(machine.reopen()).toBe(undefined);
    machine.run(echo);
    expect(machine.record.status).toBe("succeeded");
  });

  it("may not even have begun, and stays as it ended once it has", () => {
    const working = newWorking({ steps: [call("a")] });
    const { state } = breakOff(initialState, working, error);
    expect(state).toMatchObject({ status: "failed", seq: 1 });
    expect(breakOff(state, working, { code: "other", message: "" }).facts).toEqual([]);
    expect(working.bodies.get("")).toEqual({ error });
  });
});

describe("any workflow", () => {
  const inputs = { q: "Q" };
  const anyWay = fc.record({ room: fc.integer({ min: 1, max: 4 }), takeLast: fc.boolean(), forgets: fc.boolean() });
  const withoutUndo = (steps: readonly JsonMap[]): JsonMap[] =>
    JSON.parse(JSON.stringify(steps), (key, value: Json) => (key === "undo" ? undefined : value));

  /** Answers, and sees to it that nothing is carried out that has succeeded. */
  function once(done: Set<string>, answer: Answer): Answer {
    return (order) => {
      expect([...done]).not.toContain(order.path);
      const outcome = answer(order);
      if (outcome.as === "succeeded") done.add(order.path);
      return outcome;
    };
  }

  it("comes to the same output when a step fails and is mended, and carries out nothing twice that has succeeded", () => {
    fc.assert(
      fc.property(anyRun, anyWay, fc.nat(), ({ steps: given }, { room, takeLast, forgets }, pick) => {
        const steps = withoutUndo(given);
        const straight = new Machine({ steps, inputs, own });
        straight.run(echo);
        const paths = straight.ordered;
        const path = paths[pick % Math.max(paths.length, 1)] ?? "";
        const mended = new Machine({ steps, inputs, own, room }, { forgets });
        const done = new Set<string>();
        mended.run(once(done, failingAt(path)), takeLast);
        if (mended.state.status !== "failed") return;
        expect(mended.reopen()).toBe(undefined);
        mended.run(once(done, echo), takeLast);
        expect(JSON.stringify(mended.record)).toBe(JSON.stringify(straight.record));
        expect(fold(mended.facts)).toEqual(mended.state);
        expect([...done].sort()).toEqual([...paths].sort());
      }),
    );
  });

  it("ends well once it was opened again often enough", () => {
    fc.assert(
      fc.property(anyRun, anyWay, ({ every, continueOnError, steps: given }, { room, takeLast, forgets }) => {
        const machine = new Machine({ steps: withoutUndo(given), inputs, own, room, continueOnError }, { forgets });
        const done = new Set<string>();
        const mended = new Set<string>();
        const failsOnce: Answer = (order) => {
          const outcome = mended.has(order.path) ? echo(order) : answering(every)(order);
          mended.add(order.path);
          return outcome;
        };
        for (let runs = 0; machine.state.status !== "succeeded"; runs++) {
          if (runs > 0) expect(machine.reopen()).toBe(undefined);
          machine.run(once(done, failsOnce), takeLast);
        }
        expect(fold(machine.facts)).toEqual(machine.state);
        expect(machine.state).toMatchObject({ steps: {}, scopes: {} });
      }),
    );
  });
});
