// A workflow in plain TypeScript: what a step returns flows, typed, into the steps behind it, and what comes of it is a spec.
import { foreach, operation, run, runWorkflow, workflow } from "holdfast";
import { z } from "zod";

type Order = { id: string; lines: { sku: string; cents: number }[] };

const refund = workflow("refund", { inputs: z.object({ order: z.string() }) })
  .step("find", ({ inputs }) => operation<Order>("shop/find-order", { order: inputs.order }))
  .step("each", ({ steps: { find } }) =>
    foreach(find.lines, (line) =>
      line.step("take_back", ({ item }) => run(({ sku, cents }) => ({ sku, cents }), item), {
        retry: { maxAttempts: 3, backoff: "1s" },
        undo: ({ output }) => operation("shop/send-again", { sku: output.sku }),
      }),
    ),
  )
  .step("sum", ({ steps }) => run((all) => all.reduce((sum, { last }) => sum + last.cents, 0), steps.each.iterations))
  .step("tell", ({ steps: { find, sum } }) => operation("shop/tell", { text: `${find.id}: ${sum.value} cents back.` }));

const order: Order = { id: "Order 7", lines: [1_200, 350].map((cents, index) => ({ sku: `cup-${index}`, cents })) };
const shop: Record<string, (input: object) => unknown> = {
  "shop/find-order": () => order,
  "shop/tell": (input) => ({ told: input }),
};

const { status, output } = await runWorkflow(refund, { order: "7" }, {}, { operations: operationsOf(shop) });
console.log(status, JSON.stringify(output, ["last", "told", "text"]));
for (const step of Object.values(refund.spec.steps ?? [])) console.log(JSON.stringify(step));

function operationsOf(functions: typeof shop) {
  return {
    has: (name: string) => Object.hasOwn(functions, name),
    call: (name: string, input: unknown) => functions[name]?.(input as object),
  };
}
