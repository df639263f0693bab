// A shop that exists only in this tour: what its tools are called, what they do, and who has a say about refunds.
import {
  type ActionPolicyProvider,
  type JsonMap,
  type MediationContext,
  type MediationDecision,
  type Message,
  message,
  type PendingActionStore,
} from "holdfast";

export const tools = [
  { name: "shop/order", source: "shop", description: "Looks up an order by its number." },
  { name: "shop/refund", source: "shop", description: "Pays the price of an order back to the customer's card." },
];

/** What the shop really did, so that the tour can show what the tools were given. */
export const refunds: { order: unknown; euros: number; card_token: unknown }[] = [];

type Call = { readonly tool_name: string; readonly parameters: JsonMap };

/** Runs a tool call. */
export function runTool({ tool_name, parameters }: Call): JsonMap {
  const { number, order, euros, card_token } = parameters;
  if (tool_name === "shop/order") {
    return { number: number ?? null, price_in_euros: 12, status: number === 7 ? "lost in the post" : "delivered" };
  }
  refunds.push({ order, euros: Number(euros), card_token });
  return { refunded: order ?? null, euros: euros ?? null };
}

/** A person accepts the one action that waits; the shop does what was agreed to and returns the message for the chat. */
export async function applyApproved(store: PendingActionStore, resolver: string): Promise<Message> {
  const [action] = await store.list({ status: "pending" });
  if (!action) throw new Error("Nothing waits for approval.");
  const { tool_call_id, ...call } = action.apply_input as Call & { readonly tool_call_id: string };
  const result = runTool(call);
  await store.recordResolution(action.action_id, { decision: "accepted", resolver, result });
  return message.toolResult({
    content: JSON.stringify(result),
    tool_name: call.tool_name,
    payload: { success: true, result },
    metadata: { tool_call_id },
  });
}

/** Who may refund how much: above 20 euros a person has to see it first. */
export const refundPolicy: ActionPolicyProvider = ({ tool_name, parameters }) => {
  const { euros } = parameters as { euros?: number };
  return tool_name === "shop/refund" && Number(euros) > 20 ? "preview" : null;
};

/** The house rule, asked before every call: nobody refunds more than 100 euros here. */
export function houseRule({ tool_name, parameters }: MediationContext): MediationDecision {
  if (tool_name !== "shop/refund" || Number(parameters.euros) <= 100) return { action: "proceed" };
  return { action: "reject", error: "Refunds above 100 euros are made at the counter." };
}
