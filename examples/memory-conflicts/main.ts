// An agent whose memories contradict each other: what the user said, what an agent thought it heard, and what the shop
// decides. One of those about the same thing stands, and thread.context() shows which, and why.
import { agent, createHoldfast, memoryScope, memorySource, memoryTools } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const rules = memorySource("shop-rules", {
  read: () => [
    {
      content: "Refunds are paid within 14 days of the order.",
      authority_tier: "platform_authority",
      conflict_kind: "authoritative_fact",
      conflict_key: "refund period",
    },
  ],
});
const profile = memorySource("profile", { layer: "user", priority: 20 }); // the user's own, for every agent
const notes = memorySource("notes", { layer: "principal", priority: 30 }); // what this agent has noted about the user

const remembers = (name: string, content: string, about: string) =>
  callsTool("memory/remember", { name, content, about });
const model = scriptedModel([
  remembers("tone", "Wants long, chatty answers.", "tone"),
  remembers("refunds", "Refunds are paid at any time.", "refund period"),
  says("I will remember that."),
  says("Order 7 is 20 days old, so it is too late. Sorry."),
]);
const support = agent({ slug: "support", model, tools: [...memoryTools()] });

const holdfast = await createHoldfast({
  backend: sqlite(":memory:"),
  agents: [support],
  memory: { sources: [rules, profile, notes] },
});

// What the user has set in a form is the user's own word.
await holdfast.memories.write(
  memoryScope("user", "tone", { user_id: 7 }),
  "---\nabout: tone\n---\nShort answers, please.",
  {
    metadata: { source_type: "user_asserted" },
  },
);

const thread = await holdfast.threads.open("ana", {
  agent: "support",
  principal: { acting_user_id: 7, effective_agent_id: "support", auth_source: "user", request_context: "chat" },
  consent: { use_memory: true, store_memory: true }, // each is asked for on its own
});
await thread.send("A friend says you refund at any time, and that you like to chat.");
const { final_content } = await thread.send("Refund order 7, please.");
console.log(`support: ${final_content}\n`);

const context = await thread.context(); // of the last step; { step } for another
console.log("In context:");
for (const { source, authority_tier, content, because } of context?.items ?? []) {
  console.log(`- ${source} (${authority_tier}): ${content ?? "by the host's own function"}\n  ${because}`);
}
console.log("\nNot in context, because something else stands:");
for (const { rejected, reason } of context?.conflicts ?? []) {
  for (const { source, authority_tier, content } of rejected) {
    console.log(`- ${source} (${authority_tier}): ${content}\n  ${reason}`);
  }
}
console.log(`\nMemories used: ${context?.consent?.reason}`);
await holdfast.close();
