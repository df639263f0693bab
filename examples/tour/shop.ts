// A shop that exists only in this tour: what its tools are called, what they do, and who has a say about refunds.
import type { ActionPolicyProvider, MediationContext, MediationDecision, ToolExecutor } from "holdfast";

export const tools = [
  { name: "shop/order", source: "shop", description: "Looks up an order by its number." },
  { name: "shop/refund", source: "shop", description: "Pays the price of an order back to the customer's card." },
];

/** What the shop really did, so that the tour can show what the tools were given. */
export const refunds: { order: unknown; euros: number; card_token: unknown }[] = [];

/** Runs a tool call. */
export const runTool: ToolExecutor = ({ tool_name, parameters }) => {
  const { number, order, euros, card_token } = parameters;
  if (tool_name === "shop/order") {
    return { number, price_in_euros: 12, status: number === 7 ? "lost in the post" : "delivered" };
  }
  refunds.push({ order, euros: Number(euros), card_token });
  return { refunded: order, euros };
};

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
