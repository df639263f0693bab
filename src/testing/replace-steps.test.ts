import { describe, expect, it } from "vitest";
import type { JsonMap } from "../contracts/json.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import { checkWorkflow } from "../contracts/workflows/check-workflow.ts";
import { normalize } from "../contracts/workflows/spec.ts";
import {
  branch,
  foreach,
  operation,
  parallel,
  run,
  runWorkflow,
  stepOf,
  stepType,
  waitForApproval,
  when,
  workflow,
} from "../index.ts";
import { replaceSteps } from "./replace-steps.ts";

type Order = { id: string; lines: { sku: string }[] };

const charge = stepType({ type: "acme/charge", input: {}, execute: () => ({ payment: "real" }) });

const refund = workflow("refund")
  .step("find", () => operation<Order>("shop/find-order", { order: "7" }))
  .step("ok", ({ steps: { find } }) => waitForApproval(`Refund ${find.id}?`, { timeout: "1d" }))
  .step("each", ({ steps: { find } }) =>
    foreach(find.lines, (line) =>
      line.step("take_back", ({ item }) => operation<{ back: string }>("shop/take-back", { sku: item.sku }), {
        retry: { maxAttempts: 2, backoff: "1ms" },
        undo: ({ output }) => run(({ back }) => void undone.push(`real ${back}`), { back: output.back }),
      }),
    ),
  )
  .step("pay", ({ steps: { find } }) => stepOf(charge, { order: find.id }));

const undone: string[] = [];
const order = { id: "Order 7", lines: [{ sku: "cup" }, { sku: "jug" }] };
const ok = () => ({ decision: "accepted", by: "user:7" });
const stepsOf = ({ spec }: { readonly spec: JsonMap }) => spec.steps as readonly JsonMap[];

describe("a workflow whose steps are replaced", () => {
  it("calls functions in the places of steps, with what the steps would have called something with", async () => {
    const seen: unknown[] = [];
    const tested = replaceSteps(refund, {
      find: (input) => {
        seen.push(input);
        return order;
      },
      ok,
      "each/take_back": ({ sku }: { sku: string }, { attempt }) => {
        if (attempt === 1) throw new Error("again");
        return { back: sku };
      },
    });
    const { status, output } = await runWorkflow(tested, {});
    expect(status).toBe("succeeded");
    expect(output).toMatchObject({
      steps: { each: { iterations: [{ last: { back: "cup" } }, { last: { back: "jug" } }] } },
      last: { payment: "real" },
    });
    expect(seen).toEqual([{ order: "7" }]);
    expect(stepsOf(tested)[3]).toEqual(stepsOf(refund)[3]);
    expect(stepsOf(refund)[0]).toMatchObject({ type: "ability" });
    expect(checkWorkflow(tested.spec, { stepTypes: [charge] }).errors).toEqual([]);
  });

  it("is undone as before, unless what undoes a step is replaced too", async () => {
    undone.length = 0;
    const places = { find: () => order, ok, "each/take_back": ({ sku }: { sku: string }) => ({ back: sku }) };
    const pay = () => ({ code: "no_funds", message: "There is not enough." });
    await runWorkflow(replaceSteps(refund, { ...places, pay }), {});
    expect(undone).toEqual(["real jug", "real cup"]);
    const undo = ({ back }: { back: string }) => void undone.push(`not ${back}`);
    await runWorkflow(replaceSteps(refund, { ...places, pay, "each/take_back.undo": undo }), {});
    expect(undone.slice(2)).toEqual(["not jug", "not cup"]);
  });

  it("can have whole steps with steps in them replaced, and what stands in cases, branches and behind a failure", async () => {
    const built = workflow("w")
      .step("ask", () =>
        parallel({ branches: { legal: (legal) => legal.step("read", () => operation<{ n: number }>("read")) } }),
      )
      .step("choose", ({ steps: { ask } }) =>
        branch(
          [when({ path: ask.shape, op: "eq", value: "none" }, (then) => then.step("a", () => operation("a")))],
          (otherwise) => otherwise.step("a", () => operation("b")),
        ),
      )
      .step("each", ({ steps: { choose } }) =>
        foreach([1, 2], (each) => each.step("b", () => operation("b", { last: choose.last })), { concurrency: 2 }),
      )
      .onFailure((failure) => failure.step("tell", () => operation("tell")));
    const notes: unknown[] = [];
    const tested = replaceSteps(built, {
      "ask/legal/read": () => ({ n: 7 }),
      "choose/0/a": () => "never",
      "choose/else/a": () => "taken",
      each: (input) => {
        notes.push(input);
        throw new Error("no");
      },
      tell: (input) => void notes.push(input),
    });
    expect(await runWorkflow(tested, {})).toMatchObject({ status: "failed", error: { message: "no" } });
    expect(notes).toEqual([{ items: [1, 2] }, {}]);
  });

  it("can be a plain spec, whose host has the other functions and no say about those", async () => {
    const steps = [
      { id: "a", type: "ability", ability: "a", args: { n: 1 }, undo: { type: "function", function: "undo" } },
      { id: "b", type: "function", function: "b", input: "${steps.a.output.n}" },
      { id: "c", type: "shout" },
    ];
    const spec = normalize({ id: "w", steps }, { knownStepTypes: ["function", "shout"] });
    if (isOperationError(spec)) throw new Error(spec.message);
    const functions = { b: (n: unknown) => n, "w/a": () => "the host's" };
    for (const given of [spec, { id: "w", steps }]) {
      const tested = replaceSteps(given, { a: () => ({ n: 2 }), c: (input) => input });
      expect(await runWorkflow(tested, {}, {}, { functions })).toMatchObject({
        status: "succeeded",
        output: { steps: { a: { n: 2 }, b: { value: 2 }, c: {} } },
      });
    }
  });

  it("leaves what undoes a step what it could refer to", async () => {
    const undo = { type: "function", function: "undo", input: "${vars.input.args.n}" };
    const steps = [
      { id: "a", type: "ability", ability: "a", args: { n: 1 }, undo },
      { id: "b", type: "ability", ability: "none" },
    ];
    const seen: unknown[] = [];
    const tested = replaceSteps({ id: "w", steps }, { a: () => null });
    await runWorkflow(tested, {}, {}, { functions: { undo: (n: unknown) => void seen.push(n) } });
    expect(seen).toEqual([1]);
  });

  it("can be replaced again, where the last word counts", async () => {
    const once = replaceSteps(refund, { find: () => order, ok, each: () => 1, pay: () => "first" });
    const twice = replaceSteps(once, { pay: () => "second" });
    expect(await runWorkflow(twice, {})).toMatchObject({ output: { last: { value: "second" } } });
    expect(await runWorkflow(once, {})).toMatchObject({ output: { last: { value: "first" } } });
  });
});

describe("what cannot be replaced", () => {
  const refused = (code: string, detail: unknown) => expect.objectContaining({ code, detail });

  it.each(["fnd", "take_back", "refund/find", "each/take_back/undo", "find.undo", "__proto__"])(
    "is a step that there is not: %s",
    (place) => {
      const known = "find, ok, each, each/take_back, each/take_back.undo, pay";
      const detail = `refund: no step stands at "${place}", only at ${known}`;
      expect(() => replaceSteps(refund, Object.fromEntries([[place, () => null]]))).toThrow(
        refused("workflow_step_not_found", detail),
      );
    },
  );

  it("is a place that two steps have, a value that is no function, and a spec that is wrong", () => {
    const a = { id: "a", type: "ability", ability: "a" };
    const twice = { id: "w", steps: [a], on_failure: [a] };
    expect(() => replaceSteps(twice, { a: () => null })).toThrow(
      refused("workflow_step_not_found", 'w: 2 steps stand at "a"'),
    );
    expect(() => replaceSteps(refund, { pay: 1 as unknown as () => null })).toThrow(
      refused("invalid_argument", "pay must be a function."),
    );
    expect(() => replaceSteps({ id: "w", steps: [] }, {})).toThrow(
      refused("invalid_workflow", expect.stringMatching(/^w, at steps: /)),
    );
  });
});
