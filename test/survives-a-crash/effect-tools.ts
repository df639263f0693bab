// Tools with an effect on the world outside, one for each way in which a tool can answer for itself after a crash.
import { z } from "zod";
import type { World } from "../../src/testing/scenario.ts";
import { type Tool, type ToolContext, tool } from "../../src/threads/tool.ts";

/** `plain`: nobody can tell what a call did that was cut off. */
export type ToolKind = "plain" | "idempotent" | "reconciled";

export const toolKinds: Readonly<Record<string, ToolKind>> = {
  "shop/charge": "plain",
  "shop/linger": "plain",
  "shop/plan": "plain",
  "shop/ship": "idempotent",
  "shop/refund": "reconciled",
};

/** Soon over, so that a call which never arrived counts as absent soon. */
const TIMEOUT_MS = 1_000;

const inputSchema = z.object({ order: z.string() });
type Order = z.infer<typeof inputSchema>;

/** Does it outside, and passes the most dangerous place of all: it is done, and nobody knows yet. */
export async function act({ ledger, reached }: World, what: string, context: ToolContext): Promise<{ done: string }> {
  const { idempotencyKey, threadId, toolName } = context;
  await ledger.record({ key: idempotencyKey, name: what, thread: threadId });
  await reached(`inside ${toolName}`);
  return { done: what };
}

export function charge(world: World, options: { readonly actionPolicy?: "preview" } = {}): Tool {
  return tool({
    name: "shop/charge",
    description: "Charges for an order.",
    inputSchema,
    ...options,
    timeoutMs: TIMEOUT_MS,
    execute: ({ order }: Order, context) => act(world, `charge ${order}`, context),
  });
}

export function ship(world: World): Tool {
  return tool({
    name: "shop/ship",
    description: "Ships an order.",
    inputSchema,
    timeoutMs: TIMEOUT_MS,
    idempotent: true,
    execute: ({ order }: Order, context) => act(world, `ship ${order}`, context),
  });
}

export function refund(world: World, options: { readonly actionPolicy?: "preview" } = {}): Tool {
  return tool({
    name: "shop/refund",
    description: "Refunds an order.",
    inputSchema,
    ...options,
    timeoutMs: TIMEOUT_MS,
    execute: ({ order }: Order, context) => act(world, `refund ${order}`, context),
    async reconcile({ idempotencyKey, input: { order } }) {
      const count = await world.ledger.count(idempotencyKey);
      return count > 0 ? { status: "done", result: { done: `refund ${order}` } } : { status: "absent" };
    },
  });
}
