import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Json } from "../../contracts/json.ts";
import { runWorkflow } from "../in-memory/run-workflow.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import { stepType } from "../steps/step-type.ts";
import { branch, when } from "./branch.ts";
import { askAgent, operation, run, sleep } from "./call-steps.ts";
import { foreach } from "./foreach.ts";
import { nested } from "./nested.ts";
import { parallel } from "./parallel.ts";
import type { Reference } from "./reference.ts";
import { stepOf } from "./step-of.ts";
import { type Approval, waitForApproval, waitForEvent, waitForRequest } from "./wait-steps.ts";
import { workflow } from "./workflow.ts";

type Line = { readonly sku: string; readonly count: number };
type Order = { readonly id: string; readonly total: number; readonly lines: readonly Line[]; readonly note?: string };

const begun = workflow("refund", { inputs: z.object({ order: z.string(), cents: z.int().default(0) }) });
const found = begun.step("find", ({ inputs }) => operation<Order>("shop/find-order", { order: inputs.order }));

describe("the types of a workflow", () => {
  it("give each step the inputs, and the outputs of the steps before it", () => {
    found
      .step("check", ({ inputs, steps }) => {
        expectTypeOf(inputs.cents).toEqualTypeOf<Reference<number>>();
        expectTypeOf(steps.find.total).toEqualTypeOf<Reference<number>>();
        expectTypeOf(steps.find.note).toEqualTypeOf<Reference<string | null>>();
        expectTypeOf(steps.find.lines[0]).toExtend<Reference<Line | null> | undefined>();
        return run(
          ({ total, label }) => {
            expectTypeOf(total).toEqualTypeOf<number>();
            expectTypeOf(label).toEqualTypeOf<string>();
            return { ok: total > 0, at: new Date(0) };
          },
          { total: steps.find.total, label: `Order ${steps.find.id}` },
        );
      })
      .step("tell", ({ steps }) => {
        expectTypeOf(steps.check.ok).toEqualTypeOf<Reference<boolean>>();
        expectTypeOf(steps.check.at).toEqualTypeOf<Reference<string>>();
        return askAgent("support", `Order ${steps.find.id} is refunded.`);
      })
      .step("count", ({ steps }) => run((reply: string) => reply.length, steps.tell.reply))
      .step("rest", ({ steps }) => {
        expectTypeOf(steps.count.value).toEqualTypeOf<Reference<number>>();
        return sleep("1s");
      });
  });

  it("give a function what its input comes to, and refuse one that needs something else", () => {
    found.step("check", ({ steps }) => {
      const checkNumber = (input: { total: number }) => ({ ok: input.total > 0 });
      // @ts-expect-error an id is text
      run(checkNumber, { total: steps.find.id });
      // @ts-expect-error it would get null
      run(checkNumber);
      // @ts-expect-error it is not there always
      run((note: string) => note, steps.find.note);
      return run(checkNumber, { total: steps.find.total });
    });
  });

  it("refuse a field that there is not, and a step that comes later or never", () => {
    const build = () =>
      found
        .step("check", ({ inputs, steps }) => {
          // @ts-expect-error an order has no such field
          steps.find.totl;
          // @ts-expect-error nor has it what any function has
          steps.find.name;
          // @ts-expect-error a list in a run has no methods here
          steps.find.lines.map;
          // @ts-expect-error the workflow takes in no such thing
          inputs.customer;
          // @ts-expect-error it comes later
          steps.tell;
          return sleep("1s");
        })
        .step("tell", () => sleep("1s"));
    expect(build).toThrow(/invalid_workflow: refund\/check: no step "tell" comes before it/);
  });

  it("refuse a reference where a value is needed", () => {
    const build = () =>
      found.step("check", ({ steps: { find } }) => {
        // @ts-expect-error a condition on a reference is always true
        if (find.total) sleep("1s");
        // @ts-expect-error so is this one
        find.total ? sleep("1s") : sleep("2s");
        // @ts-expect-error it is no boolean
        const isFound: boolean = find.total;
        // @ts-expect-error a comparison never holds
        find.total === 1;
        // @ts-expect-error there is nothing to add to
        return isFound && find.total + 1;
      });
    expect(build).toThrow(/workflow_reference_used: steps.find.output.total was used with an operator/);
  });

  it("refuse two steps with one id", () => {
    // @ts-expect-error There is a step "find" already.
    expect(() => found.step("find", sleep("1s"))).toThrow(/invalid_workflow: .*there is a step "find" already/);
  });

  it("know which options a step can have", () => {
    found.step("tell", ({ steps }) => operation<{ mail: string }>("shop/tell", { id: steps.find.id }), {
      retry: { maxAttempts: 3, backoff: "1s" },
      undo: ({ output, inputs, steps }) => {
        expectTypeOf(output.mail).toEqualTypeOf<Reference<string>>();
        return operation("shop/untell", { mail: output.mail, order: inputs.order, id: steps.find.id });
      },
    });
    // @ts-expect-error a step that sleeps cannot fail
    expect(() => found.step("wait", sleep("1s"), { retry: { maxAttempts: 3 } })).toThrow(/retry means nothing here/);
  });

  it("follow the items of a list", () => {
    found
      .step("each", ({ steps: { find } }) =>
        foreach(find.lines, (each) =>
          each
            .step("pack", ({ item, index }) => {
              expectTypeOf(item).toEqualTypeOf<Reference<Line>>();
              return run(({ sku, at }) => ({ box: `${sku}-${at}` }), { sku: item.sku, at: index, order: find.id });
            })
            .step("send", ({ steps }) => operation<{ sent: boolean }>("shop/send", { box: steps.pack.box })),
        ),
      )
      .step("count", ({ steps: { each } }) =>
        run((iterations) => {
          const [first] = iterations;
          expectTypeOf(first?.last.sent).toEqualTypeOf<boolean | undefined>();
          return iterations.map(({ item, steps }) => `${item.sku}: ${steps.pack.box}`);
        }, each.iterations),
      );
  });

  it("say where a failure is tolerated", () => {
    found.step("each", ({ steps: { find } }) =>
      foreach(
        find.lines,
        (each) =>
          each
            .step("pack", ({ item }) => operation<{ box: string }>("shop/pack", { sku: item.sku }))
            .step("send", ({ steps }) => {
              expectTypeOf(steps.pack.box).toEqualTypeOf<Reference<string | null>>();
              return sleep("1s");
            }),
        { continueOnError: true },
      ),
    );
  });

  it("follow branches, their context and what they come to", () => {
    found
      .step("ask", ({ steps: { find } }) =>
        parallel({
          context: { order: find.id },
          required: ["legal"],
          branches: {
            legal: (branch) => branch.step("read", ({ context }) => askAgent("lawyer", `May ${context.order} go?`)),
            stock: (branch) => branch.step("look", () => operation<{ left: number }>("shop/stock")),
          },
          aggregate: (branch) =>
            branch.step("sum", ({ outputs }) => {
              expectTypeOf(outputs.legal.reply).toEqualTypeOf<Reference<string>>();
              // @ts-expect-error it may have failed
              outputs.stock.left;
              return run((reply) => ({ may: reply === "yes" }), outputs.legal.reply);
            }),
        }),
      )
      .step("end", ({ steps: { ask } }) => {
        expectTypeOf(ask.final.may).toEqualTypeOf<Reference<boolean>>();
        return parallel({ branches: { only: (branch) => branch.step("wait", sleep("1s")) } });
      })
      .step("after", ({ steps: { end } }) => {
        expectTypeOf(end.final).toEqualTypeOf<Reference<null>>();
        return sleep("1s");
      });
  });

  it("follow the cases of a branch", () => {
    found
      .step("choose", ({ steps: { find } }) =>
        branch([
          when({ path: find.total, op: "gt", value: 100 }, (then) =>
            then.step("a", () => operation<{ big: true }>("shop/big")),
          ),
          when({ path: find.note, op: "exists" }, (then) =>
            then.step("b", () => askAgent("support", `See ${find.note}`)),
          ),
        ]),
      )
      .step("end", ({ steps: { choose } }) =>
        run((last) => {
          expectTypeOf(last).toEqualTypeOf<{ readonly big: true } | { readonly reply: string } | null>();
          return last;
        }, choose.last),
      );
  });

  it("know what a branch comes to when no case holds", () => {
    found
      .step("choose", ({ steps: { find } }) =>
        branch(
          [when({ path: find.total, op: "gt", value: 100 }, (then) => then.step("a", operation<{ big: true }>("big")))],
          (otherwise) => otherwise.step("rest", sleep("1s")),
        ),
      )
      .step("end", ({ steps: { choose } }) => {
        expectTypeOf(choose.last).toEqualTypeOf<Reference<{ readonly big: true } | { readonly until: string }>>();
        return sleep("1s");
      });
  });

  it("take inputs by a JSON schema, and start a run with what the schema takes", () => {
    const schema = { type: "object", properties: { name: { type: "string" }, tags: { type: "array" } } };
    const plain = workflow("plain", { inputs: schema as typeof schema & { properties: { name: { type: "string" } } } });
    plain.step("a", ({ inputs }) => {
      expectTypeOf(inputs.name).toEqualTypeOf<Reference<string>>();
      return sleep("1s");
    });
    const inline = workflow("plain", { inputs: { type: "object", properties: { n: { type: "integer" }, more: {} } } });
    inline.step("a", ({ inputs }) => {
      expectTypeOf(inputs.n).toEqualTypeOf<Reference<number>>();
      expectTypeOf(inputs.more).toEqualTypeOf<Reference<Json>>();
      return sleep("1s");
    });
    const start = () => runWorkflow(found, { order: "7" });
    // @ts-expect-error the order is missing
    const startWithout = () => runWorkflow(found, { cents: 5 });
    expect([start, startWithout]).toHaveLength(2);
  });

  it("follow what is waited for", () => {
    found
      .step("paid", ({ steps }) => {
        const payload = z.object({
          cents: z.int(),
          order: z.object({ id: z.string() }),
          at: z.iso.datetime().optional(),
        });
        return waitForEvent("order.paid", { payload, match: { "order.id": steps.find.id } });
      })
      .step("any", () => waitForEvent("order.paid"))
      .step("ok", ({ steps: { paid, any } }) => {
        expectTypeOf(paid.cents).toEqualTypeOf<Reference<number>>();
        expectTypeOf(paid.order.id).toEqualTypeOf<Reference<string>>();
        expectTypeOf(paid.at).toEqualTypeOf<Reference<string | null>>();
        expectTypeOf(any.cents).toEqualTypeOf<Reference<Json | null> | undefined>();
        // @ts-expect-error the payload has no such field
        paid.customer;
        return waitForApproval(`Ship ${paid.order.id}?`);
      })
      .step("where", ({ steps: { ok } }) => {
        expectTypeOf(ok).toEqualTypeOf<Reference<Approval>>();
        expectTypeOf(ok.by).toEqualTypeOf<Reference<string | null>>();
        return waitForRequest("shop/address", { result: { type: "object", properties: { city: { type: "string" } } } });
      })
      .step("name", () => waitForRequest("shop/name", { result: z.string() }))
      .step("end", ({ steps: { where, name } }) => {
        expectTypeOf(where.city).toEqualTypeOf<Reference<string>>();
        expectTypeOf(name.value).toEqualTypeOf<Reference<string>>();
        return sleep("1s");
      });
    // @ts-expect-error a time limit of its own is all that a wait has
    expect(() => found.step("a", waitForEvent("e"), { timeout: "1s" })).toThrow(/timeout means nothing here/);
  });

  it("follow a workflow into another one, from what it takes in to what it comes to", () => {
    const refund = found.step("check", ({ steps }) => run((total) => ({ ok: total > 0 }), steps.find.total));
    workflow("shop", { inputs: z.object({ order: z.string(), cents: z.int(), note: z.string().optional() }) })
      .step("refund", ({ inputs }) => {
        // @ts-expect-error the order is missing
        nested(refund, { cents: inputs.cents });
        // @ts-expect-error an order is text
        nested(refund, { order: inputs.cents });
        // @ts-expect-error it needs an input
        nested(refund);
        // @ts-expect-error it may not be there
        nested(refund, { order: inputs.note });
        nested(refund, { order: `Order ${inputs.order}` });
        return nested(refund, { order: inputs.order, cents: inputs.cents });
      })
      .step("again", ({ inputs }) => nested(refund, { order: inputs.order }, { detached: true }))
      .step("other", ({ inputs }) => nested<{ readonly last: { n: number } }>("other", { any: [inputs.order] }))
      .step("end", ({ steps }) => {
        expectTypeOf(steps.refund.last.ok).toEqualTypeOf<Reference<boolean>>();
        expectTypeOf(steps.refund.steps.find.total).toEqualTypeOf<Reference<number>>();
        expectTypeOf(steps.again.run_id).toEqualTypeOf<Reference<string>>();
        expectTypeOf(steps.other.last.n).toEqualTypeOf<Reference<number>>();
        // @ts-expect-error nothing waits for what it comes to
        steps.again.last;
        return nested(workflow("small").step("a", sleep("1s")));
      });
  });

  it("follow steps of types of the program", () => {
    const input = z.object({
      cents: z.int(),
      currency: z.string().default("EUR"),
      tags: z.array(z.string()).default([]),
    });
    const charge = stepType({
      type: "acme/charge",
      input,
      execute(given, { attempt }) {
        expectTypeOf(given).toEqualTypeOf<{ cents: number; currency: string; tags: string[] }>();
        return { payment: `${given.cents}`, attempt };
      },
    });
    const output = z.object({ at: z.date() });
    const stamp = stepType({ type: "acme/stamp", input: {}, output, execute: () => ({ at: new Date(0) }) });
    found
      .step("pay", ({ steps: { find } }) => {
        // @ts-expect-error the cents are missing
        stepOf(charge, {});
        // @ts-expect-error there have to be some
        stepOf(charge);
        // @ts-expect-error they are a number
        stepOf(charge, { cents: find.id });
        return stepOf(charge, { cents: find.total, tags: ["a", find.id] });
      })
      .step("stamp", () => stepOf(stamp))
      .step("end", ({ steps: { pay, stamp } }) => {
        expectTypeOf(pay.payment).toEqualTypeOf<Reference<string>>();
        expectTypeOf(stamp.at).toEqualTypeOf<Reference<string>>();
        return run(
          {
            run: (cents, { attempt }) => ({ cents, attempt }),
            reconcile({ input, idempotencyKey }) {
              expectTypeOf(input).toEqualTypeOf<number>();
              return idempotencyKey === "" ? { status: "unknown" } : { status: "absent" };
            },
          },
          pay.attempt,
        );
      })
      .step("after", ({ steps: { end } }) => {
        expectTypeOf(end.cents).toEqualTypeOf<Reference<number>>();
        return sleep("1s");
      });
  });

  it("say what a run of a workflow comes to", () => {
    const built = workflow("w").step("a", () => run(() => ({ n: 1 })));
    type Output = { readonly steps: { readonly a: { readonly n: number } }; readonly last: { readonly n: number } };
    expectTypeOf(built).toExtend<BuiltWorkflow<unknown, Output>>();
    expectTypeOf(built.onFailure((failure) => failure.step("b", sleep("1s")))).toExtend<
      BuiltWorkflow<unknown, Output>
    >();
  });
});
