// Following a thread: text that is being said now comes in pieces; what is committed has an id to come back with.
import { agent, createHoldfast, type Model, type StreamEvent } from "holdfast";
import { sqlite } from "holdfast/sqlite";

// Any function can be a model. This one is in the middle of its answer when its reader hangs up.
const hungUp = Promise.withResolvers<void>();
const model: Model = async (_messages, _context, { onDelta }) => {
  onDelta?.({ type: "text", text: "Your order " });
  await hungUp.promise;
  onDelta?.({ type: "text", text: "left on Monday." });
  return { content: "Your order left on Monday.", tool_calls: [] };
};
const support = agent({ slug: "support", model });

const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [support] });
const thread = await holdfast.threads.open("customer-42", { agent: "support" });
await thread.queueMessage("Where is my order?"); // stored; nobody waits for the answer

let last = "";
for await (const event of thread.stream()) {
  console.log(inWords(event));
  if (event.type === "text.delta") break;
  if ("id" in event) last = event.id;
}
hungUp.resolve();
console.log(`The reader hangs up; it has seen everything up to ${last}. The thread goes on.`);
await thread.wait();

for await (const event of thread.stream({ after: last, untilRest: true })) {
  if ("id" in event) console.log(inWords(event));
}
await holdfast.close();

function inWords(event: StreamEvent): string {
  if (event.type === "text.delta") return `     ${event.type} at ${event.offset}: ${event.text}`;
  if (event.type === "message.added") return `${event.id}  ${event.type}: ${event.message.content}`;
  return "id" in event ? `${event.id}  ${event.type}` : event.type;
}
