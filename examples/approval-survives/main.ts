// A thread waits for a person, and nothing that happens to the process changes that. In any folder:
//   node <here>/main.ts            asks for a refund and waits; kill it whenever you like, with kill -9 too
//   node <here>/main.ts approve    (or reject) decides, and says how the run ended
// DATABASE_URL and HOLDFAST_SECRET_KEY (openssl rand -hex 32) put the thread into a PostgreSQL instead of a file.
import { appendFileSync, readFileSync } from "node:fs";
import { agent, createHoldfast, tool } from "holdfast";
import { postgres } from "holdfast/postgres";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";
import { z } from "zod";

// The shop keeps its books in a file: a line for each refund, with the key under which it was made.
const shop = {
  refund: (order: string, cents: number, key: string) => appendFileSync("refunds.txt", `${order} ${cents} ${key}\n`),
  knows: (key: string) => readFileSync("refunds.txt", { encoding: "utf8", flag: "a+" }).includes(key),
};

const refund = tool({
  name: "shop/refund",
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
  actionPolicy: "preview", // a person decides
  execute({ order, cents }, { idempotencyKey }) {
    shop.refund(order, cents, idempotencyKey);
    return { refunded: cents };
  },
  // Asked when a crash came while the tool was at work: did it happen?
  reconcile: ({ idempotencyKey, input }) =>
    shop.knows(idempotencyKey) ? { status: "done", result: { refunded: input.cents } } : { status: "absent" },
});

const model = scriptedModel([
  callsTool("shop/refund", { order: "7", cents: 1200 }),
  (messages) => says(messages.at(-1)?.payload.success ? "You have your 12 euros back." : "I cannot refund that."),
]);
const support = agent({ slug: "support", instructions: "You help customers.", model, tools: [refund] });

const backend = process.env.DATABASE_URL ? postgres(process.env.DATABASE_URL) : sqlite("approval-survives.db");
const holdfast = await createHoldfast({ backend, agents: [support] });
const thread = await holdfast.threads.open("customer-42", { agent: "support" }); // same key, same thread

const word = process.argv[2];
if (word === undefined) {
  const asked = await thread.send("Please refund order 7, 12 euros.", { key: "mail-981" }); // same key, sent once
  if (asked.waiting_for) {
    const { shown } = await holdfast.requests.get(asked.waiting_for.request_id);
    console.log(`${asked.status}: ${shown.summary}`);
    console.log("Kill me whenever you like, then run me again with approve or reject.");
    await new Promise(() => {}); // nothing is left to do here: the thread waits in the database
  }
  console.log(`${asked.status}: ${asked.final_content}`);
} else {
  const decision = word === "approve" ? "accepted" : "rejected";
  for (const { id } of await holdfast.requests.list({ thread: thread.id, status: "pending" })) {
    await holdfast.requests.submit(id, { decision });
  }
  const ended = await thread.wait();
  console.log(ended ? `${ended.status}: ${ended.final_content}` : "Nobody has asked for anything yet.");
}
await holdfast.close();
