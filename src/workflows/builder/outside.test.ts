// Steps that wait for what happens outside, run other workflows, or are of types of the program.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonMap } from "../../contracts/json.ts";
import { checkWorkflow } from "../../contracts/workflows/check-workflow.ts";
import { runWorkflow } from "../in-memory/run-workflow.ts";
import { stepType } from "../steps/step-type.ts";
import { operation, run, sleep } from "./call-steps.ts";
import { foreach } from "./foreach.ts";
import { nested } from "./nested.ts";
import { parallel } from "./parallel.ts";
import { stepOf } from "./step-of.ts";
import { waitForApproval, waitForEvent, waitForRequest } from "./wait-steps.ts";
import { workflow } from "./workflow.ts";

const inputs = z.object({ order: z.string(), cents: z.int() });
const ship = workflow("ship", { inputs });
const stepsOf = ({ spec }: { readonly spec: JsonMap }) => spec.steps as readonly JsonMap[];
const because = (detail: unknown) => expect.objectContaining({ code: "invalid_workflow", detail });

type Untyped = { step: (...given: unknown[]) => typeof built };
const built = ship.step("rest", sleep("1s"));
const unchecked = ship as unknown as Untyped;

describe("a step that waits", () => {
  it("waits for an event, a decision or an answer", () => {
    const waiting = ship
      .step("paid", ({ inputs }) =>
        waitForEvent("order.paid", {
          payload: z.object({ cents: z.int(), order: z.object({ id: z.string() }) }),
          match: { "order.id": inputs.order },
          timeout: "2d",
        }),
      )
      .step("ok", ({ inputs, steps: { paid } }) =>
        waitForApproval(`Ship ${inputs.order} for ${paid.cents}?`, { approvers: { capability: "shop.ship" } }),
      )
      .step(
        "where",
        ({ inputs }) =>
          waitForRequest("shop/address", { shown: { order: inputs.order }, result: z.object({ city: z.string() }) }),
        { undo: ({ output }) => operation("shop/forget", { city: output.city }) },
      );
    expect(stepsOf(waiting)).toEqual([
      {
        id: "paid",
        type: "wait",
        event: "order.paid",
        match: { "order.id": "${inputs.order}" },
        payload: {
          type: "object",
          properties: {
            cents: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
            order: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
          },
          required: ["cents", "order"],
        },
        timeout: "2d",
      },
      {
        id: "ok",
        type: "wait",
        approval: {
          summary: "Ship ${inputs.order} for ${steps.paid.output.cents}?",
          approvers: { capability: "shop.ship" },
        },
      },
      {
        id: "where",
        type: "wait",
        request: {
          name: "shop/address",
          shown: { order: "${inputs.order}" },
          schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
        undo: { type: "ability", ability: "shop/forget", args: { city: "${vars.output.city}" } },
      },
    ]);
    expect(checkWorkflow(waiting.spec)).toEqual({ errors: [], notices: [] });
  });

  it.each([
    ["no event", () => waitForEvent(" "), "it needs text for its event"],
    ["no time", () => waitForEvent("e", { timeout: "soon" }), "timeout is no duration such as 30s"],
    ["no time at all", () => waitForEvent("e", { timeout: "0s" }), "timeout is no duration such as 30s"],
    ["an option that there is not", () => waitForEvent("e", { until: "1s" } as object), "until means nothing here"],
    ["nothing to approve", () => waitForApproval(""), "it needs text for its summary"],
    [
      "no approvers",
      () => waitForApproval("Go?", { approvers: { users: [] } }),
      "approvers users must be a list of user numbers",
    ],
    [
      "no schema",
      () => waitForRequest("a", { result: "text" as unknown as JsonMap }),
      "result must be a zod schema, a Standard Schema or a JSON Schema",
    ],
    [
      "a schema with a binding in it",
      () => waitForEvent("e", { payload: { title: "${inputs.order}" } }),
      "payload cannot hold ${, which begins a binding",
    ],
  ])("is refused with %s", (_, step, detail) => {
    expect(() => unchecked.step("a", step)).toThrow(because(`ship/a: ${detail}`));
  });
});

describe("a step that runs another workflow", () => {
  it("names it, and has it known where it was given whole", () => {
    const all = workflow("all", { inputs })
      .step("one", ({ inputs }) => nested(built, { order: inputs.order, cents: inputs.cents }))
      .step("each", () =>
        foreach(["a"], (each) =>
          each.step("two", ({ item }) => nested(built, { order: item, cents: 3 }, { detached: true }), {
            undo: ({ output }) => nested("unship", { run: output.run_id }),
          }),
        ),
      );
    const [one, each] = stepsOf(all);
    const given = { order: "${inputs.order}", cents: "${inputs.cents}" };
    expect(one).toEqual({ id: "one", type: "workflow", workflow: "ship", inputs: given });
    expect(each?.steps).toEqual([
      {
        id: "two",
        type: "workflow",
        workflow: "ship",
        inputs: { order: "${vars.item}", cents: 3 },
        detached: true,
        undo: { type: "workflow", workflow: "unship", inputs: { run: "${vars.output.run_id}" } },
      },
    ]);
    expect(all.workflows).toEqual([built]);
    expect(checkWorkflow(all.spec)).toEqual({ errors: [], notices: [] });
  });

  it("cannot run a workflow that runs it again, however far down", () => {
    const inner = workflow("inner").step("a", () => nested("outer"));
    const middle = workflow("middle").step("a", () => nested(inner));
    const outer = workflow("outer").step("a", () => nested(middle));
    expect(() => outer.spec).toThrow(
      because('outer, at steps.0.workflow of its spec: The workflow runs "middle", which runs it again.'),
    );
  });

  it("means one workflow by an id", () => {
    const other = ship.step("other", sleep("1s"));
    const given = { order: "7", cents: 1 };
    const both = workflow("both")
      .step("a", () => nested(built, given))
      .step("b", () => nested(other, given));
    expect(() => both.spec).toThrow(because('both: two workflows that it runs have the id "ship"'));
  });

  it.each([
    ["no workflow", () => nested(7 as unknown as string), "nested needs a workflow that has steps, or the id of one"],
    [
      "one without steps",
      () => nested(ship as unknown as string),
      "nested needs a workflow that has steps, or the id of one",
    ],
    ["a blank id", () => nested(""), "it needs text for its workflow"],
    ["an option that there is not", () => nested("a", {}, { attached: true } as object), "attached means nothing here"],
  ])("is refused with %s", (_, step, detail) => {
    expect(() => unchecked.step("a", step)).toThrow(because(`ship/a: ${detail}`));
  });
});

describe("a step of a type of the program", () => {
  const charge = stepType({
    type: "acme/charge",
    input: z.object({ cents: z.int().positive(), currency: z.string().default("EUR") }),
    output: z.object({ payment: z.string() }),
    execute: ({ cents, currency }, { idempotencyKey }) => ({ payment: `${cents} ${currency}, ${idempotencyKey}` }),
  });

  it("runs with its type, wherever it stands, and its output flows on", async () => {
    const paid = ship
      .step("pay", ({ inputs }) => stepOf(charge, { cents: inputs.cents }), { retry: { maxAttempts: 2 } })
      .step("more", () => parallel({ branches: { tip: (tip) => tip.step("give", stepOf(charge, { cents: 1 })) } }))
      .step("tell", ({ steps: { pay, more } }) => run((all) => all, [pay.payment, more.branch_outputs]));
    expect(stepsOf(paid)[0]).toEqual({
      id: "pay",
      type: "acme/charge",
      input: { cents: "${inputs.cents}" },
      retry: { max_attempts: 2 },
    });
    expect(paid.stepTypes).toEqual([charge]);
    const done = await runWorkflow(paid, { order: "7", cents: 5 }, { run_id: "r1" });
    expect(done).toMatchObject({
      status: "succeeded",
      output: { last: ["5 EUR, 0@r1", { tip: { payment: "1 EUR, 1/0/0@r1" } }] },
    });
  });

  it("is refused for an input that cannot fit", () => {
    const wrong = ship.step("pay", () => stepOf(charge, { cents: 0 }));
    expect(() => wrong.spec).toThrow(because(expect.stringMatching(/^ship, at steps.0.input.cents of its spec: /)));
    expect(() => unchecked.step("a", () => stepOf({ type: "x" } as unknown as typeof charge, { cents: 1 }))).toThrow(
      because("ship/a: stepOf needs what stepType has made"),
    );
    const other = stepType({ type: "acme/charge", input: {}, execute: () => null });
    const both = ship.step("a", stepOf(charge, { cents: 1 })).step("b", stepOf(other));
    expect(() => both.spec).toThrow(because('ship: two types of steps have the name "acme/charge"'));
  });
});

describe("a function with more to say", () => {
  it("runs as any other, and a driver finds what it can be asked", async () => {
    const reconcile = () => ({ status: "absent" as const });
    const counted = ship.step("count", ({ inputs }) =>
      run({ run: (cents, { attempt }) => ({ cents, attempt }), reconcile, idempotent: true }, inputs.cents),
    );
    expect(stepsOf(counted)).toEqual([
      { id: "count", type: "function", function: "ship/count", input: "${inputs.cents}" },
    ]);
    expect(counted.functions["ship/count"]).toMatchObject({ reconcile, idempotent: true });
    expect(await runWorkflow(counted, { order: "7", cents: 5 })).toMatchObject({
      output: { last: { cents: 5, attempt: 1 } },
    });
  });

  it("is made again when its time was up, if doing it twice does no harm", async () => {
    const attempts = async (idempotent: boolean) => {
      let called = 0;
      const slow = () => (++called < 2 ? new Promise<number>(() => undefined) : called);
      const options = { timeout: "1ms", retry: { maxAttempts: 2, backoff: "1ms" } };
      await runWorkflow(
        workflow("w").step("a", () => run({ run: slow, idempotent }), options),
        {},
      );
      return called;
    };
    expect([await attempts(false), await attempts(true)]).toEqual([1, 2]);
  });

  it.each([
    ["nothing to run", { reconcile: true }],
    ["a reconcile that cannot be called", { run: String, reconcile: true }],
    ["more than there is to say", { run: String, retry: 3 }],
  ])("is refused with %s", (_, work) => {
    expect(() => unchecked.step("a", () => run(work as unknown as () => number))).toThrow(
      because("ship/a: run needs a function, or { run, reconcile?, idempotent? }"),
    );
  });
});
