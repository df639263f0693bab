import { describe, expect, it } from "vitest";
import { call, hostWith, recordsOfRuns, specOf } from "../../../test/workflows-in-memory.ts";
import { createMemoryRunStore } from "../../contracts/conversation/run-control.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { runWorkflow } from "./run-workflow.ts";

const cycle: Record<string, unknown> = {};
cycle.me = cycle;

function throwing(property: string): Error {
  return Object.defineProperty(new Error("odd"), property, {
    get() {
      throw new Error("It cannot be read.");
    },
  });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const thrown: Readonly<Record<string, unknown>> = {
  "a name that throws": throwing("name"),
  "a message that throws": throwing("message"),
  "a wish that throws": throwing("retryable"),
  "a time that throws": throwing("retryAfter"),
  "a name that is no text": Object.assign(new Error("odd"), { name: 1n }),
  "a revoked proxy": revoked(),
  "a symbol": Symbol("odd"),
  nothing: undefined,
};

const returned: Readonly<Record<string, unknown>> = {
  "a refusal whose data is a bigint": { code: "no", message: "", data: { n: 1n } },
  "a refusal whose data is a cycle": { code: "no", message: "", data: cycle },
  "an error": new Error("no"),
  "a revoked proxy": revoked(),
  "a bigint": 1n,
};

describe("a step that answers oddly", () => {
  it.each(Object.keys(returned))("fails by returning %s", async (name) => {
    const run = await runWorkflow(specOf([call("a", "a")]), {}, {}, hostWith({ a: () => returned[name] }));
    expect(run).toMatchObject({ status: "failed", error: { code: "handler_exception" } });
  });

  it.each(Object.keys(thrown))("fails by throwing %s", async (name) => {
    const a = () => {
      throw thrown[name];
    };
    const run = await runWorkflow(specOf([call("a", "a")]), {}, {}, hostWith({ a }));
    expect(run).toMatchObject({ status: "failed", error: { code: "handler_exception" } });
  });

  it.each(Object.keys(thrown))("does not keep other steps from being undone by throwing %s", async (name) => {
    const undone: unknown[] = [];
    const undo = (ability: string) => ({ undo: { type: "ability", ability } });
    const steps = [call("a", "ok", undo("note")), call("b", "ok", undo("odd")), call("c", "odd")];
    const host = hostWith({
      ok: () => ({}),
      note: () => void undone.push("a"),
      odd() {
        throw thrown[name];
      },
    });
    expect(await runWorkflow(specOf(steps), {}, {}, host)).toMatchObject({ status: "failed" });
    expect(undone).toEqual(["a"]);
  });

  it("leaves its step as it was declared, for the next attempt and the record", async () => {
    const seen: unknown[] = [];
    const ability = (step: JsonMap) => {
      seen.push(step.args);
      Object.assign(step, { args: 1n });
    };
    const steps = [call("a", "a", { args: { q: 1 }, retry: { max_attempts: 2, backoff: "1ms" } })];
    const run = await runWorkflow(specOf(steps), {}, {}, { stepHandlers: { ability } });
    expect(seen).toEqual([{ q: 1 }, { q: 1 }]);
    expect(run).toMatchObject({ status: "failed", steps: [{ resolved_step: { args: { q: 1 } } }] });
  });
});

describe("another attempt", () => {
  async function attempts(answer: () => unknown, more: JsonMap = {}): Promise<number> {
    let times = 0;
    const a = () => {
      times++;
      return answer();
    };
    const step = call("a", "a", { retry: { max_attempts: 3, backoff: "1ms" }, ...more });
    await runWorkflow(specOf([step]), {}, {}, hostWith({ a }));
    return times;
  }

  it("is ruled out by a refusal whose data says so, as by an error that is thrown", async () => {
    expect(await attempts(() => ({ code: "declined", message: "", data: { retryable: false } }))).toBe(1);
    expect(await attempts(() => ({ code: "busy", message: "", data: { retry_after: 0 } }))).toBe(3);
    expect(await attempts(() => ({ code: "busy", message: "" }))).toBe(3);
  });

  it("waits for a time that makes sense: a day at most, and never a negative one", async () => {
    for (const [retryAfter, kept] of [
      [1e308, 86_400],
      [-1, undefined],
      [Number.NaN, undefined],
    ]) {
      const a = () => {
        throw Object.assign(new Error("busy"), { retryAfter });
      };
      const { error } = await runWorkflow(specOf([call("a", "a")]), {}, {}, hostWith({ a }));
      expect((error as JsonMap).retry_after).toBe(kept);
    }
  });

  it("is not made for what is not there", async () => {
    let asked = 0;
    const retry = { max_attempts: 3, backoff: "1ms" };
    const operations = {
      has() {
        asked++;
        return false;
      },
      call: () => ({}),
    };
    const run = await runWorkflow(specOf([call("a", "none", { retry })]), {}, {}, { operations });
    expect(run).toMatchObject({ status: "failed", error: { code: "unknown_ability" } });
    const missing = { id: "f", type: "function", function: "none", retry };
    const other = await runWorkflow(specOf([missing]), {}, {}, { functions: {} });
    expect([asked, (other.error as JsonMap).retryable]).toEqual([1, false]);
  });
});

describe("a run that cannot be carried on", () => {
  it("fails with a code, in run control too, when the machine throws: here over a time that is no date", async () => {
    const runs = createMemoryRunStore({ now: () => new Date(0) });
    const steps = [call("a", "a"), { id: "s", type: "sleep", for: "1ms" }];
    const host = hostWith({ a: () => ({ done: true }) }, { runs, now: () => 1e300 });
    const run = await runWorkflow(specOf(steps), {}, { run_id: "r" }, host);
    expect(run).toMatchObject({
      status: "failed",
      error: { code: "workflow_run_broken" },
      steps: [
        { id: "a", output: { done: true } },
        { id: "s", status: "pending" },
      ],
    });
    expect(runs.get("r")?.status).toBe("failed");
  });

  it.each(["recorder", "run store"])("fails in run control when the %s throws, and the caller is told", async (who) => {
    const runs = createMemoryRunStore({ now: () => new Date(0) });
    const records = recordsOfRuns();
    const lost = () => {
      throw new Error("The disk is full.");
    };
    const host =
      who === "recorder"
        ? { runs, recorder: { ...records, update: lost } }
        : { runs: { ...runs, cancelRequested: lost }, recorder: records };
    const run = runWorkflow(specOf([call("a", "a")]), {}, { run_id: "r" }, hostWith({ a: () => ({}) }, host));
    await expect(run).rejects.toThrow("The disk is full.");
    expect(runs.get("r")?.status).toBe("failed");
  });
});

it("the record of a step is made once, however many steps follow", async () => {
  const recorder = recordsOfRuns();
  const steps = ["a", "b", "c"].map((id) => call(id, "a"));
  await runWorkflow(specOf(steps), {}, {}, hostWith({ a: () => ({}) }, { recorder }));
  const told = recorder.updates.slice(0, 3).map(({ steps: records }) => records as JsonMap[]);
  expect(told.map((records) => records.map(({ id }) => id))).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
  expect(told[2]?.[0]).toBe(told[0]?.[0]);
});
