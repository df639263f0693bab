import { describe, expect, it } from "vitest";
import { typedSpec } from "../../contracts/workflows/spec.ts";
import { createSealing } from "../../threads/secrets/sealing.ts";
import { type Body, newWorking } from "../machine/working.ts";
import { StoredBodies } from "./stored-bodies.ts";

const sealing = createSealing(Buffer.alloc(32, 7));

describe("stored bodies of steps", () => {
  it("keep the order in which steps ended, also when some of them were carried out anew", () => {
    const undo = { type: "function", function: "cancel" };
    const { steps } = typedSpec({
      id: "trip",
      steps: ["a", "b", "c", "d", "e"].map((id) => ({ id, type: "function", function: "book", undo })),
    });
    const stored = new StoredBodies(sealing, "run");
    const bodies = new Map<string, Body>();
    const undoable: string[] = [];
    const working = newWorking({ steps, inputs: {}, bodies, undoable });
    const orders = new Map<string, number | null | undefined>();
    let ended = 0;
    const end = (path: string) => {
      bodies.set(path, { resolved: steps[Number(path)] ?? {}, started_at: 1, status: "succeeded" });
      stored.endedAs(path, ++ended);
      undoable.push(path);
      const { write } = stored.written(path, working);
      if (write.write === "workflow_step") orders.set(path, write.undo_order);
    };
    for (const path of ["0", "1", "2", "3"]) end(path);
    for (const path of ["1", "2"]) {
      undoable.splice(undoable.indexOf(path), 1);
      orders.delete(path);
    }
    for (const path of ["4", "1"]) end(path);
    const written = [...orders].sort(([, one], [, other]) => Number(one) - Number(other)).map(([path]) => path);
    expect(written).toEqual(undoable);
    expect(written).toEqual(["0", "3", "4", "1"]);
  });

  it("write when a step began whose bindings could not be expanded", () => {
    const { steps } = typedSpec({ id: "odd", steps: [{ id: "a", type: "function", function: "f" }] });
    const stored = new StoredBodies(sealing, "run");
    const bodies = new Map<string, Body>();
    const undoable: string[] = [];
    const working = newWorking({ steps, inputs: {}, bodies, undoable });
    bodies.set("0", { started_at: 5_000, ended_at: 5_000, status: "failed", error: { code: "binding", message: "" } });
    const { write } = stored.written("0", working);
    if (write.write !== "workflow_step") throw new Error("It is a step that is written.");
    const { opened = null, outcome = null, status } = write;
    const row = { parent: "", position: 0, opened, outcome, status, undo_order: null };
    expect(new StoredBodies(sealing, "run").read(row)).toMatchObject({ started_at: 5_000, status: "failed" });
  });

  it("forget what an attempt waited for once another one is under way", () => {
    const { steps } = typedSpec({ id: "waits", steps: [{ id: "a", type: "wait", event: "go" }] });
    const stored = new StoredBodies(sealing, "run");
    const bodies = new Map<string, Body>();
    const undoable: string[] = [];
    const working = newWorking({ steps, inputs: {}, bodies, undoable });
    const opened = { resolved: steps[0] ?? {}, started_at: 1 };
    bodies.set("0", { ...opened, suspend: { event: "go" } });
    expect(stored.written("0", working).write).toMatchObject({ status: "waiting", outcome: expect.any(String) });
    bodies.set("0", opened);
    expect(stored.written("0", working).write).toMatchObject({ status: "running", outcome: null });
  });
});
