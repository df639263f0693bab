import { runConversation } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const lookUp = { name: "shop/order", source: "shop", description: "Looks up an order by its number." };
const model = scriptedModel([callsTool("shop/order", { number: 7 }), says("Order 7 was sent on Monday.")]);

const result = await runConversation([{ role: "user", content: "Where is my order 7?" }], model, {
  maxTurns: 3,
  toolDeclarations: [lookUp],
  toolExecutor: ({ parameters }) => ({ order: parameters.number, sent: "Monday" }),
});

for (const { role, content, payload } of result.messages) console.log(`${role}: ${content || payload.tool_name}`);
console.log(`The run ${result.run_outcome.status} after ${result.turn_count} turns.`);
