// A shop whose agent refunds once somebody has agreed, and asks a client where it is; a test calls its operations as whom it
// likes.
import type { ApproverRule } from "../src/contracts/trust/approver-rule.ts";
import type { Principal } from "../src/contracts/trust/principal.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import type { HoldfastOptions } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { ADMINISTRATOR, deskWorld } from "./desk-world.ts";

/** Somebody who is signed in; the scope may name a workspace and a ceiling. */
export const person = (user: number, scope: Parameters<typeof principals.userSession>[2] = {}): Principal =>
  principals.userSession(user, "console", scope);

/** Somebody who may do all the same no more than this. */
export const limited = (user: number, ...allowed_capabilities: readonly string[]): Principal =>
  person(user, { capability_ceiling: { user_id: user, allowed_capabilities } });

export const admin = person(ADMINISTRATOR);

/** What the agent is told to call, in one word. */
const wishes = {
  refund: callsTool("shop/refund", { order: 7, card: "4111-secret" }),
  where: callsTool("client/where", { near: 7, card: "4111-secret" }),
};

const model: Model = async (messages) => {
  const { type, content } = messages.at(-1) ?? {};
  return (type === "text" && wishes[String(content) as keyof typeof wishes]) || says("Done.");
};

export async function openShop(options: Partial<HoldfastOptions> & { readonly approvers?: ApproverRule } = {}) {
  const { approvers, ...rest } = options;
  const refunded: unknown[] = [];
  const refund = tool({
    name: "shop/refund",
    description: "Refunds.",
    actionPolicy: "preview",
    sensitive: ["card"],
    ...(approvers && { approvers }),
    execute: ({ order }) => refunded.push(order),
  });
  const where = tool({ name: "client/where", description: "Asks the client.", sensitive: ["card"] });
  const shop = agent({ slug: "shop", model, tools: [refund, where] });
  const { holdfast } = await deskWorld({ agents: [shop, agent({ slug: "books", model })], ...rest });

  /** Calls an operation as somebody. */
  async function call(principal: Principal, name: string, input: object = {}): Promise<Record<string, unknown>> {
    return (await holdfast.abilities.call(name, input, { principal, door: "http" })) as Record<string, unknown>;
  }

  /** Lets somebody talk with the shop, if he does not already. */
  async function letIn({ acting_user_id: user_id, workspace_id }: Principal): Promise<void> {
    const isIn = user_id === 0 || (await holdfast.grants.get("shop", { user_id }, workspace_id)) !== null;
    if (!isIn) await holdfast.grants.grant({ agent: "shop", user_id, role: "operator", workspace_id });
  }

  /** The thread of somebody, and the request that it waits for after one word. */
  async function wish(word: keyof typeof wishes, principal: Principal, more: object = {}) {
    await letIn(principal);
    const thread = await holdfast.threads.open(crypto.randomUUID(), { agent: "shop", principal, ...more });
    const { waiting_for } = await thread.send(word);
    return { thread, request_id: waiting_for?.request_id ?? "" };
  }

  return { holdfast, call, wish, refunded };
}
