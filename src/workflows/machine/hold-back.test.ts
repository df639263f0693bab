import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answering, anyRun } from "../../../test/any-workflow.ts";
import { type Answer, call, echo, Machine } from "../../../test/workflow-machine.ts";
import { fold } from "./apply.ts";
import type { Fact } from "./facts.ts";
import type { Arrived } from "./next.ts";
import { newWorking } from "./working.ts";

const own = new Set(["branch", "sleep"]);
const succeeds = (path: string): Arrived => ({ path, outcome: { as: "succeeded", output: {} } });
const fails = (path: string): Arrived => ({ path, outcome: { as: "failed", error: { code: "no", message: "" } } });

it("holds nothing back unless it is asked to", () => {
  expect(newWorking({ steps: [] })).toMatchObject({ holdsBack: false, startsAt: 0 });
});

describe("a run that is held back", () => {
  it("begins nothing until it goes on", () => {
    const machine = new Machine({ steps: [call("a"), call("b")], holdsBack: true });
    expect(machine.step()).toEqual({ kind: "yield" });
    machine.working.holdsBack = false;
    machine.step();
    machine.working.holdsBack = true;
    expect(machine.step([succeeds("0")])).toEqual({ kind: "yield" });
    expect(machine.ordered).toEqual(["0"]);
    machine.working.holdsBack = false;
    machine.run(echo);
    expect(machine.record.status).toBe("succeeded");
  });

  it("takes what comes of the steps under way, and yields once none is", () => {
    const parallel = { id: "p", type: "parallel", items: [0, 1, 2], concurrency: 2, steps: [call("n"), call("m")] };
    const machine = new Machine({ steps: [parallel], room: 3 });
    machine.step();
    machine.working.holdsBack = true;
    expect(machine.step([succeeds("0/0/0")])).toEqual({ kind: "effects", begin: [] });
    expect(machine.step([succeeds("0/1/0")])).toEqual({ kind: "yield" });
    machine.working.holdsBack = false;
    // Lists that are open go on; there is no room for the third part beside them.
    machine.step();
    expect(machine.ordered).toEqual(["0/0/0", "0/1/0", "0/0/1", "0/1/1"]);
  });

  it("goes on with what was held back also when something else has arrived in between", () => {
    const machine = new Machine({
      steps: [{ id: "p", type: "parallel", items: [0, 1], steps: [call("n"), call("m")] }],
      room: 2,
    });
    machine.step();
    machine.working.holdsBack = true;
    machine.step([succeeds("0/0/0")]);
    machine.working.holdsBack = false;
    machine.step([succeeds("0/1/0")]);
    expect(machine.ordered.slice(2).sort()).toEqual(["0/0/1", "0/1/1"]);
  });

  it("waits where it only waits, and ends where nothing is left to begin", () => {
    const machine = new Machine({ steps: [{ id: "s", type: "sleep", for: "1h" }], own });
    machine.step();
    machine.working.holdsBack = true;
    expect(machine.step()).toEqual({ kind: "park", until: 3_600_000 });
    machine.now = 3_600_000;
    expect(machine.step()).toEqual({ kind: "end" });
    expect(machine.state.status).toBe("succeeded");
  });

  it("tries no step again before it goes on", () => {
    const machine = new Machine({ steps: [call("a", {}, { retry: { max_attempts: 2, backoff: "1s" } })] });
    machine.step();
    machine.working.holdsBack = true;
    expect(machine.step([fails("0")])).toEqual({ kind: "park", until: 1_000 });
    machine.now = 1_000;
    expect(machine.step()).toEqual({ kind: "yield" });
    machine.working.holdsBack = false;
    expect(machine.step()).toMatchObject({ kind: "effects", begin: [{ path: "0", attempt: 2, step: { id: "a" } }] });
  });

  it("yields for nothing that was given up in the same moment", () => {
    const inner = { id: "i", type: "parallel", items: [0], steps: [call("n")] };
    const branches = [
      { role: "fails", required: true, steps: [inner] },
      { role: "goes on", required: true, steps: [call("a"), call("b")] },
    ];
    const machine = new Machine({ steps: [{ id: "r", type: "parallel", branches }], room: 2 });
    machine.step();
    machine.working.holdsBack = true;
    machine.step([succeeds("0/1/0")]);
    expect(machine.step([fails("0/0/0/0/0")])).toEqual({ kind: "end" });
  });

  it("is cancelled all the same, and undoes its steps once it goes on", () => {
    const undo = { type: "ability", ability: "demo/undo" };
    const machine = new Machine({ steps: [call("a", {}, { undo }), call("b")] });
    machine.step();
    machine.working.holdsBack = true;
    machine.step([succeeds("0")]);
    expect(machine.step([{ request: "cancel" }])).toEqual({ kind: "yield" });
    expect(machine.state).toMatchObject({ stage: "rollback", ending: "cancelled", isRolledBack: true });
    machine.working.holdsBack = false;
    machine.run(echo);
    expect(machine.ordered).toEqual(["0", "undo/0"]);
    expect(machine.state.status).toBe("cancelled");
  });

  it("does what its failure asks for once it goes on", () => {
    const machine = new Machine({ steps: [call("a")], onFailure: [call("tell")] });
    machine.step();
    machine.working.holdsBack = true;
    expect(machine.step([fails("0")])).toEqual({ kind: "yield" });
    machine.working.holdsBack = false;
    machine.run(echo);
    expect(machine.ordered).toEqual(["0", "on_failure/0"]);
  });
});

describe("any workflow", () => {
  const begins = ({ type }: Fact) => type === "step.begun" || type === "part.begun";

  /** Holds back as the list says, and goes on where the machine has yielded. */
  function runHolding(machine: Machine, answer: Answer, holds: readonly boolean[], takeLast: boolean): void {
    let next = machine.step();
    for (let turn = 0; next.kind !== "end"; turn++) {
      machine.working.holdsBack = next.kind !== "yield" && (holds[turn % holds.length] ?? false);
      const before = machine.facts.length;
      const order = takeLast ? machine.waiting.pop() : machine.waiting.shift();
      next = machine.step(order ? [{ path: order.path, outcome: answer(order) }] : []);
      if (machine.working.holdsBack) expect(machine.facts.slice(before).filter(begins)).toEqual([]);
      else expect(next.kind).not.toBe("yield");
    }
  }

  it("comes to the same however often it is held back, and follows from its facts", () => {
    const holds = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });
    const anyWay = fc.record({ room: fc.integer({ min: 1, max: 4 }), takeLast: fc.boolean(), forgets: fc.boolean() });
    fc.assert(
      fc.property(anyRun, anyWay, holds, ({ every, ...given }, { room, takeLast, forgets }, held) => {
        const inputs = { q: "Q" };
        const straight = new Machine({ ...given, inputs, own });
        const halting = new Machine({ ...given, inputs, own, room }, { forgets });
        straight.run(answering(every));
        runHolding(halting, answering(every), held, takeLast);
        expect(JSON.stringify(halting.record)).toBe(JSON.stringify(straight.record));
        expect(fold(halting.facts)).toEqual(halting.state);
      }),
    );
  });
});
