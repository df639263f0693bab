import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonMap } from "../../contracts/json.ts";
import { checkWorkflow } from "../../contracts/workflows/check-workflow.ts";
import { branch, type Condition, when } from "./branch.ts";
import { askAgent, operation, run, sleep } from "./call-steps.ts";
import { foreach } from "./foreach.ts";
import { parallel } from "./parallel.ts";
import type { Reference } from "./reference.ts";
import { workflow } from "./workflow.ts";

type Order = { readonly id: string; readonly lines: readonly { readonly sku: string; readonly parts: string[] }[] };

const inputs = z.object({ order: z.string(), cents: z.int().optional() });
const refund = workflow("refund", { inputs, version: "2", meta: { team: "shop" } });
const found = refund.step("find", ({ inputs }) => operation<Order>("shop/find-order", { order: inputs.order }));

const stepsOf = ({ spec }: { readonly spec: JsonMap }) => spec.steps as readonly JsonMap[];
const lastOf = (built: { readonly spec: JsonMap }) => stepsOf(built).at(-1);

describe("a workflow in TypeScript", () => {
  it("is the spec that a file would hold, with references as bindings", () => {
    const built = found
      .step("check", ({ steps }) => run(() => ({ ok: true }), { id: steps.find.id, first: [steps.find.lines[0]?.sku] }))
      .step("tell", ({ steps }) => askAgent("support", `Order ${steps.find.id} is ${steps.check.ok}.`))
      .step("rest", sleep("1h"));
    expect(built.spec).toEqual({
      id: "refund",
      version: "2",
      meta: { team: "shop" },
      inputs: { order: { type: "string", required: true }, cents: { type: "integer" } },
      steps: [
        { id: "find", type: "ability", ability: "shop/find-order", args: { order: "${inputs.order}" } },
        {
          id: "check",
          type: "function",
          function: "refund/check",
          input: { id: "${steps.find.output.id}", first: ["${steps.find.output.lines.0.sku}"] },
        },
        {
          id: "tell",
          type: "agent",
          agent: "support",
          message: "Order ${steps.find.output.id} is ${steps.check.output.ok}.",
        },
        { id: "rest", type: "sleep", for: "1h" },
      ],
    });
    expect(Object.keys(built.functions)).toEqual(["refund/check"]);
    expect(built.spec).toBe(built.spec);
    expect([Object.isFrozen(built.spec), Object.isFrozen(lastOf(built))]).toEqual([true, true]);
    expect(checkWorkflow(built.spec)).toEqual({ errors: [], notices: [] });
  });

  it("never changes: each step makes a longer one", () => {
    const [left, right] = [found.step("left", sleep("1s")), found.step("right", sleep("1s"))];
    expect([found, left, right].map((each) => stepsOf(each).map(({ id }) => id))).toEqual([
      ["find"],
      ["find", "left"],
      ["find", "right"],
    ]);
  });

  it("has the options of a step in the shape of the spec", () => {
    const undone = found.step("pay", () => operation<{ id: string }>("shop/pay"), {
      retry: { maxAttempts: 3, backoff: "2s", multiplier: 1, maxBackoff: "1m" },
      timeout: "30s",
      idempotent: true,
      undo: ({ output, steps }) => run(() => null, { payment: output.id, order: steps.find.id }),
    });
    expect(lastOf(undone)).toEqual({
      id: "pay",
      type: "ability",
      ability: "shop/pay",
      args: {},
      retry: { max_attempts: 3, backoff: "2s", multiplier: 1, max_backoff: "1m" },
      timeout: "30s",
      idempotent: true,
      undo: {
        type: "function",
        function: "refund/pay.undo",
        input: { payment: "${vars.output.id}", order: "${steps.find.output.id}" },
      },
    });
    expect(Object.keys(undone.functions)).toEqual(["refund/pay.undo"]);
  });

  it("names the items of a list in a list differently, so that both can be referred to", () => {
    const each = found.step("each", ({ steps: { find } }) =>
      foreach(
        find.lines,
        (line) =>
          line.step("parts", ({ item, index }) =>
            foreach(item.parts, (part) =>
              part.step("pack", ({ item: name, index: at }) =>
                run(() => null, { order: find.id, sku: item.sku, index, name, at }),
              ),
            ),
          ),
        { concurrency: 4, continueOnError: true },
      ),
    );
    expect(lastOf(each)).toEqual({
      id: "each",
      type: "foreach",
      items: "${steps.find.output.lines}",
      concurrency: 4,
      continue_on_error: true,
      steps: [
        {
          id: "parts",
          type: "foreach",
          items: "${vars.item.parts}",
          as: "item_2",
          index_as: "index_2",
          steps: [
            {
              id: "pack",
              type: "function",
              function: "refund/each/parts/pack",
              input: {
                order: "${steps.find.output.id}",
                sku: "${vars.item.sku}",
                index: "${vars.index}",
                name: "${vars.item_2}",
                at: "${vars.index_2}",
              },
            },
          ],
        },
      ],
    });
  });

  it("has a branch for each role, and one that gets the outputs of all", () => {
    const asked = found.step("ask", ({ inputs, steps: { find } }) =>
      parallel({
        context: { order: find.id },
        required: ["legal"],
        branches: {
          legal: (branch) => branch.step("read", ({ context }) => run(() => 1, { order: context.order })),
          stock: (branch) => branch.step("read", () => run(() => 2, { order: inputs.order })),
        },
        aggregate: (branch) => branch.step("sum", ({ outputs }) => run(() => 3, outputs.legal.value)),
      }),
    );
    const read = (role: string, order: string) => ({
      id: "read",
      type: "function",
      function: `refund/ask/${role}/read`,
      input: { order },
    });
    expect(lastOf(asked)).toEqual({
      id: "ask",
      type: "parallel",
      context: { order: "${steps.find.output.id}" },
      branches: [
        { role: "legal", required: true, steps: [read("legal", "${vars.context.order}")] },
        { role: "stock", steps: [read("stock", "${inputs.order}")] },
        {
          role: "aggregate",
          required: true,
          is_aggregator: true,
          steps: [
            {
              id: "sum",
              type: "function",
              function: "refund/ask/aggregate/sum",
              input: "${vars.branch_outputs.legal.value}",
            },
          ],
        },
      ],
    });
  });

  it("has cases with predicates on references", () => {
    const chosen = found.step("choose", ({ inputs, steps: { find } }) =>
      branch(
        [
          when(
            { all: [{ path: find.id, op: "eq", value: "7" }, { not: { path: inputs.cents, op: "gt", value: 5 } }] },
            (then) => then.step("pay", () => run(() => null, { order: find.id })),
          ),
        ],
        (otherwise) => otherwise.step("pay", sleep("1s")),
      ),
    );
    expect(lastOf(chosen)).toEqual({
      id: "choose",
      type: "branch",
      cases: [
        {
          when: {
            all: [
              { path: "steps.find.output.id", op: "eq", value: "7" },
              { not: { path: "inputs.cents", op: "gt", value: 5 } },
            ],
          },
          steps: [
            {
              id: "pay",
              type: "function",
              function: "refund/choose/0/pay",
              input: { order: "${steps.find.output.id}" },
            },
          ],
        },
      ],
      else: [{ id: "pay", type: "sleep", for: "1s" }],
    });
    expect(checkWorkflow(chosen.spec)).toEqual({ errors: [], notices: [] });
  });

  it("refuses a predicate that could never hold", () => {
    const build = (condition: (order: Reference<Order>) => unknown) => () =>
      found.step("a", ({ steps: { find } }) =>
        branch([when(condition(find) as Condition, (then) => then.step("b", sleep("1s")))]),
      );
    expect(build(({ lines }) => ({ path: lines[0], op: "exists" }))).toThrow(
      /^invalid_workflow: refund\/a: no predicate can look into a list, as in steps.find.output.lines.0$/,
    );
    expect(build(() => ({ path: "steps.find", op: "exists" }))).toThrow(/the path of a predicate is a reference/);
    expect(build(({ id }) => ({ path: id, op: "like" }))).toThrow(/^invalid_workflow: refund\/a: /);
  });

  it("says what follows a failure", () => {
    const built = found.onFailure((failure) =>
      failure.step("tell", ({ error, steps }) => askAgent("support", `${steps.find.id}: ${error.message}`)),
    );
    expect(built.spec.on_failure).toEqual([
      { id: "tell", type: "agent", agent: "support", message: "${steps.find.output.id}: ${vars.error.message}" },
    ]);
  });
});

describe("a workflow that cannot become a spec", () => {
  const unchecked = found as unknown as { step: (...given: unknown[]) => typeof found };
  const because = (detail: string) => expect.objectContaining({ code: "invalid_workflow", detail });

  it.each(["", "a.b", "a}", "a b", "__proto__", "constructor", 7])("refuses the id %j", (id) => {
    expect(() => unchecked.step(id, sleep("1s"))).toThrow(
      because(`refund: ${JSON.stringify(id)} cannot be an id: letters, digits, _ and - make one`),
    );
  });

  it.each(["a.b", "a}", "", " a", "__proto__"])("refuses the key %j, which no binding can reach", (key) => {
    const build = () =>
      refund
        .step("find", () => operation<Readonly<Record<string, string>>>("shop/find"))
        .step("tell", ({ steps }) => {
          return operation("shop/tell", { text: `${steps.find[key]}` });
        });
    const detail = `refund/tell: no binding can reach ${JSON.stringify(key)} in steps.find.output`;
    expect(build).toThrow(because(detail));
  });

  it("refuses an id that a list around it has, because a binding could mean either", () => {
    const build = () =>
      found.step(
        "each",
        foreach(["a"], (each) => each.step("find", sleep("1s"))),
      );
    expect(build).toThrow(because('refund/each: there is a step "find" already, here or around'));
  });

  it.each([
    ["no step", () => undefined, "what was given is no step, or the function has not returned one"],
    ["a promise of one", async () => sleep("1s"), "what was given is no step, or the function has not returned one"],
    ["a function in its input", () => operation("a", { f: (() => 1) as unknown as string }), "a function is no JSON"],
    ["a bigint", () => operation("a", { n: 1n as unknown as number }), /a bigint has no JSON form/],
    ["no number", () => operation("a", { n: Number.NaN }), /it holds a number that is none/],
    ["a binding as a key", () => operation("a", { "${inputs.order}": 1 }), /cannot hold a binding/],
    ["no duration", () => sleep("soon"), '"soon" is no duration'],
    ["no steps for its items", () => foreach([1], (each) => each), "a list of steps has at least one"],
    [
      "the steps of another list",
      () => foreach([1], () => ({})),
      "the function that describes the steps has to return them",
    ],
    [
      "a required branch that there is not",
      () => parallel({ required: ["b"], branches: { a: (branch) => branch.step("b", sleep("1s")) } }),
      'no branch has the role "b"',
    ],
    [
      "a role that no binding can reach",
      () => parallel({ branches: { "a.b": (branch) => branch.step("b", sleep("1s")) } }),
      '"a.b" cannot be a role',
    ],
    [
      "too much at a time",
      () => foreach([1], (each) => each.step("b", sleep("1s")), { concurrency: 101 }),
      "concurrency is a whole number from 1 to 100",
    ],
  ])("refuses %s", (_, given, detail) => {
    const expected = typeof detail === "string" ? `refund/a: ${detail}` : expect.stringMatching(detail);
    expect(() => unchecked.step("a", given)).toThrow(because(expected as string));
  });

  it.each([{ retry: 3 }, { retry: { maxAttempts: 1 } }, { timeout: "soon" }, { retries: 3 }, { undo: {} }])(
    "refuses the options %j",
    (options) => {
      expect(() => unchecked.step("a", operation("a"), options)).toThrow(/^invalid_workflow: refund\/a(\.undo)?: /);
    },
  );

  it("refuses to undo what follows a failure, or undoes something itself: nobody would do it", () => {
    const undo = sleep("1s");
    const inside = () => foreach([1], (each) => each.step("b", operation("b"), { undo }));
    const where = /undo means nothing here: what runs now is never undone/;
    expect(() => found.onFailure((failure) => failure.step("a", operation("a"), { undo }))).toThrow(where);
    expect(() => found.step("a", operation("a"), { undo: inside })).toThrow(where);
  });

  it("refuses what the validator refuses, once the spec is asked for", () => {
    const late = found.step("a", () => operation("a", { text: "${steps.later.output}" }));
    expect(() => late.spec).toThrow(/invalid_workflow: refund, at steps.1 of its spec: It refers to the step "later"/);
    const triggered = workflow("w", { triggers: [{ type: "cron" }] }).step("a", sleep("1s"));
    expect(() => triggered.spec).toThrow(/invalid_workflow: w, at triggers.0 of its spec: /);
    expect(() => workflow("")).toThrow(because(": a workflow needs an id"));
    expect(() => workflow("w", { inputs: z.string() })).toThrow(because("w: inputs must describe a map"));
  });
});

describe("a reference that is used as a value", () => {
  const refusal = (detail: string) => expect.objectContaining({ code: "workflow_reference_used", detail });

  type Anything = { [key: string]: Anything } & ((...given: unknown[]) => Anything) & Iterable<unknown>;
  const uses: readonly (readonly [string, (rows: Anything) => unknown, string])[] = [
    ["called", (rows) => rows.map?.(() => 1), "steps.rows.output.map was called"],
    ["gone through", (rows) => [...rows], "steps.rows.output was gone through"],
    ["compared", (rows) => (rows as unknown as number) > 1, "steps.rows.output was used with an operator"],
    [
      "added to a text",
      (rows) => ["a"].reduce((text, each) => text + each, rows as unknown as string),
      "steps.rows.output was used with an operator",
    ],
    ["copied", (rows) => ({ ...rows }), "steps.rows.output was looked into"],
    ["searched", (rows) => "a" in rows, "steps.rows.output was looked into"],
    ["written as JSON", (rows) => JSON.stringify({ rows }), "steps.rows.output.toJSON was called"],
    [
      "changed",
      (rows) => {
        Object.assign(rows, { a: 1 });
      },
      "steps.rows.output was written to",
    ],
  ];

  it.each(uses)("is refused when it is %s", (_, use, detail) => {
    const build = () =>
      workflow("w")
        .step("rows", () => operation("rows"))
        .step("a", ({ steps }) => {
          use(steps.rows as unknown as Anything);
          return sleep("1s");
        });
    expect(build).toThrow(refusal(detail));
  });

  it("is refused where it means nothing: outside, in a branch, behind its list, as all inputs", () => {
    const kept: unknown[] = [];
    const each = found.step("each", ({ inputs, steps: { find } }) => {
      kept.push(inputs, find.id);
      return foreach(find.lines, (line) =>
        line.step("pack", ({ item }) => {
          kept.push(item);
          return sleep("1s");
        }),
      );
    });
    const [inputs, id, item] = kept as string[];
    expect(() => `${id}`).toThrow(refusal("steps.find.output.id was put into words while no step was described"));
    expect(() => each.step("a", () => askAgent("b", `${item}`))).toThrow(
      refusal("refund/a: vars.item does not exist here, only where it came from"),
    );
    expect(() => each.step("a", () => operation("b", { inputs: inputs as string }))).toThrow(
      refusal("inputs has no value as a whole; use what is in it"),
    );
    const branches = { legal: (branch: Branch) => branch.step("read", () => askAgent("lawyer", `May ${id} go?`)) };
    expect(() => found.step("ask", parallel({ branches }))).toThrow(
      refusal("refund/ask/legal/read: steps.find.output.id does not exist here, only where it came from"),
    );
  });
});

type Branch = { step: (id: "read", step: () => ReturnType<typeof askAgent>) => object };
