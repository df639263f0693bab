import { describe, expect, it } from "vitest";
import { type Call, call, hostWith, never, specOf } from "../../../test/workflows-in-memory.ts";
import { createMemoryRunStore } from "../../contracts/conversation/run-control.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import type { StepFunctions } from "../steps/step-functions.ts";
import { resumeWorkflow } from "./resume-workflow.ts";
import { runWorkflow } from "./run-workflow.ts";

describe("a workflow in memory", () => {
  it("ends a step whose time is up, tells it so, and does not try it again: it may still be at work", async () => {
    let told: AbortSignal | undefined;
    let times = 0;
    const slow: Call = (_, { signal }) => {
      times++;
      told = signal;
      return never();
    };
    const steps = [call("a", "slow", { timeout: "5ms", retry: { max_attempts: 3, backoff: "1ms" } })];
    const run = await runWorkflow(specOf(steps), {}, {}, hostWith({ slow }));
    expect(run).toMatchObject({ status: "failed", error: { code: "workflow_step_timed_out" } });
    expect([times, told?.aborted]).toEqual([1, true]);
  });

  it("tries a step again whose time was up, if that may be done twice", async () => {
    let times = 0;
    const slow: Call = () => (++times < 3 ? never() : { done: true });
    const retry = { max_attempts: 3, backoff: "1ms" };
    const steps = [call("a", "slow", { timeout: "5ms", retry, idempotent: true })];
    const run = await runWorkflow(specOf(steps), {}, {}, hostWith({ slow }));
    expect(run).toMatchObject({ status: "succeeded", output: { last: { done: true } } });
  });

  it("neither limits nor repeats a step that carries such keys in another shape", async () => {
    let times = 0;
    const failing: Call = () => {
      times++;
      throw new Error("no");
    };
    const steps = [call("a", "failing", { timeout: 1, retry: 3, undo: "later" })];
    const run = await runWorkflow(specOf(steps), {}, {}, hostWith({ failing }));
    expect([run.status, times]).toEqual(["failed", 1]);
  });

  it("runs functions by their names, and gives all attempts at a step one key", async () => {
    const calls: unknown[] = [];
    const functions: StepFunctions = {
      "wf/a": (input, { idempotencyKey, signal }) => {
        calls.push([input, idempotencyKey, signal.aborted]);
        if (calls.length === 1) throw new Error("again");
        return { done: true };
      },
    };
    const retry = { max_attempts: 2, backoff: "1ms" };
    const step = { id: "a", type: "function", function: "wf/a", input: "${inputs.n}", retry };
    const run = await runWorkflow(specOf([step]), { n: 1 }, { run_id: "r" }, { functions });
    expect(run).toMatchObject({ status: "succeeded", output: { last: { done: true } } });
    expect(calls).toEqual([
      [1, "0@r", false],
      [1, "0@r", false],
    ]);
  });

  it("fails at a function that is not there, as every map has some of its own", async () => {
    const step = { id: "a", type: "function", function: "toString" };
    const run = await runWorkflow(specOf([step]), {}, {}, { functions: {} });
    expect(run).toMatchObject({ status: "failed", error: { code: "workflow_function_missing" } });
  });

  it("sleeps and goes on", async () => {
    const steps = [{ id: "s", type: "sleep", for: "5ms" }, call("b", "b")];
    const run = await runWorkflow(specOf(steps), {}, {}, hostWith({ b: () => ({ awake: true }) }));
    expect(run).toMatchObject({ status: "succeeded", output: { last: { awake: true } } });
  });

  it("tells in its record what was undone and what its failure has set off", async () => {
    const steps = [
      call("book", "book", { undo: { type: "ability", ability: "cancel", args: { seat: "${vars.output.seat}" } } }),
      call("pay", "pay"),
    ];
    const cancelled: unknown[] = [];
    const host = hostWith({
      book: () => ({ seat: 12 }),
      pay: () => ({ code: "no_funds", message: "There is not enough." }),
      cancel: (input) => void cancelled.push(input),
      tell: (input) => input,
    });
    const spec = specOf(steps, { on_failure: [call("tell", "tell", { args: { why: "${vars.error.code}" } })] });
    const run = await runWorkflow(spec, {}, {}, host);
    expect(cancelled).toEqual([{ seat: 12 }]);
    expect(run).toMatchObject({
      status: "failed",
      error: { code: "no_funds" },
      metadata: {
        _rollback: [{ id: "book", status: "succeeded" }],
        _on_failure: [{ id: "tell", output: { why: "no_funds" } }],
      },
    });
  });

  it("stops at once when its signal fires, whatever its step does with it", async () => {
    const stop = new AbortController();
    const stopping: Call = (_, { signal }) => {
      setImmediate(() => stop.abort());
      expect(signal).toBe(stop.signal);
      return never();
    };
    const run = await runWorkflow(
      specOf([call("a", "a"), call("b", "b")]),
      {},
      {},
      {
        ...hostWith({ a: stopping, b: never }),
        signal: stop.signal,
      },
    );
    expect(run).toMatchObject({ status: "cancelled", steps: [{ id: "a", error: { code: "cancel_requested" } }] });
  });

  it("is cancelled between the items of a foreach, whose step fails then", async () => {
    const runs = createMemoryRunStore({ now: () => new Date(0) });
    const asked: unknown[] = [];
    const stopping: Call = (input) => {
      asked.push(input);
      runs.cancel("r");
      return {};
    };
    const steps = [
      {
        id: "f",
        type: "foreach",
        items: [1, 2],
        continue_on_error: true,
        steps: [call("n", "stop", { args: { i: "${vars.item}" } })],
      },
      call("b", "b"),
    ];
    const run = await runWorkflow(specOf(steps), {}, { run_id: "r" }, hostWith({ stop: stopping }, { runs }));
    expect(asked).toEqual([{ i: 1 }]);
    expect(run).toMatchObject({
      status: "cancelled",
      steps: [{ id: "f", status: "failed", error: { code: "cancel_requested" } }],
    });
  });

  it("calls a step of a type skipped that nothing here can run, and fails", async () => {
    const run = await runWorkflow(specOf([{ id: "s", type: "shout" }]), {});
    expect(run).toMatchObject({ status: "failed", error: { code: "no_step_handler" }, steps: [{ status: "skipped" }] });
  });

  it("keeps ids that every object knows apart from these", async () => {
    const steps = [
      call("constructor", "a"),
      call("toString", "b", { args: { from: "${steps.constructor.output.is}" } }),
    ];
    const host = hostWith({ a: () => ({ is: "a" }), b: (input) => input });
    const run = await runWorkflow(specOf(steps), {}, {}, host);
    expect(run.output).toMatchObject({ steps: { constructor: { is: "a" }, toString: { from: "a" } } });
  });

  it("does not let an output that is no JSON into its record", async () => {
    const run = await runWorkflow(specOf([call("a", "a")]), {}, {}, hostWith({ a: () => 1n }));
    expect(run).toMatchObject({ status: "failed", error: { code: "handler_exception" } });
  });
});

describe("a run that waited", () => {
  const records = new Map<string, JsonMap>();
  const recorder: RunRecorder = {
    start: (run) => void records.set(String(run.run_id), run),
    update: (run) => void records.set(String(run.run_id), run),
    find: (runId) => records.get(runId),
  };
  const stepHandlers = { shout: () => ({ _suspend: { reason: "nobody listens", executor: "me" } }) };
  const steps = [
    call("a", "a"),
    { id: "w", type: "shout" },
    call("z", "z", { args: { a: "${steps.a.output.n}", w: "${steps.w.output}" } }),
  ];
  const host = hostWith({ a: () => ({ n: 1 }), z: (input) => input }, { recorder, stepHandlers });

  it("goes on behind the step that it waited in, with everything that came before", async () => {
    const waiting = await runWorkflow(specOf(steps), {}, { run_id: "w1" }, host);
    expect(waiting).toMatchObject({
      status: "suspended",
      metadata: { _suspension: { step_index: 1, step_id: "w", executor_id: "me", reason: "nobody listens" } },
      steps: [{ id: "a" }, { id: "w", status: "pending" }],
    });
    const answered = [...Object.values(waiting.steps)].map((step) =>
      (step as JsonMap).id === "w" ? { ...(step as JsonMap), status: "succeeded", output: { heard: true } } : step,
    );
    records.set("w1", { ...waiting, steps: answered } as unknown as JsonMap);
    const run = await resumeWorkflow("w1", {}, host);
    expect(run).toMatchObject({ status: "succeeded", output: { last: { a: 1, w: { heard: true } } }, metadata: {} });
  });

  it("runs nothing more when that step failed, unless its steps go on behind failures", async () => {
    for (const continue_on_error of [false, true]) {
      const waiting = await runWorkflow(specOf(steps), {}, { run_id: "w2" }, host);
      const answered = [...Object.values(waiting.steps)].map((step) =>
        (step as JsonMap).id === "w"
          ? { ...(step as JsonMap), status: "failed", error: { code: "no", message: "" } }
          : step,
      );
      records.set("w2", { ...waiting, steps: answered } as unknown as JsonMap);
      const run = await resumeWorkflow("w2", { continue_on_error }, host);
      expect(run).toMatchObject({ status: "failed", error: { code: "no" } });
      expect(Object.keys((run.output as JsonMap).steps as JsonMap)).toEqual(
        continue_on_error ? ["a", "w", "z"] : ["a", "w"],
      );
    }
  });
});
