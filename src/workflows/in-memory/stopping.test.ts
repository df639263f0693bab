import { describe, expect, it, onTestFinished, vi } from "vitest";
import { call, hostWith, never, recordsOfRuns, specOf } from "../../../test/workflows-in-memory.ts";
import { createMemoryRunStore } from "../../contracts/conversation/run-control.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { runWorkflow } from "./run-workflow.ts";

const undoneBy = (ability: string, more: JsonMap = {}) => ({ undo: { type: "ability", ability, ...more } });
const later = () => new Promise((resolve) => setImmediate(resolve));

describe("a signal", () => {
  it("that has fired before the run lets nothing begin", async () => {
    const begun: unknown[] = [];
    const host = hostWith({ a: () => void begun.push("a") }, { signal: AbortSignal.abort() });
    const run = await runWorkflow(specOf([call("a", "a")]), {}, {}, host);
    expect(run).toMatchObject({ status: "cancelled", error: { code: "cancel_requested" }, steps: [] });
    expect(begun).toEqual([]);
  });

  it("stops the steps, but not what undoes them: that is waited for, and gets no signal", async () => {
    const stop = new AbortController();
    const told: unknown[] = [];
    const host = hostWith(
      {
        ok: () => ({}),
        async undo(_, { signal }) {
          await later();
          told.push(signal?.aborted ?? "no signal");
          return { undone: true };
        },
        stop() {
          stop.abort();
          return never();
        },
      },
      { signal: stop.signal },
    );
    const steps = [call("a", "ok", undoneBy("undo")), call("b", "ok", undoneBy("undo")), call("c", "stop")];
    const run = await runWorkflow(specOf(steps), {}, {}, host);
    expect(run).toMatchObject({
      status: "cancelled",
      metadata: { _rollback: [{ output: { undone: true } }, { output: { undone: true } }] },
    });
    expect(told).toEqual(["no signal", "no signal"]);
  });

  it("does not keep an undo from waiting for its next attempt", async () => {
    const stop = new AbortController();
    let attempts = 0;
    let looks = 0;
    const host = hostWith(
      {
        ok: () => ({}),
        undo() {
          if (++attempts === 1) throw new Error("not yet");
          return {};
        },
        stop() {
          stop.abort();
          return never();
        },
      },
      {
        signal: stop.signal,
        now() {
          looks++;
          return Date.now();
        },
      },
    );
    const undo = undoneBy("undo", { retry: { max_attempts: 2, backoff: "20ms" } });
    const run = await runWorkflow(specOf([call("a", "ok", undo), call("b", "stop")]), {}, {}, host);
    expect(run).toMatchObject({ status: "cancelled", metadata: { _rollback: [{ status: "succeeded" }] } });
    expect(looks).toBeLessThan(50);
  });

  it("leaves no timer of a step behind that was given up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stop = new AbortController();
    let limits = 0;
    const a = () => {
      limits = vi.getTimerCount();
      setImmediate(() => stop.abort());
      return never();
    };
    const host = hostWith({ a }, { signal: stop.signal });
    const run = await runWorkflow(specOf([call("a", "a", { timeout: "1h" })]), {}, {}, host);
    expect([run.status, limits, vi.getTimerCount()]).toEqual(["cancelled", 1, 0]);
  });
});

it("a time limit of weeks does not end a step at once", async () => {
  const a = () => new Promise((resolve) => setTimeout(resolve, 5, { done: true }));
  const run = await runWorkflow(specOf([call("a", "a", { timeout: "25d" })]), {}, {}, hostWith({ a }));
  expect(run).toMatchObject({ status: "succeeded", output: { last: { done: true } } });
});

describe("a cancellation through run control", () => {
  it.concurrent.each([
    ["sleeps for an hour", { id: "s", type: "sleep", for: "1h" }],
    ["waits as long for another attempt", call("s", "cancelling", { retry: { max_attempts: 2, backoff: "1h" } })],
  ])("ends a run that %s", async (_, waiting) => {
    const runs = createMemoryRunStore({ now: () => new Date(0) });
    const cancelling = () => {
      setImmediate(() => runs.cancel("r"));
      return { code: "busy", message: "" };
    };
    const host = hostWith({ cancelling, z: never }, { runs });
    const steps = [call("a", "cancelling"), waiting, call("z", "z")];
    const run = await runWorkflow(specOf(steps), {}, { run_id: "r", continue_on_error: true }, host);
    expect(run).toMatchObject({ status: "cancelled", steps: [{ id: "a" }, { id: "s" }] });
  });

  it("that comes while the recorder is told lets no further step begin", async () => {
    const runs = createMemoryRunStore({ now: () => new Date(0) });
    const records = recordsOfRuns();
    const begun: unknown[] = [];
    const recorder = {
      ...records,
      async update(run: JsonMap) {
        await later();
        runs.cancel("r");
        records.update(run);
      },
    };
    const next = [
      call("b", "b"),
      { id: "b", type: "foreach", items: [1, 2], steps: [call("n", "b")] },
      { id: "b", type: "parallel", branches: [{ role: "x", steps: [call("n", "b")] }] },
    ];
    for (const step of next) {
      const host = hostWith({ a: () => ({}), b: () => void begun.push("b") }, { runs, recorder });
      const run = await runWorkflow(specOf([call("a", "a"), step, call("c", "b")]), {}, { run_id: "r" }, host);
      expect(run).toMatchObject({ status: "cancelled", steps: [{ id: "a", status: "succeeded" }] });
    }
    expect(begun).toEqual([]);
  });
});
