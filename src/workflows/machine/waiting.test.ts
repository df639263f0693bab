import { describe, expect, it } from "vitest";
import { call, echo, Machine } from "../../../test/workflow-machine.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Arrived, Outcome } from "./next.ts";

describe("a step that waits for something outside", () => {
  const waits = (until?: number): Outcome => ({ as: "suspended", suspend: { event: "paid" }, returned: {}, until });
  const parallel = (steps: JsonMap[], items = [0, 1]) => ({ id: "p", type: "parallel", items, steps });
  const succeeds = (path: string): Arrived => ({ path, outcome: { as: "succeeded", output: { paid: true } } });

  it("goes on when that has come, also in the part of a step", () => {
    const machine = new Machine({ steps: [parallel([call("w")])], room: 2 });
    expect(machine.run(() => waits())).toEqual({ kind: "park", until: null });
    expect(machine.step([succeeds("0/1/0")])).toEqual({ kind: "park", until: null });
    machine.step([succeeds("0/0/0")]);
    expect(machine.record).toMatchObject({ status: "succeeded" });
  });

  it("fails when it has waited too long", () => {
    const machine = new Machine({ steps: [call("w"), call("never")] });
    expect(machine.run(() => waits(5_000))).toEqual({ kind: "park", until: 5_000 });
    machine.now = 4_999;
    expect(machine.step()).toEqual({ kind: "park", until: 5_000 });
    machine.now = 5_000;
    expect(machine.step()).toEqual({ kind: "end" });
    expect(machine.record.steps).toMatchObject([{ error: { code: "workflow_wait_timed_out", data: null } }]);
  });

  it("takes what has come in the moment in which its time is up", () => {
    const machine = new Machine({ steps: [call("w")] });
    machine.run(() => waits(5_000));
    machine.now = 5_000;
    machine.step([succeeds("0")]);
    expect(machine.record).toMatchObject({ status: "succeeded" });
  });

  it("is tried again after that where it asks for it, and waits for nothing in between", () => {
    const machine = new Machine({ steps: [call("w", {}, { retry: { max_attempts: 2, backoff: "1s" } })] });
    machine.run(() => waits(5_000));
    expect(machine.record.steps).toMatchObject([{ suspend: { event: "paid" } }]);
    machine.now = 5_000;
    expect(machine.step()).toEqual({ kind: "park", until: 6_000 });
    expect(machine.record.steps[0]).not.toHaveProperty("suspend");
    expect(machine.changed).toContain("0");
    machine.now = 6_000;
    expect(machine.run(() => waits(9_000))).toEqual({ kind: "park", until: 9_000 });
    machine.now = 9_000;
    machine.step();
    expect(machine.record).toMatchObject({ status: "failed", steps: [{ error: { code: "workflow_wait_timed_out" } }] });
  });

  it("is given up when a step beside it fails, however deep inside", () => {
    const inner = parallel([call("n")], [0]);
    const branches = [
      { role: "works", required: true, steps: [inner] },
      { role: "waits", required: true, steps: [call("w")] },
    ];
    const machine = new Machine({ steps: [{ id: "r", type: "parallel", branches }], room: 2 });
    machine.step();
    machine.step([{ path: "0/1/0", outcome: waits() }]);
    machine.step([{ path: "0/0/0/0/0", outcome: { as: "failed", error: { code: "no", message: "" } } }]);
    expect(machine.record).toMatchObject({ status: "failed", steps: [{ error: { code: "no" } }] });
  });

  it("is given up when the run is asked to stop", () => {
    const machine = new Machine({ steps: [parallel([call("w")])], room: 2 });
    machine.run(() => waits());
    expect(machine.step([{ request: "cancel" }])).toEqual({ kind: "end" });
    expect(machine.state.status).toBe("cancelled");
    machine.step([{ request: "cancel" }]);
    expect(machine.facts.filter(({ type }) => type === "cancel.requested")).toHaveLength(1);
  });
});

it("carries out one step after another where there is room for one only", () => {
  const steps = [
    { id: "p", type: "parallel", items: [0, 1], steps: [call("a"), { ...call("b") }] },
    {
      id: "q",
      type: "parallel",
      items: [0, 1],
      steps: [{ id: "i", type: "parallel", items: [0, 1], steps: [call("n")] }],
    },
  ];
  const machine = new Machine({ steps, room: 1 });
  for (let next = machine.step(); next.kind === "effects"; ) {
    const [order, ...others] = machine.waiting.splice(0);
    expect(others).toEqual([]);
    next = machine.step(order ? [{ path: order.path, outcome: echo(order) }] : []);
  }
  const first = ["0/0/0", "0/0/1", "0/1/0", "0/1/1"];
  expect(machine.ordered).toEqual([...first, "1/0/0/0/0", "1/0/0/1/0", "1/1/0/0/0", "1/1/0/1/0"]);
});
