// Following a run: what is being said comes in pieces, what is committed has an id, and both are places to come back to.
import { agent, createHoldfast, type Model, type StreamEvent, type StreamOptions } from "holdfast";
import { sqlite } from "holdfast/sqlite";

// Any function can be a model. This one is in the middle of its answer when its reader hangs up.
const hungUp = Promise.withResolvers<void>();
const isBack = Promise.withResolvers<void>();
const model: Model = async (_messages, _context, { onDelta }) => {
  onDelta?.({ type: "reasoning", text: "They mean order 7." });
  onDelta?.({ type: "text", text: "Your order " });
  await hungUp.promise;
  onDelta?.({ type: "text", text: "left on Monday." });
  await isBack.promise;
  return { content: "Your order left on Monday.", tool_calls: [] };
};
const support = agent({ slug: "support", model });

const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [support] });
const thread = await holdfast.threads.open("customer-42", { agent: "support" });

const sent = thread.send("Where is my order?");
let place: Pick<StreamOptions, "after" | "live"> = {};
for await (const event of sent.stream()) {
  console.log(inWords(event));
  place = placeAfter(event);
  if (event.type === "text.delta") break;
}
hungUp.resolve();
console.log("The reader hangs up. The thread goes on.");

for await (const event of thread.stream({ ...place, untilRest: true })) {
  console.log(inWords(event));
  if (event.type === "text.delta") isBack.resolve();
}
const outcome = await sent;
console.log(`What the send came to: ${outcome.status}`);
await holdfast.close();

/** Where to come back to: the last id, and how much was said since. */
function placeAfter(event: StreamEvent): typeof place {
  if ("id" in event) return { ...place, after: event.id };
  // Nobody comes back to a thread that is over for good.
  if (!("step" in event)) return place;
  const { step, attempt } = event;
  const offset = event.type === "step.restarted" ? 0 : event.offset + event.text.length;
  return { ...place, live: { step, attempt, offset } };
}

function inWords(event: StreamEvent): string {
  if ("offset" in event) return `     ${event.type} at ${event.offset}: ${event.text}`;
  if (event.type === "message.added") return `${event.id}  ${event.type}: ${event.message.content}`;
  return "id" in event ? `${event.id}  ${event.type}` : event.type;
}
