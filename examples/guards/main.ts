// A model that repeats itself: it is told that the call keeps failing, and then the run stops.
import { runConversation } from "holdfast";
import { callsTool, scriptedModel } from "holdfast/testing";

const again = callsTool("shop/order", { number: "seven" });

const result = await runConversation(
  [{ role: "user", content: "Where is my order?" }],
  scriptedModel(Array(9).fill(again)),
  {
    maxTurns: 9,
    budgets: [{ name: "tool_calls_shop/order", ceiling: 5 }],
    identicalFailureTracker: { threshold: 2 },
    spinDetector: { threshold: 3 },
    toolDeclarations: [{ name: "shop/order", source: "shop", description: "Looks up an order." }],
    toolExecutor: () => ({ success: false, error: "The number is not a number.", error_type: "bad_number" }),
  },
);

for (const { role, content, payload } of result.messages) console.log(`${role}: ${content || payload.tool_name}`);
console.log(`status: ${result.status}, calls: ${result.tool_execution_results.length}`);
