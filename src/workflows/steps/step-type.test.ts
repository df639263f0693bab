import { describe, expect, it } from "vitest";
import { z } from "zod";
import { specOf } from "../../../test/workflows-in-memory.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { checkWorkflow } from "../../contracts/workflows/check-workflow.ts";
import type { StandardSchema } from "../../threads/schemas/tool-schema.ts";
import { runWorkflow } from "../in-memory/run-workflow.ts";
import { isStepType, type StepType, stepType } from "./step-type.ts";

const money = z.object({ cents: z.int().positive(), currency: z.string().default("EUR") });

const charge = stepType({
  type: "acme/charge",
  input: money,
  output: z.object({ payment: z.string() }),
  execute: ({ cents, currency }, { idempotencyKey }) => ({ payment: `${cents} ${currency} by ${idempotencyKey}` }),
  reconcile: ({ idempotencyKey }) => ({ status: "done", result: { payment: idempotencyKey } }),
});

const step = (input: unknown, more: object = {}) => ({ id: "pay", type: "acme/charge", input, ...more }) as JsonMap;
const retry = { max_attempts: 3, backoff: "1ms" };
const specWith = (one: JsonMap) => specOf([one], {}, ["acme/charge"]);
const run = (one: JsonMap, ...stepTypes: StepType[]) => runWorkflow(specWith(one), {}, { run_id: "r1" }, { stepTypes });

describe("a type of step", () => {
  it("is called with what its schema has accepted, and its output is what the other one has", async () => {
    const paid = await run(step({ cents: 5 }), charge);
    expect(paid).toMatchObject({ status: "succeeded", output: { last: { payment: "5 EUR by 0@r1" } } });
  });

  it("has what a driver needs to carry its steps out, and to find out what came of them", async () => {
    expect(isStepType(charge)).toBe(true);
    expect(charge).toMatchObject({ type: "acme/charge", idempotent: false });
    expect(await charge.checkInput({ cents: 5 })).toEqual({ ok: true, value: { cents: 5, currency: "EUR" } });
    expect(await charge.checkOutput({})).toMatchObject({ ok: false, problems: [{ path: "payment" }] });
    const about = { idempotencyKey: "k", input: { cents: 5 }, signal: new AbortController().signal };
    expect(charge.reconcile?.(about)).toEqual({ status: "done", result: { payment: "k" } });
  });

  it("is done again under one key and a higher number when it throws", async () => {
    const attempts: unknown[] = [];
    const flaky = stepType({
      type: "acme/charge",
      input: {},
      execute(_, { idempotencyKey, attempt, signal }) {
        attempts.push([idempotencyKey, attempt, signal.aborted]);
        if (attempt < 3) throw new Error("again");
        return attempt;
      },
    });
    expect(await run(step({}, { retry }), flaky)).toMatchObject({ output: { last: { value: 3 } } });
    expect(attempts).toEqual([1, 2, 3].map((attempt) => ["0@r1", attempt, false]));
  });

  it("is not called with an input that does not fit, and not tried again", async () => {
    let called = 0;
    const counted = stepType({ ...definition(), execute: () => ++called });
    const failed = await run(step({ cents: "${inputs.none}" }, { retry }), counted);
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: "invalid_step_input", data: { problems: [{ path: "cents" }] }, retryable: false },
    });
    expect(called).toBe(0);
  });

  it("fails, once, with an output that does not fit: its work was done", async () => {
    let called = 0;
    const execute = () => ({ called: ++called });
    const odd = stepType({ ...definition(), output: z.object({ payment: z.string() }), execute });
    const failed = await run(step({ cents: 5 }, { retry }), odd);
    expect(failed).toMatchObject({ status: "failed", error: { code: "invalid_step_output", retryable: false } });
    expect(called).toBe(1);
  });

  it("refuses, as an operation does, without a look at its schema", async () => {
    const refusal = { code: "no_funds", message: "There is not enough." };
    const poor = stepType({ ...definition(), output: z.object({ payment: z.string() }), execute: () => refusal });
    expect(await run(step({ cents: 5 }), poor)).toMatchObject({ error: refusal });
  });

  it("may run again after its time was up, where doing it twice does no harm and the step says nothing else", async () => {
    const attempts = async (idempotent: boolean, more: object = {}) => {
      let called = 0;
      const execute = () => (++called < 2 ? new Promise<never>(() => undefined) : called);
      const slow = stepType({ ...definition(), idempotent, execute });
      await run(step({ cents: 5 }, { retry, timeout: "1ms", ...more }), slow);
      return called;
    };
    expect([await attempts(false), await attempts(true), await attempts(true, { idempotent: false })]).toEqual([
      1, 2, 1,
    ]);
  });
});

describe("a definition of a type of step", () => {
  const because = (detail: string) => expect.objectContaining({ code: "invalid_step_type", detail });

  it.each([
    [{ type: " " }, "type must be a name such as acme/charge ( )"],
    [{ type: 7 }, "type must be a name such as acme/charge"],
    [{ type: "ability" }, "type must be a name of its own, such as acme/charge (ability)"],
    [{ type: "sleep" }, "type must be a name of its own, such as acme/charge (sleep)"],
    [{ type: "__proto__" }, "type must be a name of its own, such as acme/charge (__proto__)"],
    [{ input: undefined }, "input must be a zod schema, a Standard Schema or a JSON Schema (acme/charge)"],
    [{ output: "text" }, "output must be a zod schema, a Standard Schema or a JSON Schema (acme/charge)"],
    [{ execute: undefined }, "execute must be a function (acme/charge)"],
    [{ reconcile: true }, "reconcile must be a function (acme/charge)"],
    [{ idempotent: "yes" }, "idempotent must be true or false (acme/charge)"],
    [{ timeout: "1s" }, "timeout is no field of a type of step (acme/charge)"],
  ])("is refused with %j", (wrong, detail) => {
    expect(() => stepType({ ...definition(), ...wrong } as unknown as ReturnType<typeof definition>)).toThrow(
      because(detail),
    );
  });
});

describe("a spec with steps of such a type", () => {
  const errorsOf = (input: unknown, stepTypes: readonly unknown[] = [charge]) => {
    const { errors } = checkWorkflow({ id: "w", steps: [{ ...step(input), undo: step(input) }] }, { stepTypes });
    return errors.map(({ path, code }) => `${path} ${code}`);
  };

  it("is refused for an input that cannot fit, where it stands", () => {
    expect(errorsOf({ cents: 5 })).toEqual([]);
    const wrong = ["steps.0", "steps.0.undo"].map((path) => `${path}.input.cents invalid_step_input`);
    expect(errorsOf({ cents: 0 })).toEqual(wrong);
    expect(errorsOf(undefined)).toEqual(wrong);
    const list = stepType({ ...definition(), input: z.object({ lines: z.array(money) }) });
    expect(errorsOf({ lines: [{ cents: 1 }, {}] }, [list])[0]).toBe("steps.0.input.lines.1.cents invalid_step_input");
  });

  it("is not refused for what only a run can know: an input with a binding, a schema that needs time", () => {
    expect(errorsOf({ cents: "${inputs.cents}" })).toEqual([]);
    const validate = async () => ({ issues: [{ message: "no" }] });
    const slow: StandardSchema = { "~standard": { version: 1, vendor: "acme", validate } };
    expect(errorsOf({}, [stepType({ ...definition(), input: slow })])).toEqual([]);
  });

  it("is refused for types that are not known", () => {
    expect(errorsOf({ cents: 0 }, ["acme/charge"])).toEqual([]);
    expect(errorsOf({}, [])).toContain("steps.0.type unknown_step_type");
  });
});

function definition() {
  return { type: "acme/charge", input: money, execute: () => ({}) as unknown };
}
