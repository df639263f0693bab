// A thread keeps everything that was said to it, also when the program ends. Each write has a key, so you may run this
// as often as you like: what is sent again under the same key is not sent again, and the output stays the same.
import { agent, createHoldfast } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { says, scriptedModel } from "holdfast/testing";

const model = scriptedModel([
  says("Hello Ana."),
  says("You are in Lisbon."),
  (messages) => says(`I know ${messages.length} messages, the first is: ${messages[0]?.content}`),
]);
const open = () => createHoldfast({ backend: sqlite("threads.db"), agents: [agent({ slug: "friend", model })] });

const first = await open();
const thread = await first.threads.open("ana", { agent: "friend" });
const hello = await thread.send("I am Ana.", { key: "1" }); // waits for what the run comes to
console.log(`run ${hello.run} ${hello.status}: ${hello.final_content}`);
const where = await thread.send("Where am I?", { key: "2" });
console.log(`run ${where.run} ${where.status}: ${where.final_content}`);
await first.close();

console.log("-- the runtime was closed and is opened again --");
const second = await open();
const again = await second.threads.open("ana", { agent: "friend" }); // same key, same thread
await again.queueMessage("What do you know?", { key: "3" }); // stored; nobody waits for the answer
await again.wait();
for (const { seq, run, message } of await again.messages()) {
  console.log(`${seq} in run ${run}, ${message.role}: ${message.content}`);
}
await second.close();
