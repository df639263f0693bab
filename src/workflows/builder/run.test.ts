// What is built runs as a spec does, through the same machine.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json, JsonMap } from "../../contracts/json.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import { resumeWorkflow } from "../in-memory/resume-workflow.ts";
import { runWorkflow } from "../in-memory/run-workflow.ts";
import type { WorkflowHost } from "../in-memory/workflow-host.ts";
import type { StepFunctionContext } from "../steps/step-work.ts";
import { branch, when } from "./branch.ts";
import { askAgent, operation, run, sleep } from "./call-steps.ts";
import { foreach } from "./foreach.ts";
import { parallel } from "./parallel.ts";
import { workflow } from "./workflow.ts";

const orders: Readonly<Record<string, Json>> = {
  "7": { id: "7", total: 1_200, lines: [{ sku: "cup" }, { sku: "jug" }] },
};

const host: WorkflowHost = {
  operations: {
    has: () => true,
    call: (name, input) => {
      const { order = "", message = "" } = input as { readonly order?: string; readonly message?: string };
      return name === "shop/find-order" ? orders[order] : { reply: `Thank you for: ${message}` };
    },
  },
};

type Order = { readonly id: string; readonly total: number; readonly lines: readonly { readonly sku: string }[] };

const inputs = z.object({ order: z.string(), cents: z.int().default(100) });
const found = workflow("refund", { inputs }).step("find", ({ inputs }) =>
  operation<Order>("shop/find-order", { order: inputs.order }),
);

describe("a run of a workflow in TypeScript", () => {
  it("takes values from step to step, through operations, functions and agents", async () => {
    const refund = found
      .step("check", ({ inputs, steps }) =>
        run(({ total, cents }) => ({ left: total - cents }), { total: steps.find.total, cents: inputs.cents }),
      )
      .step("tell", ({ steps }) => askAgent("support", `order ${steps.find.id}, ${steps.check.left} left`));
    expect(await runWorkflow(refund, { order: "7" }, {}, host)).toMatchObject({
      status: "succeeded",
      inputs: { order: "7", cents: 100 },
      output: { steps: { check: { left: 1_100 } }, last: { reply: "Thank you for: order 7, 1100 left" } },
    });
  });

  it("goes through lists in lists, and through branches, with what each of them sees", async () => {
    const packed = found
      .step("each", ({ steps: { find } }) =>
        foreach(
          find.lines,
          (line) =>
            line.step("sizes", ({ item }) =>
              foreach(["s", "l"], (size) =>
                size.step("pack", ({ item: name }) =>
                  run(({ order, sku, size }) => ({ box: `${order}-${sku}-${size}` }), {
                    order: find.id,
                    sku: item.sku,
                    size: name,
                  }),
                ),
              ),
            ),
          { concurrency: 2 },
        ),
      )
      .step("boxes", ({ steps: { each } }) =>
        run(
          (lines) => lines.flatMap(({ last }) => last.iterations.map(({ steps: { pack } }) => pack.box)),
          each.iterations,
        ),
      )
      .step("ask", ({ steps: { boxes } }) =>
        parallel({
          context: { boxes },
          required: ["count"],
          branches: {
            count: (branch) =>
              branch.step("count", ({ context }) => run((list: readonly string[]) => list.length, context.boxes)),
            fail: (branch) => branch.step("fail", () => run(() => Promise.reject<null>(new Error("no")))),
          },
          aggregate: (branch) =>
            branch.step("sum", ({ outputs }) =>
              run((counted, { signal }) => ({ counted, isOver: signal.aborted }), outputs.count.value),
            ),
        }),
      );
    expect(await runWorkflow(packed, { order: "7" }, {}, host)).toMatchObject({
      status: "succeeded",
      output: {
        steps: { boxes: ["7-cup-s", "7-cup-l", "7-jug-s", "7-jug-l"] },
        last: {
          branch_outputs: { count: { value: 4 }, fail: { error: { message: "no" } } },
          final: { counted: 4, isOver: false },
        },
      },
    });
  });

  it("gives a function one key for all attempts at a step, and another for every other step, item and run", async () => {
    const keys: string[] = [];
    const note = (name: string, { idempotencyKey }: StepFunctionContext) => {
      keys.push(`${name}: ${idempotencyKey}`);
      if (name === "flaky" && keys.length < 3) throw new Error("again");
      return { name };
    };
    const noted = workflow("noted")
      .step("flaky", () => run(note, "flaky"), { retry: { maxAttempts: 3, backoff: "1ms" }, undo: run(note, "undo") })
      .step("each", () => foreach(["a", "b"], (each) => each.step("item", ({ item }) => run(note, item))))
      .step("ask", () => parallel({ branches: { role: (branch) => branch.step("branch", run(note, "role")) } }))
      .step("fail", () => run(() => ({ code: "no_funds", message: "There is not enough." })))
      .onFailure((failure) => failure.step("after", ({ error }) => run(note, error.code)));
    const done = await runWorkflow(noted, {}, { run_id: "r1" });
    expect(done).toMatchObject({ status: "failed", error: { code: "no_funds" } });
    expect(keys).toEqual([
      ...["flaky: 0@r1", "flaky: 0@r1", "flaky: 0@r1", "a: 1/0/0@r1", "b: 1/1/0@r1", "role: 2/0/0@r1"],
      ...["undo: undo/0@r1", "no_funds: on_failure/0@r1"],
    ]);
  });

  it("takes the first case that holds", async () => {
    const chosen = found.step("choose", ({ inputs, steps: { find } }) =>
      branch(
        [
          when({ path: find.total, op: "lt", value: 5 }, (then) => then.step("a", () => run(() => "small"))),
          when({ path: inputs.cents, op: "eq", value: 3 }, (then) =>
            then.step("a", () => run((id) => `three of ${id}`, find.id)),
          ),
        ],
        (otherwise) => otherwise.step("a", () => run(() => "large")),
      ),
    );
    const last = async (cents: number) => (await runWorkflow(chosen, { order: "7", cents }, {}, host)).output;
    expect(await last(3)).toMatchObject({ last: { case: 1, last: { value: "three of 7" } } });
    expect(await last(4)).toMatchObject({ last: { case: "else", last: { value: "large" } } });
  });

  it("undoes what has succeeded when a later step fails", async () => {
    const undone: unknown[] = [];
    const paid = found
      .step("pay", () => run(() => ({ payment: "p1" })), {
        undo: ({ output, steps }) =>
          run((what) => void undone.push(what), { payment: output.payment, order: steps.find.id }),
      })
      .step("fail", () => run(() => Promise.reject<null>(new Error("no"))));
    expect(await runWorkflow(paid, { order: "7" }, {}, host)).toMatchObject({ status: "failed" });
    expect(undone).toEqual([{ payment: "p1", order: "7" }]);
  });

  it("does not begin with inputs that the schema refuses, and says why", async () => {
    const built = found.step("rest", sleep("1ms"));
    const wrong = { order: 7 } as unknown as { order: string };
    expect(await runWorkflow(built, wrong, {}, host)).toMatchObject({
      status: "failed",
      error: { code: "workflow_inputs_invalid", data: { problems: [{ path: "order" }] } },
      inputs: { order: 7 },
      steps: [],
    });
    const missing = {} as { order: string };
    expect(await runWorkflow(built, missing, {}, host)).toMatchObject({ error: { code: "missing_required_input" } });
  });

  it("fails at a function that the program does not have", async () => {
    const built = workflow("w").step("a", () => run(() => 1));
    const without = { spec: built.spec, functions: {} };
    expect(await runWorkflow(without, {})).toMatchObject({ error: { code: "workflow_function_missing" } });
  });

  it("goes on after it has waited, with the functions that the host has for it", async () => {
    const records = new Map<string, JsonMap>();
    const recorder: RunRecorder = {
      start: (run) => void records.set(String(run.run_id), run),
      update: (run) => void records.set(String(run.run_id), run),
      find: (runId) => records.get(runId),
    };
    const built = workflow("w")
      .step("wait", () => run(() => ({ _suspend: { reason: "somebody has to agree" } })))
      .step("go", () => run((_, { idempotencyKey }) => ({ idempotencyKey })));
    const waiting = await runWorkflow(built, {}, { run_id: "r1" }, { recorder });
    expect(waiting).toMatchObject({ status: "suspended", metadata: { _suspension: { step_id: "wait" } } });
    const [step] = Object.values(waiting.steps);
    records.set("r1", { ...waiting, steps: [{ ...(step as JsonMap), status: "succeeded", output: {} }] } as JsonMap);
    const done = await resumeWorkflow("r1", {}, { recorder, functions: built.functions });
    expect(done).toMatchObject({ status: "succeeded", output: { last: { idempotencyKey: "1@r1" } } });
  });
});
