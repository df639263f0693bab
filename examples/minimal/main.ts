import { agent, createHoldfast, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { z } from "zod";

const refund = tool({
  name: "shop/refund",
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
  actionPolicy: "preview", // a person decides
  execute: ({ order, cents }) => `${cents / 100} euros for order ${order}`,
});
const support = agent({ slug: "support", instructions: "You help customers.", tools: [refund] });

const holdfast = await createHoldfast({ backend: sqlite("holdfast.db"), agents: [support] });
const thread = await holdfast.threads.open("customer-42", { agent: "support" }); // same key, same thread
const asked = await thread.send("Please refund order 7, 12 euros.", { key: "mail-981" });
console.log(asked.status);

// The process may die here. Tomorrow, in another process, somebody decides:
for (const { id, shown } of await holdfast.requests.list({ status: "pending" })) {
  console.log(shown.summary);
  await holdfast.requests.submit(id, { decision: "accepted" });
}
const outcome = await thread.wait();
console.log(`${outcome?.status}: ${outcome?.final_content}`);
await holdfast.close();
