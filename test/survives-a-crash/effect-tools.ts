// Tools with an effect on the world outside, one for each way in which a tool can answer for itself after a crash.
import { z } from "zod";
import type { World } from "../../src/testing/scenario.ts";
import { type Tool, type ToolContext, tool } from "../../src/threads/tool.ts";
import { LEASE_MS } from "./database.ts";

/** `plain`: nobody can tell what a call did that was cut off. */
export type ToolKind = "plain" | "idempotent" | "reconciled";

export const toolKinds: Readonly<Record<string, ToolKind>> = {
  "shop/charge": "plain",
  "shop/linger": "plain",
  "shop/plan": "plain",
  "shop/ship": "idempotent",
  "shop/refund": "reconciled",
};

/** What tools may be told besides: whether this process may be taken away in the middle of a call. */
type MortalWorld = World & { readonly isMortal?: boolean };

/**
 * A call that never arrived counts as absent when this is over: no sooner than another worker can take the thread, so that
 * nobody waits for it. A process that lives takes as long as it needs, however slow the machine is.
 */
const MORTAL_TIMEOUT_MS = LEASE_MS;

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
    execute: ({ order }: Order, context) => act(world, `charge ${order}`, context),
  });
}

export function ship(world: World): Tool {
  return tool({
    name: "shop/ship",
    description: "Ships an order.",
    inputSchema,
    idempotent: true,
    execute: ({ order }: Order, context) => act(world, `ship ${order}`, context),
  });
}

export function refund(world: MortalWorld, options: { readonly actionPolicy?: "preview" } = {}): Tool {
  return tool({
    name: "shop/refund",
    description: "Refunds an order.",
    inputSchema,
    ...options,
    ...(world.isMortal && { timeoutMs: MORTAL_TIMEOUT_MS }),
    execute: ({ order }: Order, context) => act(world, `refund ${order}`, context),
    async reconcile({ idempotencyKey, input: { order } }) {
      const count = await world.ledger.count(idempotencyKey);
      return count > 0 ? { status: "done", result: { done: `refund ${order}` } } : { status: "absent" };
    },
  });
}
