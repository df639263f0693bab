// What the command line runs in a folder without a project of its own: the desk of a small shop, a workflow that refunds, and a
// gateway with an agent that reads pages. The shop's books are a file, so that whoever kills the process can see that nothing is paid twice.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Project } from "../../holdfast.ts";
import { agent, askAgent, operation, tool, workflow } from "../../index.ts";

type Order = { readonly item: string; readonly cents: number; readonly status: string };

const orders: Readonly<Record<string, Order>> = {
  "7": { item: "a teapot", cents: 1_200, status: "lost in the post" },
  "8": { item: "six cups", cents: 6_000, status: "delivered on Monday" },
  "9": { item: "a tray", cents: 2_550, status: "on its way" },
};

/** For whoever watches it. */
export const tourFile = fileURLToPath(import.meta.url);

/** The same place above the sources and above what they are built to. */
const gatewayFile = fileURLToPath(new URL("../../../examples/gateway-critique/gateway.yaml", import.meta.url));

/** `data`: the folder in which the shop keeps its books, and agent runs their files. */
export function tourProject(data: string): Project {
  const books = join(data, "refunds.txt");
  const written = () => readFileSync(books, { encoding: "utf8", flag: "a+" });

  const order = tool({
    name: "shop/order",
    description: "Looks up an order by its number.",
    inputSchema: z.object({ number: z.string() }),
    idempotent: true,
    execute: ({ number }) => orders[number] ?? { error: `There is no order ${number}; there are 7, 8 and 9.` },
  });

  const refund = tool({
    name: "shop/refund",
    description: "Refunds an order.",
    inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
    actionPolicy: "preview",
    execute(input, { idempotencyKey }) {
      mkdirSync(data, { recursive: true, mode: 0o700 });
      appendFileSync(books, `${input.order} ${input.cents} ${idempotencyKey}\n`);
      return { order: input.order, refunded_cents: input.cents };
    },
    // Asked when a crash came while it was at work: did it happen?
    reconcile: ({ idempotencyKey, input }) =>
      written().includes(idempotencyKey)
        ? { status: "done", result: { order: input.order, refunded_cents: input.cents } }
        : { status: "absent" },
  });

  const address = tool({
    name: "client/address",
    description: "Asks the customer for the address to deliver to.",
    inputSchema: z.object({ order: z.string() }),
  });

  const refunding = workflow("refund", { inputs: z.object({ order: z.string() }) })
    .step("order", ({ inputs }) => operation<Order>("shop/order", { number: inputs.order }))
    .step("ask", ({ inputs }) => askAgent("support", `Where is order ${inputs.order}?`))
    // A person has to agree, as with every other way to this tool.
    .step("refund", ({ inputs, steps }) => operation("shop/refund", { order: inputs.order, cents: steps.order.cents }));

  return {
    tools: [order, refund],
    workflows: [refunding],
    agents: [
      agent({
        slug: "support",
        description: "Looks up orders and refunds them, once somebody agrees.",
        instructions: "You help the customers of a small shop. Be brief.",
        tools: [order, refund, address],
      }),
    ],
    gateway: { config: gatewayFile, workspaceRoot: resolve(data, "workspaces") },
  };
}
