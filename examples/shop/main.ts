// An agent whose tool moves money, and a person who decides whether it may. No model is named here, so the environment
// chooses: offline it is the demo model. The same file runs on a real one, with its package and its key:
//   npm install @ai-sdk/openai && HOLDFAST_MODEL=openai/gpt-5 OPENAI_API_KEY=… node <here>/main.ts
// OPENAI_BASE_URL (with npm install @ai-sdk/openai-compatible) is for any server that speaks OpenAI's protocol.
import { agent, createHoldfast, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { z } from "zod";
import { shop } from "./shop.ts";

const refund = tool({
  name: "shop/refund",
  description: "Refund an order.",
  inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
  actionPolicy: "preview", // a person decides
  execute: ({ order, cents }, { idempotencyKey }) => shop.refund(order, cents, { idempotencyKey }),
  reconcile: ({ idempotencyKey }) => shop.findRefund(idempotencyKey), // asked when a crash came in between
});

const support = agent({ slug: "support", instructions: "You help customers.", tools: [refund] });

const holdfast = await createHoldfast({ backend: sqlite("./holdfast.db"), agents: [support] });
const thread = await holdfast.threads.open("customer-42", { agent: "support" }); // same key, same thread
const outcome = await thread.send("Please refund order 7, 12 euros.", { key: "mail-981" }); // same key, sent once
console.log(`Status: ${outcome.status}`);
// Kill the process now, answer tomorrow, from anywhere: the thread waits in the database.

for (const { id, shown } of await holdfast.requests.list({ thread: thread.id, status: "pending" })) {
  console.log(`To decide: ${shown.summary}`);
  await holdfast.requests.submit(id, { decision: "accepted" });
}

const ended = await thread.wait();
console.log(`Status: ${ended?.status}`);
console.log(`Answer: ${ended?.final_content}`);
for (const { order, cents } of shop.ledger()) console.log(`Refunded: ${cents} cents of order ${order}`);
await holdfast.close();
