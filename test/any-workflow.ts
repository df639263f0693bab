// Workflows of any shape, and answers to their steps.
import * as fc from "fast-check";
import type { Json, JsonMap } from "../src/contracts/json.ts";
import { type Answer, echo } from "./workflow-machine.ts";

const args = fc.constantFrom<Json>({}, { v: "${vars.item}" }, { n: "${steps.a.output}", i: "${inputs.q}" });
const flags = fc.record({ continue_on_error: fc.boolean(), undo: fc.constantFrom(false, true) });
const { steps: anySteps } = fc.letrec<{ step: JsonMap; steps: JsonMap[]; named: JsonMap[] }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ args, flags, isRetried: fc.boolean() }).map(({ args: given, flags: { undo }, isRetried }) => ({
      ...{ type: "ability", ability: "demo/a", args: given },
      ...(isRetried && { retry: { max_attempts: 2, backoff: "0s" } }),
      ...(undo && { undo: { type: "ability", ability: "demo/undo", args: { of: "${vars.output}" } } }),
    })),
    fc
      .record({
        items: fc.array(fc.nat(9), { maxLength: 4 }),
        steps: tie("named"),
        flags,
        concurrency: fc.integer({ min: 1, max: 3 }),
      })
      .map(({ items, steps, flags: { continue_on_error }, concurrency }) => ({
        ...{ type: "foreach", items, steps, continue_on_error, concurrency },
      })),
    fc
      .record({ items: fc.array(fc.nat(9), { maxLength: 4 }), steps: tie("named"), flags })
      .map(({ items, steps, flags: { continue_on_error } }) => ({
        type: "parallel",
        items,
        steps,
        continue_on_error,
      })),
    fc
      .record({ steps: tie("named"), value: fc.constantFrom("Q", "other"), otherwise: fc.boolean() })
      .map(({ steps, value, otherwise }) => ({
        type: "branch",
        cases: [{ when: { path: "inputs.q", op: "eq", value }, steps }],
        ...(otherwise && { else: steps }),
      })),
    fc
      .array(fc.record({ steps: tie("named"), required: fc.boolean(), is_aggregator: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      })
      .map((branches) => ({
        type: "parallel",
        branches: branches.map(({ is_aggregator, ...branch }, index) => ({
          ...branch,
          role: `r${index}`,
          is_aggregator: is_aggregator && branches.findIndex((each) => each.is_aggregator) === index,
        })),
      })),
  ),
  named: fc
    .array(tie("step"), { minLength: 1, maxLength: 3 })
    .map((steps) => steps.map((step, index) => ({ id: "abc"[index] ?? "d", ...step }))),
  steps: tie("named"),
}));

/** Fails for some paths, always the same ones. */
export const answering =
  (every: number): Answer =>
  (order) =>
    every > 0 && [...order.path].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % every === 0
      ? { as: "failed", error: { code: `at ${order.path}`, message: "no" } }
      : echo(order);

export const anyRun = fc.record({ steps: anySteps, continueOnError: fc.boolean(), every: fc.nat(7) });
