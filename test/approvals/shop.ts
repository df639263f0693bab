// The shop of the test: an agent that refunds once somebody has agreed, has a client pay once somebody has agreed, and
// asks a client. Its tools write down what was applied; its model calls what it was asked to call, and nothing else.
import { z } from "zod";
import type { UnknownMap } from "../../src/contracts/json.ts";
import type { ApproverRule } from "../../src/contracts/trust/approver-rule.ts";
import type { TrustOptions } from "../../src/holdfast.ts";
import type { Model } from "../../src/models/model.ts";
import { calls, callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { type Agent, agent } from "../../src/threads/agent.ts";
import { tool } from "../../src/threads/tool.ts";

export type ToolName = "shop/refund" | "client/pay" | "client/ask";

/** A call that somebody wants the model to make. Its order number is its own. */
export type Wish = {
  readonly order: number;
  readonly thread: number;
  readonly tool: ToolName;
  readonly parameters: { readonly order: number; readonly cents?: number; readonly card?: string };
};

/** What a tool has done, told by the tool itself. */
export type Applied = { readonly key: string; readonly threadId: string; readonly input: UnknownMap };

/** Whom the threads act for, and where: the first two are one scope, the third is another. */
export const threads = [
  { key: "one", user: 7, site: "1" },
  { key: "two", user: 7, site: "1" },
  { key: "three", user: 8, site: "2" },
] as const;

/** The rules about who may decide, one at a time: a deployment goes from one to another. */
export const rules: readonly (ApproverRule | undefined)[] = [
  { users: [12] },
  { users: [13, 7], other_than_requester: true },
  { capability: "approve_refunds", other_than_requester: true },
  undefined,
];

/** Who refunds as themselves may: whoever approves may not, so a call that ran as them would fail. */
const holding = new Set(["7 refund", "8 refund", "12 approve_refunds", "8 approve_refunds"]);

export const trust: TrustOptions = { holdsCapability: (user, capability) => holding.has(`${user} ${capability}`) };

export const MOST_CENTS = 100_000;
const APPROVAL_WAIT_MS = 3_600_000;
const CLIENT_WAIT_MS = 600_000;

const wanting = "Please: ";

/** What a user says to have the model make these calls. */
export function wordsFor(wishes: readonly Wish[]): string {
  return wanting + wishes.map(({ order }) => order).join();
}

export function createShop() {
  const wishes = new Map<number, Wish>();
  const applied: Applied[] = [];

  /** Calls what users have asked for since it last spoke. */
  const model: Model = async (messages) => {
    const from = messages.findLastIndex(({ type, role }) => type !== "text" || role === "assistant") + 1;
    const orders = messages
      .slice(from)
      .map(({ content }) => String(content))
      .filter((content) => content.startsWith(wanting))
      .flatMap((content) => content.slice(wanting.length).split(","));
    const wished = orders.flatMap((order) => wishes.get(Number(order)) ?? []);
    return calls(says("Well."), ...wished.map((wish) => callsTool(wish.tool, wish.parameters)));
  };

  function agentUnder(rule: number): Agent {
    const approvers = rules[rule];
    const payment = z.object({ order: z.int(), cents: z.int().max(MOST_CENTS), card: z.string() });
    const refund = tool({
      name: "shop/refund",
      description: "Refunds.",
      inputSchema: payment.extend({ actor: z.int().optional() }),
      // Whom the call acts for comes from the run, whatever the model says.
      parameterBindings: { actor: { source: "context", path: "principal.acting_user_id", authoritative: true } },
      requiredCapability: "refund",
      sensitive: ["card"],
      actionPolicy: "preview",
      timeoutMs: 1_000,
      ...(approvers && { approvers }),
      execute: (input, { idempotencyKey: key, threadId }) => {
        applied.push({ key, threadId, input });
        return { refunded: input.cents };
      },
      reconcile: ({ idempotencyKey }) => {
        const done = applied.find(({ key }) => key === idempotencyKey);
        return done ? { status: "done", result: { refunded: done.input.cents } } : { status: "absent" };
      },
    });
    const pay = tool({
      name: "client/pay",
      description: "Has the client pay.",
      inputSchema: payment,
      sensitive: ["card"],
      actionPolicy: "preview",
    });
    const ask = tool({
      name: "client/ask",
      description: "Asks the client.",
      outputSchema: z.object({ choice: z.string() }),
      waitMs: CLIENT_WAIT_MS,
    });
    return agent({
      ...{ slug: "shop", model, tools: [refund, pay, ask], approvalWaitMs: APPROVAL_WAIT_MS },
      ...(approvers && { approvers }),
    });
  }

  return { wishes, applied, agentUnder };
}

export type Shop = ReturnType<typeof createShop>;
